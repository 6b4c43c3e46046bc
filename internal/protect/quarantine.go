package protect

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// Moved says where Quarantine put an entry.
type Moved struct {
	From, To string
	Restore  string // the command for sh, on Windows for PowerShell, that moves it back
	InPlace  bool   // it could be neither moved to nor copied to the state directory: it was renamed where it is
}

// saved is the JSON record beside what was moved. Paths may hold any byte, which JSON
// cannot: Bytes have them exactly.
type saved struct {
	Run       string `json:"run"`
	Name      string `json:"name"`
	Change    string `json:"change"`
	Why       string `json:"why"`
	From      string `json:"from"`
	FromBytes []byte `json:"from_bytes"`
	To        string `json:"to"`
	Restore   string `json:"restore"`
}

// maxMoved bounds the entries of one run's quarantine.
const maxMoved = 1 << 16

// Quarantine moves the entry of a violation out of the workspace, to
// stateDir/quarantine/<runID>/NNN-name with a record NNN.json beside it. Nothing is
// deleted. stateDir lies outside every writable root. Errors: INTERNAL for the state
// directory; LAUNCH_FAILED is never used, for the run is over: the caller reports an
// entry that could not be moved. fs.ErrNotExist: it is gone by itself.
//
// SECURITY: the workspace is hostile while we are in it, for another sandbox may run
// there: folders are opened part by part without following links, an entry is moved
// by name within its open folder whatever it is, and nothing in it is opened unless
// the state directory is on another file system, where it is copied within bounds.
func Quarantine(v Violation, stateDir, runID string) (Moved, error) {
	const op = "quarantine"
	if !validRun(runID) {
		return Moved{}, fault.New(fault.Internal, op, runID, "the id of the run is not a file name")
	}
	dir, err := privateDir(stateDir, "quarantine", runID)
	if err != nil {
		return Moved{}, fault.Wrap(fault.Internal, op, v.Path, err)
	}
	for n := range maxMoved {
		m := Moved{From: v.Path, To: filepath.Join(dir, fmt.Sprintf("%03d-%s", n, plainName(filepath.Base(v.Path))))}
		record := filepath.Join(dir, fmt.Sprintf("%03d.json", n))
		f, err := os.OpenFile(record, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // takes the number
		if os.IsExist(err) {
			continue
		}
		if err != nil {
			return Moved{}, fault.Wrap(fault.Internal, op, v.Path, err)
		}
		err = moveOut(&m)
		if err == nil {
			m.Restore = restoreFor(m.To, m.From)
			err = writeSaved(f, v, m, runID)
		} else {
			_ = os.Remove(record)
		}
		_ = f.Close()
		if err != nil {
			return m, fault.Wrap(fault.Internal, op, v.Path, err)
		}
		return m, nil
	}
	return Moved{}, fault.New(fault.LimitExceeded, op, v.Path, "the run left too many entries to move")
}

func writeSaved(f *os.File, v Violation, m Moved, runID string) error {
	data, err := json.MarshalIndent(saved{runID, v.Name, v.Change.String(), v.Why, m.From, []byte(m.From), m.To, m.Restore}, "", "  ")
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	return err
}

// validRun wants a plain file name of at most 128 bytes.
func validRun(id string) bool {
	return id != "" && len(id) <= 128 && id[0] != '.' && plainName(id) == id
}

// plainName keeps of a name what is the same everywhere.
func plainName(s string) string {
	out := strings.Map(func(r rune) rune {
		if r < 0x80 && (isKeyChar(byte(r)) || r == '.' || r == '_') {
			return r
		}
		return '_'
	}, s)
	return out[:min(len(out), 128)]
}

// privateDir makes, or checks, a folder below a state directory that only we use.
func privateDir(stateDir string, parts ...string) (string, error) {
	if !filepath.IsAbs(stateDir) {
		return "", fmt.Errorf("the state directory %q is not absolute", stateDir)
	}
	dir := filepath.Join(append([]string{stateDir}, parts...)...)
	if err := ours(dir); err == nil {
		return dir, nil
	} else if !os.IsNotExist(err) {
		return "", err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return dir, ours(dir)
}

// writeBeside writes a file beside its place and gives it its name when it is whole.
func writeBeside(path string, data []byte) error {
	next := path + ".next"
	f, err := os.OpenFile(next, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Link(next, path) // fails when the name is taken
	}
	return errors.Join(err, os.Remove(next))
}
