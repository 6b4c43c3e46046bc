package winacl

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Control bits of a descriptor ([MS-DTYP] 2.4.6).
const (
	DACLPresent   uint16 = 0x4
	SACLPresent   uint16 = 0x10
	AutoInherited uint16 = 0x400
	Protected     uint16 = 0x1000 // nothing is inherited from above
	selfRelative  uint16 = 0x8000
)

// Descriptor is a security descriptor.
type Descriptor struct {
	Owner, Group SID
	Control      uint16
	DACL         *ACL // nil: NULL list
	SACL         *ACL // only labels are of interest here
}

var errDescriptor = errors.New("not a security descriptor")

// Encode gives the binary form of a list ([MS-DTYP] 2.4.5).
func (l *ACL) Encode() []byte {
	out := make([]byte, 8)
	revision := byte(2)
	for _, a := range l.Entries {
		body := a.Raw
		if a.known() {
			body = append(binary.LittleEndian.AppendUint32(nil, uint32(a.Mask)), a.SID.Bytes()...)
		} else {
			revision = 4
		}
		for len(body)%4 != 0 {
			body = append(body, 0)
		}
		out = append(out, byte(a.Type), byte(a.Flags))
		out = binary.LittleEndian.AppendUint16(out, uint16(4+len(body)))
		out = append(out, body...)
	}
	out[0] = revision
	binary.LittleEndian.PutUint16(out[2:], uint16(len(out)))
	binary.LittleEndian.PutUint16(out[4:], uint16(len(l.Entries)))
	return out
}

// DecodeACL reads the binary form.
func DecodeACL(b []byte) (*ACL, error) {
	if len(b) < 8 || b[0] != 2 && b[0] != 4 {
		return nil, fmt.Errorf("%w: bad list", errDescriptor)
	}
	size, count := int(binary.LittleEndian.Uint16(b[2:])), int(binary.LittleEndian.Uint16(b[4:]))
	if size > len(b) || size < 8 {
		return nil, fmt.Errorf("%w: list of %d bytes in %d", errDescriptor, size, len(b))
	}
	l, b := &ACL{}, b[8:size]
	for range count {
		if len(b) < 4 {
			return nil, fmt.Errorf("%w: entry cut off", errDescriptor)
		}
		n := int(binary.LittleEndian.Uint16(b[2:]))
		if n < 8 || n > len(b) || n%4 != 0 { // [MS-DTYP] 2.4.4.1: a multiple of 4
			return nil, fmt.Errorf("%w: entry of %d bytes", errDescriptor, n)
		}
		a := ACE{Type: Type(b[0]), Flags: Flags(b[1])}
		if a.known() {
			sid, err := DecodeSID(b[8:n])
			if err != nil {
				return nil, err
			}
			a.Mask, a.SID = Mask(binary.LittleEndian.Uint32(b[4:])), sid
		} else {
			a.Raw = append([]byte{}, b[4:n]...)
		}
		l.Entries, b = append(l.Entries, a), b[n:]
	}
	return l, nil
}

// Encode gives the self-relative binary form.
func (d *Descriptor) Encode() []byte {
	out := make([]byte, 20)
	out[0] = 1
	control := d.Control | selfRelative
	put := func(at int, b []byte) {
		if b == nil {
			return
		}
		binary.LittleEndian.PutUint32(out[at:], uint32(len(out)))
		out = append(out, b...)
	}
	if !d.Owner.IsZero() {
		put(4, d.Owner.Bytes())
	}
	if !d.Group.IsZero() {
		put(8, d.Group.Bytes())
	}
	if d.SACL != nil {
		control |= SACLPresent
		put(12, d.SACL.Encode())
	}
	if d.DACL != nil {
		control |= DACLPresent
		put(16, d.DACL.Encode())
	}
	binary.LittleEndian.PutUint16(out[2:], control)
	return out
}

// DecodeDescriptor reads the self-relative binary form.
func DecodeDescriptor(b []byte) (*Descriptor, error) {
	if len(b) < 20 || b[0] != 1 {
		return nil, errDescriptor
	}
	d := &Descriptor{Control: binary.LittleEndian.Uint16(b[2:]) &^ selfRelative}
	at := func(i int) ([]byte, bool, error) {
		off := binary.LittleEndian.Uint32(b[i:])
		if off == 0 {
			return nil, false, nil
		}
		if int64(off) >= int64(len(b)) {
			return nil, false, fmt.Errorf("%w: part at %d of %d bytes", errDescriptor, off, len(b))
		}
		return b[off:], true, nil
	}
	for _, part := range []struct {
		at   int
		read func([]byte) error
	}{
		{4, func(p []byte) (err error) { d.Owner, err = DecodeSID(p); return }},
		{8, func(p []byte) (err error) { d.Group, err = DecodeSID(p); return }},
		{12, func(p []byte) (err error) { d.SACL, err = DecodeACL(p); return }},
		{16, func(p []byte) (err error) { d.DACL, err = DecodeACL(p); return }},
	} {
		if part.at == 16 && d.Control&DACLPresent == 0 {
			continue // whatever the offset says there is no list, and all is given
		}
		p, there, err := at(part.at)
		if err == nil && there {
			err = part.read(p)
		}
		if err != nil {
			return nil, err
		}
	}
	return d, nil
}
