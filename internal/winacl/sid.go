package winacl

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// maxSub is how many sub-authorities an identifier can have ([MS-DTYP] 2.4.2).
const maxSub = 15

// SID is a security identifier. It can be compared with ==. The zero value is no
// identifier and matches nothing.
type SID struct {
	authority uint64
	count     uint8
	sub       [maxSub]uint32
}

// NewSID makes S-1-authority-sub…; it panics when there are more than 15 parts.
func NewSID(authority uint64, sub ...uint32) SID {
	if len(sub) > maxSub || len(sub) == 0 {
		panic("winacl: a SID has 1 to 15 sub-authorities")
	}
	s := SID{authority: authority, count: uint8(len(sub))}
	copy(s.sub[:], sub)
	return s
}

// The identifiers that the product speaks of ([MS-DTYP] 2.4.2.4).
var (
	Everyone      = NewSID(1, 0)
	CreatorOwner  = NewSID(3, 0)
	CreatorGroup  = NewSID(3, 1)
	OwnerRights   = NewSID(3, 4)
	Authenticated = NewSID(5, 11)
	System        = NewSID(5, 18)
	Admins        = NewSID(5, 32, 544)
	Users         = NewSID(5, 32, 545)
	Guests        = NewSID(5, 32, 546)
	LowLabel      = NewSID(16, 0x1000)
	MediumLabel   = NewSID(16, 0x2000)
	HighLabel     = NewSID(16, 0x3000)
	SystemLabel   = NewSID(16, 0x4000)
)

// IsZero tells whether there is no identifier.
func (s SID) IsZero() bool { return s.count == 0 }

// Last gives the last sub-authority: the relative id, or the level of a label.
func (s SID) Last() uint32 {
	if s.count == 0 {
		return 0
	}
	return s.sub[s.count-1]
}

// String gives "S-1-5-32-544".
func (s SID) String() string {
	if s.IsZero() {
		return ""
	}
	var b strings.Builder
	if s.authority < 1<<32 {
		fmt.Fprintf(&b, "S-1-%d", s.authority)
	} else {
		fmt.Fprintf(&b, "S-1-0x%012x", s.authority)
	}
	for _, v := range s.sub[:s.count] {
		fmt.Fprintf(&b, "-%d", v)
	}
	return b.String()
}

var errSID = errors.New("not a security identifier")

// ParseSID reads the form S-1-…; aliases such as WD are a matter of SDDL.
func ParseSID(text string) (SID, error) {
	parts := strings.Split(text, "-")
	if len(parts) < 4 || len(parts) > 3+maxSub || !strings.EqualFold(parts[0], "S") || parts[1] != "1" {
		return SID{}, fmt.Errorf("%w: %q", errSID, text)
	}
	authority, err := strconv.ParseUint(parts[2], 0, 48)
	if err != nil || parts[2][0] == '+' {
		return SID{}, fmt.Errorf("%w: %q", errSID, text)
	}
	s := SID{authority: authority, count: uint8(len(parts) - 3)}
	for i, p := range parts[3:] {
		v, err := strconv.ParseUint(p, 10, 32)
		if err != nil {
			return SID{}, fmt.Errorf("%w: %q", errSID, text)
		}
		s.sub[i] = uint32(v)
	}
	return s, nil
}

// Bytes gives the binary form ([MS-DTYP] 2.4.2.2).
func (s SID) Bytes() []byte {
	out := make([]byte, 8, 8+4*int(s.count))
	binary.BigEndian.PutUint64(out, s.authority&(1<<48-1))
	out[0], out[1] = 1, s.count
	for _, v := range s.sub[:s.count] {
		out = binary.LittleEndian.AppendUint32(out, v)
	}
	return out
}

// DecodeSID reads the binary form at the start of b.
func DecodeSID(b []byte) (SID, error) {
	if len(b) < 12 || b[0] != 1 || b[1] == 0 || b[1] > maxSub || len(b) < 8+4*int(b[1]) {
		return SID{}, errSID
	}
	s := SID{authority: binary.BigEndian.Uint64(b) & (1<<48 - 1), count: b[1]}
	for i := range int(s.count) {
		s.sub[i] = binary.LittleEndian.Uint32(b[8+4*i:])
	}
	return s, nil
}

// MarshalText and UnmarshalText write and read the string form, for JSON.
func (s SID) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the string form.
func (s *SID) UnmarshalText(b []byte) (err error) { *s, err = ParseSID(string(b)); return err }
