package spec

import (
	"path/filepath"
	"strings"
	"unicode"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// otherCase looks whether what is mounted over is there by its name in other letters too.
//
// SECURITY: a mount covers one name. Where the file system does not tell upper from lower
// case (FUSE, shares of Windows and Samba, vfat), the kernel may know ".git/CONFIG" as a
// name of its own, and what lies there would be in reach by it. Which of them do cannot be
// told from outside; so it is said, and strict does not start.
func (b *binder) otherCase() error {
	if b.h.GOOS != "linux" || !b.s.Isolated() {
		return nil
	}
	for _, r := range b.s.Rules {
		if !r.Mount || r.Pin || r.Access == Private || r.Kind == Missing || r.ID == (ID{}) || r.Access >= b.around(r) {
			continue
		}
		name := filepath.Base(r.Path)
		other := strings.Map(swapCase, name)
		if other == name {
			continue
		}
		st, err := b.h.Lstat(filepath.Join(filepath.Dir(r.Path), other))
		if err != nil || (ID{st.Dev, st.Ino}) != r.ID {
			continue
		}
		why := "the file system of " + r.Path + " has it as " + other + " too; by that name it may be reached around the mount that covers it (" + r.Origin + ")"
		if b.s.Policy.Mode == policy.Strict {
			return fault.New(fault.PolicyUnenforceable, "cover", r.Path, why+"; put the project on a file system that tells upper from lower case, or use mode compat")
		}
		for _, requirement := range []string{"FS-02", "FS-03", "FS-04"} {
			b.s.Rows = append(b.s.Rows, report.Enforcement{Requirement: requirement, Mechanism: "other letters", Level: report.Advisory, Why: why})
		}
		b.s.notice("paths:case", why)
		return nil
	}
	return nil
}

// around is what a path beside that of a rule gets.
func (b *binder) around(r Rule) Access {
	if under, ok := longest(b.best, filepath.Dir(r.Path)); ok {
		return under.Access
	}
	if b.s.bare() {
		return Deny
	}
	return Read
}

// swapCase turns ASCII letters alone: those are enough to see whether case is told.
func swapCase(r rune) rune {
	switch {
	case r > unicode.MaxASCII:
	case unicode.IsUpper(r):
		return unicode.ToLower(r)
	case unicode.IsLower(r):
		return unicode.ToUpper(r)
	}
	return r
}
