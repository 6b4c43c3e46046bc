package inside

import (
	"encoding/binary"
	"errors"
)

// Kind is the kind of a status message.
type Kind uint32

// Kinds of status messages.
const (
	KindHello  Kind = 1 // the init is ready and waits for ControlGo
	KindFailed Kind = 2 // a step failed; of Command: an Exited follows
	KindExited Kind = 3 // the command ended
	KindPTY    Kind = 4 // carries a descriptor (SendFD)
)

// msgNoSignal is MSG_NOSIGNAL: a launcher that is gone is noticed on the control descriptor, not by SIGPIPE.
const msgNoSignal = 0x4000

const (
	messageVersion = 1
	messageSize    = 16
	rusageSize     = 144
	exitedSize     = messageSize + rusageSize

	// MaxMessage is the size of the buffer that a reader needs.
	MaxMessage = exitedSize
)

// Message is one packet from stage, init or child to the launcher. SECURITY: its sender is always code of ours, as the
// descriptor is closed by the execve of the command; the decoder checks all the same.
//
// On the wire four u32: kind and three values (Hello: version, 0, 0; Failed: program, step, errno; Exited: wait status, 0, 0;
// PTY: 0, 0, 0); behind Exited the kernel's struct rusage of 144 bytes.
type Message struct {
	Kind    Kind
	Program Program          // Failed
	Step    uint32           // Failed: for Image.Describe
	Errno   uint32           // Failed
	Status  uint32           // Exited: as wait4 gave it
	Rusage  [rusageSize]byte // Exited: struct rusage of the command, see Usage
}

// Encode returns the packet.
func (m Message) Encode() []byte {
	size := messageSize
	if m.Kind == KindExited {
		size = exitedSize
	}
	p := make([]byte, size)
	le := binary.LittleEndian
	le.PutUint32(p, uint32(m.Kind))
	switch m.Kind {
	case KindHello:
		le.PutUint32(p[4:], messageVersion)
	case KindFailed:
		le.PutUint32(p[4:], uint32(m.Program))
		le.PutUint32(p[8:], m.Step)
		le.PutUint32(p[12:], m.Errno)
	case KindExited:
		le.PutUint32(p[4:], m.Status)
		copy(p[messageSize:], m.Rusage[:])
	}
	return p
}

var errMessage = errors.New("inside: malformed status message")

// Decode reads one packet. It accepts exactly what Encode makes.
func Decode(p []byte) (Message, error) {
	if len(p) < messageSize {
		return Message{}, errMessage
	}
	le := binary.LittleEndian
	a, b, c := le.Uint32(p[4:]), le.Uint32(p[8:]), le.Uint32(p[12:])
	m := Message{Kind: Kind(le.Uint32(p))}
	want, ok := messageSize, false
	switch m.Kind {
	case KindHello:
		ok = a == messageVersion && b == 0 && c == 0
	case KindFailed:
		ok = a < uint32(programCount) && c > 0 && c <= 4095
		m.Program, m.Step, m.Errno = Program(a), b, c
	case KindExited:
		want, ok = exitedSize, b == 0 && c == 0
		m.Status = a
	case KindPTY:
		ok = a == 0 && b == 0 && c == 0
	}
	if !ok || len(p) != want {
		return Message{}, errMessage
	}
	copy(m.Rusage[:], p[messageSize:])
	return m, nil
}

// Usage is what the launcher reports of an Exited message.
type Usage struct {
	UserMicros, SystemMicros int64
	MaxRSSKiB                int64
}

// Usage reads struct rusage (getrusage(2)) of a 64-bit Linux: two timevals, then ru_maxrss.
func (m *Message) Usage() Usage {
	word := func(i int) int64 { return int64(getU64(m.Rusage[8*i:])) }
	return Usage{
		UserMicros:   word(0)*1e6 + word(1),
		SystemMicros: word(2)*1e6 + word(3),
		MaxRSSKiB:    word(4),
	}
}
