package winsandbox

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// Bounds of the audit (WIN-07).
const (
	auditEntries = 200
	auditTime    = time.Second
)

// Entry is a child of the directory that is looked at.
type Entry struct {
	Name string
	Dir  bool
	Link bool // any reparse point
}

// Disk is what the audit needs of a file system.
type Disk interface {
	Children(dir string) ([]Entry, error)
	Security(path string) (*winacl.Descriptor, error)
	Since() time.Duration // since the audit began
}

// Findings are what an audit saw.
type Findings struct {
	Seen     int      // directories whose list was read
	Total    int      // directories there are
	Stopped  string   // what made it stop, "" when it saw all
	Flagged  []string // anybody may write there
	Unread   []string // their list could not be read
	Excepted int      // flagged, but inside a writable root
	Left     string   // a drive that anybody may write: no entry is made for all that is on it
}

// Audit looks for directories that anybody may write: dir itself, when it lies in no
// writable root, and what lies directly below. Links are not followed. Those inside a
// writable root are counted and left as they are: to deny there would take the workspace
// itself away.
func Audit(d Disk, dir string, roots []string) (Findings, error) {
	var f Findings
	list, err := d.Children(dir)
	if err != nil {
		return f, err
	}
	if !inAny(roots, dir) {
		f.itself(d, dir)
	}
	for _, e := range list {
		if !e.Dir || e.Link {
			continue
		}
		f.Total++
		switch {
		case f.Stopped != "":
			continue
		case f.Seen+len(f.Unread) >= auditEntries:
			f.Stopped = fmt.Sprintf("%d directories", auditEntries)
			continue
		case d.Since() >= auditTime:
			f.Stopped = auditTime.String()
			continue
		}
		f.look(d, strings.TrimSuffix(dir, `\`)+`\`+e.Name, roots)
	}
	return f, nil
}

func (f *Findings) look(d Disk, p string, roots []string) {
	sd, err := d.Security(p)
	if err != nil {
		f.Unread = append(f.Unread, p)
		return
	}
	f.Seen++
	if !winacl.EveryoneMayWrite(sd, winacl.File) {
		return
	}
	if inAny(roots, p) {
		f.Excepted++
		return
	}
	f.Flagged = append(f.Flagged, p)
}

// itself looks at the directory to start in; it is not one of the 200.
func (f *Findings) itself(d Disk, dir string) {
	sd, err := d.Security(dir)
	switch {
	case err != nil:
		f.Unread = append(f.Unread, dir)
	case !winacl.EveryoneMayWrite(sd, winacl.File):
	case len(dir) == 3:
		f.Left = dir
	default:
		f.Flagged = append(f.Flagged, dir)
	}
}

func inAny(roots []string, p string) bool {
	return slices.ContainsFunc(roots, func(r string) bool { return Within(r, p) })
}

// Line is what the log says of it.
func (f Findings) Line() string {
	s := fmt.Sprintf("audit: %d of %d directories looked at, %d that anybody may write, %d of them in a writable root",
		f.Seen, f.Total, len(f.Flagged)+f.Excepted, f.Excepted)
	if f.Stopped != "" {
		s += "; stopped at " + f.Stopped
	}
	if len(f.Unread) > 0 {
		s += fmt.Sprintf("; %d could not be read", len(f.Unread))
	}
	if f.Left != "" {
		s += "; anybody may write " + f.Left + " itself, which is left as it is"
	}
	return s
}

// Complete tells whether everything was seen: what --audit=enforce wants.
func (f Findings) Complete() bool { return f.Stopped == "" && len(f.Unread) == 0 && f.Left == "" }
