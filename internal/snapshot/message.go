package snapshot

import (
	"encoding/json"
	"errors"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// Op is what qsandbox-store is asked for.
type Op string

// The operations.
const (
	OpRead     Op = "read"     // migrates when it must
	OpSet      Op = "set"      // fields, and fields taken back
	OpReplace  Op = "replace"  // the whole policy
	OpReset    Op = "reset"    // no policy is stored any more
	OpHistory  Op = "history"  //
	OpBackup   Op = "backup"   //
	OpRestore  Op = "restore"  // from a backup
	OpRollback Op = "rollback" // to what an older version can read
	OpMigrate  Op = "migrate"  // says what it did, or would do
	OpImport   Op = "import"   // from another database
)

// Request is one call of qsandbox-store, as JSON on its standard input.
type Request struct {
	Op      Op              `json:"op"`
	Path    string          `json:"path"`
	Ours    bool            `json:"ours,omitempty"`   // the database is in our own place: a damaged one may be set aside
	How     string          `json:"how,omitempty"`    // for the history: set, edit, import
	Policy  json.RawMessage `json:"policy,omitempty"` // set: the fields; replace: all of it
	Unset   []string        `json:"unset,omitempty"`  // set: fields that are taken back
	From    string          `json:"from,omitempty"`   // restore, import: a file; "" the newest backup
	To      string          `json:"to,omitempty"`     // backup: a file; "" the store's own place
	Version int             `json:"version,omitempty"`
	DryRun  bool            `json:"dryRun,omitempty"`
	Limit   int             `json:"limit,omitempty"` // history: entries, newest first
}

// Response is what it answers on its standard output.
type Response struct {
	Error   *Failure           `json:"error,omitempty"`
	Found   bool               `json:"found"`             // a policy is stored
	Policy  json.RawMessage    `json:"policy,omitempty"`  // as it is stored now
	Log     []policy.Migration `json:"log,omitempty"`     // what this call migrated or lost
	Changes []policy.Change    `json:"changes,omitempty"` // what it changed
	Unsaved string             `json:"unsaved,omitempty"` // why a migration holds for this call only
	History []Entry            `json:"history,omitempty"`
	File    string             `json:"file,omitempty"`    // the backup that was made or used
	Aside   string             `json:"aside,omitempty"`   // where a damaged database was moved
	Backups []string           `json:"backups,omitempty"` // files, newest first
}

// Entry is one change in the history.
type Entry struct {
	ID      int64              `json:"id"`
	Time    string             `json:"time"` // RFC 3339, UTC
	How     string             `json:"how"`
	Changes []policy.Change    `json:"changes"`
	Log     []policy.Migration `json:"log,omitempty"` // of a migration: what and why
}

// Failure is an error of qsandbox-store.
type Failure struct {
	Code    fault.Code `json:"code"`
	Op      string     `json:"op"`
	Subject string     `json:"subject,omitempty"`
	Cause   string     `json:"cause,omitempty"`
	Hint    string     `json:"hint,omitempty"`
}

// Fail makes the message of an error.
func Fail(err error) *Failure {
	var e *fault.Error
	if !errors.As(err, &e) {
		return &Failure{Code: fault.Internal, Op: "use the store", Cause: err.Error()}
	}
	f := &Failure{Code: e.Code, Op: e.Op, Subject: e.Subject, Hint: e.Hint}
	if e.Err != nil {
		f.Cause = e.Err.Error()
	}
	return f
}

// Err makes the error of a message.
func (f *Failure) Err() error {
	if f == nil {
		return nil
	}
	e := &fault.Error{Code: f.Code, Op: f.Op, Subject: f.Subject, Hint: f.Hint}
	if f.Cause != "" {
		e.Err = errors.New(f.Cause)
	}
	return e
}
