package launch

import (
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
)

// withDirs makes the missing writable directories of a plan (FS-01) and gives
// the plan back with their identities, so that they are compared like all others.
func withDirs(p *plan.Plan) (*plan.Plan, error) {
	if len(p.Create) == 0 {
		return p, nil
	}
	c := *p
	c.Mounts = slices.Clone(p.Mounts)
	if p.Outer != nil {
		outer := *p.Outer
		outer.Args = slices.Clone(outer.Args)
		c.Outer = &outer
	}
	for _, path := range p.Create {
		id, err := makeDir(path, p.User)
		if err != nil {
			return nil, fault.Wrap(fault.PathInvalid, "make", path, err)
		}
		for i := range c.Mounts {
			if m := &c.Mounts[i]; m.Src == path {
				m.ID = id
			}
		}
		if c.Outer != nil {
			for i := range c.Outer.Args {
				if a := &c.Outer.Args[i]; a.Open == path {
					a.ID = id
				}
			}
		}
	}
	return &c, nil
}

// makeDir goes part by part and by descriptor: a link in any part is an error,
// so that nothing is made, and later mounted, somewhere else (FS-06).
func makeDir(path string, owner spec.Identity) (spec.ID, error) {
	dir, err := unix.Open("/", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return spec.ID{}, err
	}
	defer func() { unix.Close(dir) }()
	for part := range strings.SplitSeq(strings.Trim(filepath.Clean(path), "/"), "/") {
		made := unix.Mkdirat(dir, part, 0o700)
		if made != nil && made != unix.EEXIST {
			return spec.ID{}, made
		}
		next, err := unix.Openat(dir, part, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		if err != nil {
			return spec.ID{}, err
		}
		unix.Close(dir)
		dir = next
		if made == nil && owner.Switch {
			if err := unix.Fchownat(dir, "", owner.UID, owner.GID, unix.AT_EMPTY_PATH); err != nil {
				return spec.ID{}, err
			}
		}
	}
	var st unix.Stat_t
	err = unix.Fstat(dir, &st)
	return spec.ID{Dev: uint64(st.Dev), Ino: st.Ino}, err
}
