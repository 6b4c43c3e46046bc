package policy

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// FoldName gives the form under which file systems that do not tell upper from lower
// case keep a name, as far as names of ASCII letters are concerned: two names that are
// one file somewhere have one form. That is more than lower case: to Linux's own folding
// (fs/unicode, NFDICF, of ext4 and f2fs) and to HFS+ the long s is an s, the Kelvin sign a
// k, ligatures are their letters, and characters that are not shown are not there.
// Names of all systems are compared in it, since a folder's owner can switch folding on
// where the file system has it (chattr +F), and mounts of Windows, Samba and the like fold.
func FoldName(s string) string {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return foldWide(s)
		}
	}
	return strings.ToLower(s)
}

func foldWide(s string) string {
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			b.WriteByte(s[i]) // not UTF-8: a name of such bytes is only itself
		case unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r):
		case r == 'ß' || r == 'ẞ':
			b.WriteString("ss")
		case r >= '\uFB00' && r <= '\uFB06':
			b.WriteString([...]string{"ff", "fi", "fl", "ffi", "ffl", "st", "st"}[r-'\uFB00'])
		default:
			b.WriteRune(unicode.ToLower(unicode.ToUpper(r)))
		}
	}
	return b.String()
}
