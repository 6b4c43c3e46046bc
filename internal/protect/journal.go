package protect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/report"
)

// journalMax bounds a journal; journalsMax how many are looked at.
const (
	journalMax  = 16 << 20
	journalsMax = 1024
)

// Meta is what a journal says about its run.
type Meta struct {
	RunID     string `json:"run"` // [A-Za-z0-9._-]{1,128}
	Workspace string `json:"workspace"`
}

// journalEntry is the JSON form.
type journalEntry struct {
	Version int     `json:"version"`
	Process process `json:"process"`
	Meta    Meta    `json:"meta"`
	Found   Found   `json:"found"`
}

// Journal is the record of a run that is going on.
type Journal struct{ path string }

// Record is the journal of a run whose launcher is dead.
type Record struct {
	Meta
	Found Found
	path  string
}

// Begin writes the journal of a run before its command starts, to stateDir/journal.
// It appears whole or not at all. It is not flushed to the disk: it has to outlive
// the launcher, not the machine, and the page cache does. After a loss of power the
// workspace's own unflushed writes are as lost as the journal is.
func Begin(h host.Host, stateDir string, f Found, meta Meta) (*Journal, error) {
	const op = "write journal"
	if !validRun(meta.RunID) {
		return nil, fault.New(fault.Internal, op, meta.RunID, "the id of the run is not a file name")
	}
	dir, err := privateDir(stateDir, "journal")
	if err != nil {
		return nil, fault.Wrap(fault.Internal, op, stateDir, err)
	}
	self, err := identify(h, os.Getpid())
	if err != nil {
		return nil, fault.Wrap(fault.Internal, op, meta.RunID, err)
	}
	data, err := json.Marshal(journalEntry{1, self, Meta{meta.RunID, armour(meta.Workspace)}, f.mapped(armour)})
	if err != nil {
		return nil, fault.Wrap(fault.Internal, op, meta.RunID, err)
	}
	j := &Journal{path: filepath.Join(dir, meta.RunID+".json")}
	if err := writeWhole(dir, j.path, data); err != nil {
		return nil, fault.Wrap(fault.Internal, op, j.path, err)
	}
	return j, nil
}

// End removes the journal: Check has been done.
func (j *Journal) End() error {
	if j == nil {
		return nil
	}
	if err := os.Remove(j.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fault.Wrap(fault.Internal, "remove journal", j.path, err)
	}
	return nil
}

// Pending lists the runs whose launcher is dead and that nobody has looked at. A
// file that is no journal of ours is left alone and told of.
func Pending(h host.Host, stateDir string) ([]Record, []report.Notice) {
	dir := filepath.Join(stateDir, "journal")
	entries, err := h.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil, nil
	}
	var notices []report.Notice
	note := func(name, why string) {
		notices = append(notices, report.Notice{Kind: "journal:skipped", Text: fmt.Sprintf("%q in %q was left alone: %s", name, dir, why)})
	}
	if err == nil {
		err = ours(dir)
	}
	if err != nil {
		note("", err.Error())
		return nil, notices
	}
	var out []Record
	for i, e := range entries {
		if i == journalsMax {
			note(e.Name(), "there are too many")
			break
		}
		r, alive, err := readRecord(h, dir, e)
		switch {
		case err != nil:
			note(e.Name(), err.Error())
		case !alive:
			out = append(out, r)
		}
	}
	return out, notices
}

func readRecord(h host.Host, dir string, e fs.DirEntry) (r Record, alive bool, err error) {
	path := join(dir, e.Name())
	st, err := h.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, true, nil // its run ended just now
	}
	if err != nil || !st.Mode.IsRegular() || !ownFile(h, st) {
		return r, false, errors.New("it is not a file of ours")
	}
	data, err := h.ReadFile(path, journalMax)
	if err != nil {
		return r, errors.Is(err, fs.ErrNotExist), ignoreGone(err)
	}
	var j journalEntry
	if err := json.Unmarshal(data, &j); err != nil || j.Version != 1 || !validRun(j.Meta.RunID) || j.Process.Boot == "" || j.Process.Start == "" {
		return r, false, errors.New("it is not a journal that this version writes")
	}
	j.Meta.Workspace, j.Found = disarm(j.Meta.Workspace), j.Found.mapped(disarm)
	for _, list := range [][]string{j.Found.Roots, j.Found.Given, j.Found.Written, j.Found.Unwatched, j.Found.Homes} {
		for _, p := range list {
			if !filepath.IsAbs(p) {
				return r, false, errors.New("it names no absolute path")
			}
		}
	}
	alive, err = j.Process.alive(h)
	return Record{Meta: j.Meta, Found: j.Found, path: path}, alive, err
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Adopt makes a dead run's journal our own, so that of several starts one alone looks
// at it; End it when that is done. Another was first: nil without an error.
//
// Ours is written first, then the old one removed, which succeeds for one only. If we
// die in between there are two, and the second finds nothing left to do.
func (r Record) Adopt(h host.Host) (*Journal, error) {
	const op = "adopt journal"
	self, err := identify(h, os.Getpid())
	if err != nil {
		return nil, fault.Wrap(fault.Internal, op, r.path, err)
	}
	dir := filepath.Dir(r.path)
	data, err := json.Marshal(journalEntry{1, self, Meta{r.RunID, armour(r.Workspace)}, r.Found.mapped(armour)})
	if err != nil {
		return nil, fault.Wrap(fault.Internal, op, r.path, err)
	}
	j := &Journal{path: join(dir, "adopted-"+strconv.Itoa(self.PID)+"-"+self.Start+"-"+r.RunID+".json")}
	if err := writeWhole(dir, j.path, data); errors.Is(err, fs.ErrExist) {
		return nil, nil // this process is at it
	} else if err != nil {
		return nil, fault.Wrap(fault.Internal, op, r.path, err)
	}
	err = os.Remove(r.path)
	if err == nil {
		return j, nil
	}
	_ = j.End()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return nil, fault.Wrap(fault.Internal, op, r.path, err)
}
