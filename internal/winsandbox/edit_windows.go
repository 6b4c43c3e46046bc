package winsandbox

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// edit writes the journal and then the lists. Entries of helpers that were killed are
// taken out first. SECURITY: everything is opened before anything is changed, and what
// was opened is what is edited. The journal comes before the lists, so that a crash
// between the two leaves nothing that we do not know of (WIN-06).
func (r *run) edit() error {
	if r.Restriction == Unrestricted {
		return nil // the token has no capability: an entry would do nothing, and stay
	}
	edits := Edits(r.layout)
	stale := func(winacl.Record) bool { return false }
	if len(r.watch.found.NotWalked) == 0 { // else a name that was seen before may not have been seen now
		stale = Stale(edits, r.layout.SIDs(), running)
	}
	if err := r.put(edits, stale); err != nil {
		return err
	}
	more, missed := Loose(realDisk{time.Now()}, r.layout, r.wish.Restricting())
	if missed != "" {
		r.out.notice("protected:not-walked", "below protected directories not every list was looked at: "+missed)
	}
	if len(more) == 0 {
		return nil
	}
	return r.put(more, func(winacl.Record) bool { return false })
}

// put writes edits into the journal and the lists, and takes out what is stale.
func (r *run) put(edits []Edit, stale func(winacl.Record) bool) error {
	objects, err := openAll(edits)
	defer func() {
		for _, o := range objects {
			o.close()
		}
	}()
	if err != nil {
		return err
	}
	s, err := openState(r.at.State)
	if err != nil {
		return err
	}
	defer s.close()
	j, err := s.journal()
	if err != nil {
		return err
	}
	if len(j.Records) > 0 {
		j, _, _ = s.undo(j, func(o winacl.Record) bool { return !o.Keep && !running(o) || stale(o) })
	}
	if err := s.writeJournal(j.Join(running, r.records(edits)...)); err != nil {
		return err
	}
	for _, p := range Paths(edits) {
		if err := objects[p].add(ACEs(edits, p)...); err != nil {
			return err
		}
	}
	return nil
}

// records are what the journal says of this run's entries.
func (r *run) records(edits []Edit) []winacl.Record {
	pid := os.Getpid()
	start, _ := began(pid)
	out := make([]winacl.Record, 0, len(edits))
	for _, e := range edits {
		rec := winacl.NewRecord(e.Path, e.ACE)
		rec.PID, rec.Start, rec.Added, rec.Keep = pid, start, time.Now().UTC().Truncate(time.Second), !r.ReadOnly
		if len(r.roots) > 0 {
			rec.Workspace = r.roots[0]
		}
		out = append(out, rec)
	}
	return out
}

// openAll opens every path that gets an entry, each once.
func openAll(edits []Edit) (map[string]object, error) {
	out := map[string]object{}
	for _, p := range Paths(edits) {
		o, err := openObject(p, windows.READ_CONTROL|windows.WRITE_DAC)
		if err != nil {
			return out, err
		}
		out[p] = o
	}
	return out, nil
}

// rollback takes the entries of this run out again, where they do not stay.
func (r *run) rollback() error {
	if !r.ReadOnly {
		return nil
	}
	s, err := openState(r.at.State)
	if err != nil {
		return err
	}
	defer s.close()
	j, err := s.journal()
	if err != nil {
		return err
	}
	pid := os.Getpid()
	left, _, failed := s.undo(j, func(o winacl.Record) bool { return !o.Keep && o.PID == pid })
	if len(left.Records) != len(j.Records) {
		err = s.writeJournal(left)
	}
	for p, e := range failed {
		r.out.notice("acl:left", "an entry on "+p+" could not be removed: "+e.Error()+"; qiming-sandbox-helper acl revoke tries again")
	}
	return err
}

// Entries gives the journal: every entry that is ours.
func Entries(home string) ([]winacl.Record, error) {
	s, j, err := openJournal(home)
	if s == nil {
		return nil, err
	}
	s.close()
	return j.Records, nil
}

// Revoke removes entries: those of runs that have ended, or all.
func Revoke(home string, all bool) (done []winacl.Record, failed map[string]error, err error) {
	s, j, err := openJournal(home)
	if s == nil {
		return nil, nil, err
	}
	defer s.close()
	left, done, failed := s.undo(j, func(r winacl.Record) bool { return all || !running(r) })
	return done, failed, s.writeJournal(left)
}

// openJournal opens the records, if there are any: to look makes none.
func openJournal(home string) (*state, winacl.Journal, error) {
	at, err := places(home)
	if err != nil {
		return nil, winacl.Journal{}, err
	}
	if _, err := os.Stat(at.State); errors.Is(err, fs.ErrNotExist) {
		return nil, winacl.Journal{}, nil
	} else if err != nil {
		return nil, winacl.Journal{}, fault.Wrap(fault.Internal, "open the directory of records", at.State, err)
	}
	s, err := openState(at.State)
	if err != nil {
		return nil, winacl.Journal{}, err
	}
	j, err := s.journal()
	if err != nil {
		s.close()
		return nil, j, err
	}
	return s, j, nil
}
