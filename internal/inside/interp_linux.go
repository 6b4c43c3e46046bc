package inside

import (
	"encoding/binary"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// memory is a private, relocated copy of a blob, the working memory of its programs.
type memory struct {
	p          []byte // not Go's memory, so it does not move and the collector does not look into it
	base       uintptr
	allThreads bool // this process goes on after the program, so AllThreads matters
}

// mapBlob maps the blob that is open as fd.
func mapBlob(fd int) (*memory, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, err
	}
	if st.Size < offCode || st.Size > maxBlobSize {
		return nil, unix.ENOEXEC
	}
	p, err := unix.Mmap(fd, 0, int(st.Size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	if checkBlob(p) != nil {
		unix.Munmap(p)
		return nil, unix.ENOEXEC
	}
	m := &memory{p: p, base: uintptr(unsafe.Pointer(unsafe.SliceData(p)))}
	m.relocate(uint64(m.base))
	return m, nil
}

// relocate adds delta to every pointer in the data.
func (m *memory) relocate(delta uint64) {
	at, count := getU64(m.p[offReloc:]), getU64(m.p[offReloc+8:])
	for i := range count {
		word := m.p[getU64(m.p[at+8*i:]):]
		putU64(word, getU64(word)+delta)
	}
}

// snapshot is the blob as it is now, with slots and buffers, for another process to go on with.
func (m *memory) snapshot() (*os.File, error) {
	m.relocate(-uint64(m.base))
	defer m.relocate(uint64(m.base))
	return blobFile(m.p)
}

func (m *memory) close() { unix.Munmap(m.p) }

// run carries out program p on the calling thread, which must be locked. errno is 0 when it came to its end. It is the
// same machine as interp_amd64.h; TestInterpretersAgree compares them.
func (m *memory) run(p Program) (step uint32, errno unix.Errno) {
	at := getU64(m.p[offPrograms+16*int(p):])
	count := getU64(m.p[offPrograms+16*int(p)+8:])
	le := binary.LittleEndian
	for i := uint64(0); i < count; i++ {
		ins := m.p[at+i*instructionSize:][:instructionSize]
		flags := le.Uint32(ins[4:])
		result, errno := m.execute(le.Uint32(ins), flags, ins)
		skip := uint64(0)
		if errno != 0 {
			if flags&insIgnore == 0 && uint32(errno) != le.Uint32(ins[16:]) {
				return le.Uint32(ins[12:]), errno
			}
			result, skip = ^uintptr(0), uint64(le.Uint32(ins[20:]))
		} else if le.Uint32(ins) == pseudoJump {
			skip = uint64(le.Uint32(ins[20:]))
		}
		if dst := int32(le.Uint32(ins[8:])); dst >= 0 && dst < slotCount {
			putU64(m.p[offSlots+8*dst:], uint64(result))
		}
		i += skip
	}
	return 0, 0
}

func (m *memory) execute(nr, flags uint32, ins []byte) (uintptr, unix.Errno) {
	var a [6]uintptr
	for i := range a {
		v := getU64(ins[32+8*i:])
		switch {
		case flags&(1<<(insSlotShift+i)) != 0:
			v = getU64(m.p[offSlots+8*(v%slotCount):])
		case flags&(1<<i) != 0:
			v += uint64(m.base)
		}
		a[i] = uintptr(v)
	}
	switch nr {
	case pseudoCompare:
		return 0, m.compare(a[0]-m.base, a[1]-m.base, a[2])
	case pseudoStore32:
		binary.LittleEndian.PutUint32(m.p[a[0]-m.base:], uint32(a[1]))
		return 0, 0
	case pseudoJump:
		return 0, 0
	}
	return m.call(uintptr(nr), flags, &a)
}

func (m *memory) compare(a, b, n uintptr) unix.Errno {
	if string(m.p[a:a+n]) != string(m.p[b:b+n]) {
		return errStale
	}
	return 0
}

// call makes a system call. It is repeated after EINTR, which only the runtime's own signals can cause here; close(2) is
// not, as the descriptor is closed all the same.
func (m *memory) call(nr uintptr, flags uint32, a *[6]uintptr) (uintptr, unix.Errno) {
	if m.allThreads && flags&insAllThreads != 0 {
		r, _, errno := syscall.AllThreadsSyscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
		if errno != syscall.ENOTSUP {
			return r, errno
		}
		// With cgo the runtime does not know all threads. The locked one counts most: the child is started from it.
	}
	for {
		r, _, errno := unix.RawSyscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
		if errno != unix.EINTR || nr == unix.SYS_CLOSE {
			return r, errno
		}
	}
}

// errStale (ESTALE) is the result of a comparison that failed: what was looked at outside is no longer what is there.
const errStale = 116
