package winacl

import (
	"fmt"
	"strconv"
	"strings"
)

// aliases are the two-letter names of SDDL ([MS-DTYP] 2.5.1.1) that occur in the
// lists of files; others are written as S-1-….
var aliases = map[string]SID{
	"WD": Everyone, "CO": CreatorOwner, "CG": CreatorGroup, "OW": OwnerRights, "AU": Authenticated, "SY": System,
	"BA": Admins, "BU": Users, "BG": Guests, "IU": NewSID(5, 4), "SU": NewSID(5, 6), "NU": NewSID(5, 2), "AN": NewSID(5, 7), "RC": NewSID(5, 12),
	"WR": NewSID(5, 33), "LS": NewSID(5, 19), "NS": NewSID(5, 20), "PU": NewSID(5, 32, 547), "AC": NewSID(15, 2, 1),
	"LW": LowLabel, "ME": MediumLabel, "HI": HighLabel, "SI": SystemLabel,
}

var aliasOf = func() map[SID]string {
	m := map[SID]string{}
	for a, s := range aliases {
		m[s] = a
	}
	return m
}()

// rights are the names of SDDL for masks, in the order in which they are written.
var rights = []struct {
	name string
	mask Mask
}{
	{"FA", File.All}, {"FR", File.Read}, {"FW", File.Write}, {"FX", File.Execute}, {"GA", GenericAll}, {"GR", GenericRead}, {"GW", GenericWrite},
	{"GX", GenericExecute}, {"SD", Delete}, {"RC", ReadControl}, {"WD", WriteDAC}, {"WO", WriteOwner},
	{"CC", 1}, {"DC", 2}, {"LC", 4}, {"SW", 8}, {"RP", 0x10}, {"WP", 0x20}, {"DT", 0x40}, {"LO", 0x80}, {"CR", 0x100},
}

// labelRights are the names in a mandatory label.
var labelRights = []struct {
	name string
	mask Mask
}{{"NW", NoWriteUp}, {"NR", NoReadUp}, {"NX", NoExecuteUp}}

var flagNames = []struct {
	name string
	flag Flags
}{{"OI", ObjectInherit}, {"CI", ContainerInherit}, {"NP", NoPropagate}, {"IO", InheritOnly}, {"ID", Inherited}}

func sidText(s SID) string {
	if a, ok := aliasOf[s]; ok {
		return a
	}
	return s.String()
}

func parseSIDText(t string) (SID, error) {
	if s, ok := aliases[strings.ToUpper(t)]; ok {
		return s, nil
	}
	return ParseSID(t)
}

// SDDL gives the string form: owner, group, DACL, label.
func (d *Descriptor) SDDL() string {
	var b strings.Builder
	if !d.Owner.IsZero() {
		b.WriteString("O:" + sidText(d.Owner))
	}
	if !d.Group.IsZero() {
		b.WriteString("G:" + sidText(d.Group))
	}
	b.WriteString("D:")
	if d.Control&Protected != 0 {
		b.WriteString("P")
	}
	if d.Control&AutoInherited != 0 {
		b.WriteString("AI")
	}
	if d.DACL == nil {
		b.WriteString("NO_ACCESS_CONTROL")
	} else {
		writeEntries(&b, d.DACL)
	}
	if d.SACL != nil {
		b.WriteString("S:")
		writeEntries(&b, d.SACL)
	}
	return b.String()
}

func writeEntries(b *strings.Builder, l *ACL) {
	for _, a := range l.Entries {
		fmt.Fprintf(b, "(%s;", a.Type)
		for _, f := range flagNames {
			if a.Flags&f.flag != 0 {
				b.WriteString(f.name)
			}
		}
		fmt.Fprintf(b, ";%s;;;%s)", maskText(a), sidText(a.SID))
	}
}

// maskText writes a mask by one name, else as a number: unambiguous.
func maskText(a ACE) string {
	if a.Type == Label {
		text := ""
		for _, r := range labelRights {
			if a.Mask&r.mask != 0 {
				text += r.name
			}
		}
		return text
	}
	for _, r := range rights[:8] {
		if a.Mask == r.mask {
			return r.name
		}
	}
	return fmt.Sprintf("%#x", uint32(a.Mask))
}

