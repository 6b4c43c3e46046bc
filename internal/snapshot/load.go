package snapshot

import (
	"errors"
	"io/fs"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// sticky lets only the owner of an entry rename or remove it.
const sticky = fs.ModeSticky

// ErrStale says that the snapshot cannot answer: the database must be asked.
var ErrStale = errors.New("the snapshot is not of this database as it is now")

// Load gives the policy that is stored at path; false when there is no store, or no
// policy in it. ErrStale when only the database itself can tell. Errors: STORE_FAILED
// when the files are not the user's alone, or the database is gone.
func Load(h host.Host, path string) (s Snapshot, found bool, err error) {
	info, err := h.Lstat(path)
	if err == nil && info.IsLink() {
		if path, err = h.RealPath(path); err == nil {
			info, err = h.Lstat(path)
		}
	}
	if err != nil {
		return Snapshot{}, false, missing(h, path, err)
	}
	if err := Check(h, path, info); err != nil {
		return Snapshot{}, false, err
	}
	side, err := h.Lstat(path + Ending)
	if err != nil {
		return Snapshot{}, false, ErrStale
	}
	// SECURITY: it must be ours alone, or somebody else would choose the policy.
	if err := checkSnapshot(h, path+Ending, side); err != nil {
		return Snapshot{}, false, err
	}
	data, err := h.ReadFile(path+Ending, maxSnapshot)
	if err != nil {
		return Snapshot{}, false, ErrStale
	}
	s, ok := decode(data)
	now, err := Look(h, path)
	if !ok || err != nil || s.Path != path || s.Files != now {
		return Snapshot{}, false, ErrStale
	}
	return s, s.Policy != nil, nil
}

// Last gives the policy that a database held when it was last read, whatever has become
// of it since; nil when that is not known, or none was stored. It is what a restore goes
// back to when the database is lost.
func Last(h host.Host, path string) []byte {
	side, err := h.Lstat(path + Ending)
	if err != nil || checkSnapshot(h, path+Ending, side) != nil {
		return nil
	}
	data, err := h.ReadFile(path+Ending, maxSnapshot)
	if err != nil {
		return nil
	}
	if s, ok := decode(data); ok && s.Path == path {
		return s.Policy
	}
	return nil
}

func checkSnapshot(h host.Host, path string, st host.Info) error {
	if !st.Mode.IsRegular() {
		return fault.New(fault.StoreFailed, opRead, path, "it is not a regular file; remove it")
	}
	return checkOne(h, path, st)
}

// missing tells a store that never was from one that is gone.
//
// SECURITY: without the difference, losing the database would put the built-in policy in
// the place of a stricter one, and nobody would notice.
func missing(h host.Host, path string, err error) error {
	switch {
	case !isMissing(err):
		return fault.Wrap(fault.StoreFailed, opRead, path, err)
	case h.Exists(path + Ending):
		return fault.New(fault.StoreFailed, opRead, path, "the database is gone, and its snapshot is still there; qsandbox policy restore brings a backup back, qsandbox policy reset begins anew")
	}
	return nil
}
