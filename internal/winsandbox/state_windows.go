package winsandbox

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// state is the directory of our records, locked. No sandbox can write there: nothing
// in it names a capability, except the private directories below "work".
type state struct {
	dir  string
	lock *os.File
}

// lockTime is how long another helper may hold the records: it edits lists meanwhile.
const lockTime = 30 * time.Second

// openState makes the directory and takes the lock.
func openState(dir string) (*state, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fault.Wrap(fault.Internal, "make the directory of records", dir, err)
	}
	if real, err := realDir("--home", dir); err != nil {
		return nil, err
	} else if fold(real) != fold(dir) {
		dir = real
	}
	if err := private(dir); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(dir+`\lock`, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fault.Wrap(fault.Internal, "open the lock in", dir, err)
	}
	for end := time.Now().Add(lockTime); ; time.Sleep(20 * time.Millisecond) {
		err = windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{})
		if err == nil {
			return &state{dir, f}, nil
		}
		if time.Now().After(end) {
			f.Close()
			return nil, fault.Wrap(fault.SandboxUndetermined, "lock the records in", dir, err).WithHint("another helper has held them for " + lockTime.String())
		}
	}
}

// private refuses a directory that anybody may write: each of our tokens has Everyone among
// its restricting identifiers, and a command could give itself another's capability.
func private(dir string) error {
	o, err := openObject(dir, windows.READ_CONTROL)
	if err != nil {
		return err
	}
	defer o.close()
	d, err := o.descriptor()
	if err != nil {
		return fault.Wrap(fault.SandboxUnavailable, "read the access-control list of", dir, err)
	}
	if winacl.EveryoneMayWrite(d, winacl.File) {
		return fault.New(fault.PathInvalid, "keep records in", dir, "anybody may write there, and so may a command in the sandbox; name another directory with --home")
	}
	return nil
}

func (s *state) close() { s.lock.Close() }

// read reads one of our files; a missing one is empty.
func (s *state) read(name string) ([]byte, error) {
	f, err := os.Open(s.dir + `\` + name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() || st.Size() > 32<<20 {
		return nil, fmt.Errorf("%s is not a file of ours: %v", name, err)
	}
	return os.ReadFile(s.dir + `\` + name)
}

// write replaces one of our files: whole, or not at all.
func (s *state) write(name string, data []byte) error {
	tmp := s.dir + `\` + name + ".new"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	from, err1 := windows.UTF16PtrFromString(tmp)
	to, err2 := windows.UTF16PtrFromString(s.dir + `\` + name)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	return windows.MoveFileEx(from, to, windows.MOVEFILE_REPLACE_EXISTING|windows.MOVEFILE_WRITE_THROUGH)
}

func (s *state) journal() (winacl.Journal, error) {
	data, err := s.read("journal.jsonl")
	var j winacl.Journal
	if err == nil {
		j, err = winacl.ParseJournal(data)
	}
	if err != nil {
		return j, fault.Wrap(fault.Internal, "read the journal in", s.dir, err).WithHint("it says which entries of access-control lists are ours; mend it, or move it away and look for the entries with icacls")
	}
	return j, nil
}

func (s *state) writeJournal(j winacl.Journal) error {
	if err := s.write("journal.jsonl", j.Encode()); err != nil {
		return fault.Wrap(fault.Internal, "write the journal in", s.dir, err)
	}
	return nil
}

// capabilities gives an identifier for each path, made and stored when new.
func (s *state) capabilities(paths []string) ([]winacl.SID, error) {
	fail := func(err error) ([]winacl.SID, error) {
		return nil, fault.Wrap(fault.Internal, "keep the capabilities in", s.dir, err)
	}
	data, err := s.read("capabilities.json")
	if err != nil {
		return fail(err)
	}
	c, err := ParseCapabilities(data)
	if err != nil {
		return fail(err)
	}
	var out []winacl.SID
	dirty := false
	for _, p := range paths {
		sid, fresh, err := c.For(p, rand.Reader)
		if err != nil {
			return fail(err)
		}
		out, dirty = append(out, sid), dirty || fresh
	}
	if dirty {
		if err := s.write("capabilities.json", c.Encode()); err != nil {
			return fail(err)
		}
	}
	return out, nil
}

// began is when a process started, 0 when there is none. hidden tells that there is one
// that we may not ask.
func began(pid int) (start int64, hidden bool) {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	if err != nil {
		return 0, err == windows.ERROR_ACCESS_DENIED
	}
	defer windows.CloseHandle(h)
	var code uint32
	if windows.GetExitCodeProcess(h, &code) == nil && code != 259 { // STILL_ACTIVE
		return 0, false
	}
	var c, e, k, u windows.Filetime
	if windows.GetProcessTimes(h, &c, &e, &k, &u) != nil {
		return 0, true
	}
	return c.Nanoseconds(), false
}

// running tells whether the helper that made a record is still there. One that we may not
// ask, since it has more rights, counts as being there: it needs its entries.
func running(r winacl.Record) bool {
	if r.PID <= 0 || r.Start == 0 {
		return false
	}
	start, hidden := began(r.PID)
	return hidden || start == r.Start
}

// undo removes the entries of records from their lists, unless another run needs them, and
// from the journal those that are gone. Paths that are not there any more count as done.
func (s *state) undo(j winacl.Journal, which func(winacl.Record) bool) (left winacl.Journal, done []winacl.Record, failed map[string]error) {
	failed = map[string]error{}
	left, last, others := j.Without(which)
	done = others
	for _, r := range last {
		if err := undoOne(r); err != nil {
			failed[r.Path] = err
			left.Records = append(left.Records, r)
			continue
		}
		done = append(done, r)
	}
	return left, done, failed
}

func undoOne(r winacl.Record) error {
	o, err := openObject(r.Path, windows.READ_CONTROL|windows.WRITE_DAC)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer o.close()
	return o.drop(r.ACE())
}