// ParseSDDL reads the string form. Conditional and object entries are refused: this
// product never writes them.
func ParseSDDL(text string) (*Descriptor, error) {
	d := &Descriptor{}
	seen := map[byte]bool{}
	for rest := text; rest != ""; {
		if len(rest) < 2 || rest[1] != ':' || seen[rest[0]] {
			return nil, fmt.Errorf("%w: at %q", errDescriptor, rest)
		}
		key := rest[0]
		seen[key] = true
		body := rest[2:]
		end := partEnd(body)
		rest = body[end:]
		if err := d.part(key, body[:end]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// partEnd finds where the next part ("X:" outside brackets) begins.
func partEnd(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '(':
			depth++
		case ')':
			depth--
		case ':':
			if depth == 0 && i > 0 {
				return i - 1
			}
		}
	}
	return len(s)
}

func (d *Descriptor) part(key byte, body string) (err error) {
	switch key {
	case 'O':
		d.Owner, err = parseSIDText(body)
	case 'G':
		d.Group, err = parseSIDText(body)
	case 'D':
		var flags string
		if d.DACL, flags, err = parseList(body); err == nil {
			d.Control |= controlOf(flags)
		}
	case 'S':
		d.SACL, _, err = parseList(body)
	default:
		err = fmt.Errorf("%w: part %q", errDescriptor, key)
	}
	return err
}

func controlOf(flags string) (c uint16) {
	if strings.Contains(flags, "P") {
		c |= Protected
	}
	if strings.Contains(flags, "AI") {
		c |= AutoInherited
	}
	return c
}

func parseList(body string) (*ACL, string, error) {
	flags, rest := body, ""
	if i := strings.IndexByte(body, '('); i >= 0 {
		flags, rest = body[:i], body[i:]
	}
	if f, ok := strings.CutSuffix(flags, "NO_ACCESS_CONTROL"); ok && rest == "" {
		return nil, f, nil
	}
	if strings.Trim(strings.ReplaceAll(strings.ReplaceAll(flags, "AI", ""), "AR", ""), "P") != "" {
		return nil, "", fmt.Errorf("%w: flags %q", errDescriptor, flags)
	}
	l := &ACL{}
	for rest != "" {
		end := strings.IndexByte(rest, ')')
		if rest[0] != '(' || end < 0 {
			return nil, "", fmt.Errorf("%w: at %q", errDescriptor, rest)
		}
		a, err := parseEntry(rest[1:end])
		if err != nil {
			return nil, "", err
		}
		l.Entries, rest = append(l.Entries, a), rest[end+1:]
	}
	return l, flags, nil
}

func parseEntry(text string) (ACE, error) {
	f := strings.Split(text, ";")
	bad := fmt.Errorf("%w: entry (%s)", errDescriptor, text)
	if len(f) != 6 || f[3] != "" || f[4] != "" || len(f[1])%2 != 0 {
		return ACE{}, bad
	}
	a := ACE{}
	switch f[0] {
	case "A":
		a.Type = Allow
	case "D":
		a.Type = Deny
	case "ML":
		a.Type = Label
	default:
		return a, bad
	}
flags:
	for s := f[1]; s != ""; s = s[2:] {
		for _, n := range flagNames {
			if s[:2] == n.name {
				a.Flags |= n.flag
				continue flags
			}
		}
		return a, bad
	}
	var ok bool
	if a.Mask, ok = parseMask(f[2], a.Type); !ok {
		return a, bad
	}
	sid, err := parseSIDText(f[5])
	if err != nil {
		return a, bad
	}
	a.SID = sid
	return a, nil
}

func parseMask(s string, t Type) (m Mask, ok bool) {
	if strings.HasPrefix(s, "0x") {
		v, err := strconv.ParseUint(s[2:], 16, 32)
		return Mask(v), err == nil
	}
	if len(s)%2 != 0 {
		return 0, false
	}
	names := rights
	if t == Label {
		names = labelRights
	}
names:
	for ; s != ""; s = s[2:] {
		for _, r := range names {
			if r.name == s[:2] {
				m |= r.mask
				continue names
			}
		}
		return 0, false
	}
	return m, true
}
