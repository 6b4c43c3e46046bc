package qsandbox

import (
	"context"
	"path/filepath"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/event"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/snapshot"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// PolicyStore is the place where the user's own policy is kept (POL-12): an SQLite
// database, which the program qsandbox-store next to this one reads and writes.
type PolicyStore struct {
	Path   string      // of the database
	Events func(Event) // gets policy:changed, which goes to the audit log too; nil: none
	host   host.Host
}

// UserStore is the store of the account that this program runs as: the file that
// QSANDBOX_STORE names, else the one in the account's own place. It need not be there.
func UserStore() *PolicyStore {
	h := host.Real()
	return &PolicyStore{Path: spec.StoreFile(h), host: h}
}

// StoreAt is the store in another file, such as the desktop client's database.
func StoreAt(path string) *PolicyStore {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	return &PolicyStore{Path: path, host: host.Real()}
}

// StoredLayer reads the user's stored policy as a layer; false when none is stored. It is
// what Layers puts below all others. Errors: STORE_FAILED.
func StoredLayer() (policy.Layer, bool, error) { return UserStore().Layer(context.Background()) }

// StoreResult is what an operation on the store did.
type StoreResult struct {
	Found      bool               // a policy is stored now
	Policy     []byte             // as it is stored; it may hold secrets
	Changes    []policy.Change    // field by field, secrets hidden
	Migrations []policy.Migration // what was brought forward, or lost by a rollback
	Unsaved    string             // why a migration holds for this call only
	File       string             // the backup that was made or used
	Aside      string             // where a damaged database was moved
	Unrecorded error              // why the audit log lacks the change; the store's own history has it
}

// StoreEntry is one change in the store's history.
type StoreEntry struct {
	ID         int64              `json:"id"`
	Time       time.Time          `json:"time"`
	How        string             `json:"how"` // set, reset, edit, import, restore, rollback, migrate
	Changes    []policy.Change    `json:"changes"`
	Migrations []policy.Migration `json:"migrations,omitempty"`
}

// Layer reads the stored policy. Most often that is the snapshot; when the database has
// changed it is read itself, which takes some milliseconds, and what a migration then
// changes is in the layer's Remarks. Errors: STORE_FAILED.
func (s *PolicyStore) Layer(ctx context.Context) (policy.Layer, bool, error) {
	if s.Path == "" {
		return policy.Layer{}, false, nil
	}
	snap, found, err := snapshot.Load(s.host, s.Path)
	raw, remarks := []byte(snap.Policy), []string(nil)
	if err == snapshot.ErrStale {
		var r *StoreResult
		if r, err = s.call(ctx, snapshot.Request{Op: snapshot.OpRead, How: "migrate"}); err == nil {
			found, raw, remarks = r.Found, r.Policy, r.remarks()
		}
	}
	if err != nil || !found {
		return policy.Layer{}, false, err
	}
	l, log, err := policy.ParseStored(raw)
	if err != nil {
		return policy.Layer{}, false, fault.Wrap(fault.StoreFailed, "read the stored policy", s.Path, err)
	}
	l.Origin.Name, l.Remarks = s.Path, append(remarks, standing(log)...)
	return l, true, nil
}

// standing is what must be said of a stored policy each time: that it is of a newer
// version. What a version of ours does not know without being newer is only kept.
func standing(log []policy.Migration) []string {
	if len(log) > 0 && log[0].Field == "version" && log[0].Old == log[0].New {
		return []string{log[0].Why}
	}
	return nil
}

// remarks tells people what was migrated.
func (r *StoreResult) remarks() []string {
	var out []string
	for _, m := range r.Migrations {
		text := "stored policy: " + m.Field
		if m.Old != "" {
			text += " " + m.Old
		}
		if m.New != "" && m.New != m.Old {
			text += " is now " + m.New
		}
		out = append(out, text+": "+m.Why)
	}
	if r.Unsaved != "" {
		out = append(out, "stored policy: this holds for this run only, as it could not be saved: "+r.Unsaved)
	}
	return out
}

// Set sets fields, and takes others back to the built-in policy.
func (s *PolicyStore) Set(ctx context.Context, fields policy.Layer, unset ...string) (*StoreResult, error) {
	how := "set"
	if len(unset) > 0 {
		how = "reset"
	}
	return s.write(ctx, snapshot.Request{Op: snapshot.OpSet, How: how, Unset: unset}, fields)
}

// Replace puts a whole policy in place; how is "edit" or "import".
func (s *PolicyStore) Replace(ctx context.Context, how string, with policy.Layer) (*StoreResult, error) {
	return s.write(ctx, snapshot.Request{Op: snapshot.OpReplace, How: how}, with)
}

func (s *PolicyStore) write(ctx context.Context, req snapshot.Request, l policy.Layer) (*StoreResult, error) {
	var err error
	if req.Policy, err = l.MarshalJSON(); err != nil {
		return nil, err
	}
	return s.call(ctx, req)
}

// Reset forgets the stored policy.
func (s *PolicyStore) Reset(ctx context.Context) (*StoreResult, error) {
	return s.call(ctx, snapshot.Request{Op: snapshot.OpReset, How: "reset"})
}

// Backup writes the policy to a file that is not there yet; for "" to the store's own place.
func (s *PolicyStore) Backup(ctx context.Context, to string) (*StoreResult, error) {
	return s.call(ctx, snapshot.Request{Op: snapshot.OpBackup, To: to})
}

// Restore brings a backup back; the newest for "".
func (s *PolicyStore) Restore(ctx context.Context, from string) (*StoreResult, error) {
	return s.call(ctx, snapshot.Request{Op: snapshot.OpRestore, How: "restore", From: from})
}

// Rollback writes the policy as an older version has it: 0 is the time before versions.
func (s *PolicyStore) Rollback(ctx context.Context, version int) (*StoreResult, error) {
	return s.call(ctx, snapshot.Request{Op: snapshot.OpRollback, How: "rollback", Version: version})
}

// Migrate brings the policy to the form of this version, or says what that would change.
func (s *PolicyStore) Migrate(ctx context.Context, dry bool) (*StoreResult, error) {
	return s.call(ctx, snapshot.Request{Op: snapshot.OpMigrate, How: "migrate", DryRun: dry})
}

// Import takes the policy of another database, which is left as it is.
func (s *PolicyStore) Import(ctx context.Context, from string) (*StoreResult, error) {
	return s.call(ctx, snapshot.Request{Op: snapshot.OpImport, How: "import", From: from})
}

// History lists the changes, newest first, and the backups; limit 0 is all there are.
func (s *PolicyStore) History(ctx context.Context, limit int) ([]StoreEntry, []string, error) {
	resp, err := snapshot.Call(ctx, s.host, s.request(snapshot.Request{Op: snapshot.OpHistory, Limit: limit}))
	if err != nil {
		return nil, nil, err
	}
	out := []StoreEntry{}
	for _, e := range resp.History {
		at, _ := time.Parse(time.RFC3339Nano, e.Time) // written by us
		out = append(out, StoreEntry{e.ID, at, e.How, e.Changes, e.Log})
	}
	return out, resp.Backups, nil
}

func (s *PolicyStore) request(req snapshot.Request) snapshot.Request {
	req.Path = s.Path
	req.Ours = s.Path == filepath.Join(spec.StoreRoot(s.host), filepath.Base(s.Path))
	return req
}

// call asks qsandbox-store, and emits what it changed.
func (s *PolicyStore) call(ctx context.Context, req snapshot.Request) (*StoreResult, error) {
	if s.Path == "" {
		return nil, fault.New(fault.StoreFailed, "find the store", "", "the account has no home directory; name a file with "+spec.StoreVariable)
	}
	resp, err := snapshot.Call(ctx, s.host, s.request(req))
	if err != nil {
		return nil, err
	}
	r := &StoreResult{Found: resp.Found, Policy: resp.Policy, Changes: resp.Changes, Migrations: resp.Log, Unsaved: resp.Unsaved, File: resp.File, Aside: resp.Aside}
	if !req.DryRun && r.Unsaved == "" {
		r.Unrecorded = s.announce(req.How, r)
	}
	return r, nil
}

// announce emits policy:changed, once for each field.
func (s *PolicyStore) announce(how string, r *StoreResult) error {
	changes := r.Changes
	if len(changes) == 0 {
		for _, m := range r.Migrations { // nothing that a layer shows: a version, a field that is gone
			changes = append(changes, policy.Change{Field: m.Field, Old: m.Old, New: m.New})
		}
	}
	var first error
	log := auditLog(s.host)
	for _, c := range changes {
		e := event.Event{Version: 1, Time: time.Now(), Name: event.PolicyChanged,
			Fields: map[string]string{"how": how, "field": c.Field, "old": c.Old, "new": c.New}}
		if s.Events != nil {
			s.Events(e)
		}
		if log == nil {
			continue
		}
		if err := log.Write(e); err != nil && first == nil {
			first = err
		}
	}
	return first
}
