package store

import (
	"context"
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/snapshot"
)

// key is where the policy is in the table settings.
const key = "sandbox_policy"

// busy is how long a lock of another program is waited for.
const busy = 5 * time.Second

// Store is one database. It holds nothing open between calls.
type Store struct {
	host host.Host
	path string
	ours bool          // in our own place: a damaged database may be set aside
	busy time.Duration // how long a lock is waited for
}

// At gives the store in a file, whose links are followed now. ours says that the place is
// the program's own, and not the desktop client's.
func At(h host.Host, path string, ours bool) *Store {
	if real, err := h.RealPath(path); err == nil {
		path = real
	} else if dir, err := h.RealPath(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	return &Store{host: h, path: path, ours: ours, busy: busy}
}

// access is how a database is opened.
type access string

const (
	forWriting access = "rw"
	forReading access = "ro"
	asItLies   access = "immutable" // for a disk that cannot be written: no lock, no log
	toMake     access = "rwc"
)

// open opens a database and looks whether it is one.
func (s *Store) open(ctx context.Context, path string, how access) (*sql.Conn, func(), error) {
	q := url.Values{"_txlock": {"immediate"}, "_pragma": {"busy_timeout(" + strconv.FormatInt(s.busy.Milliseconds(), 10) + ")", "synchronous(FULL)", "temp_store(MEMORY)"}}
	if how == asItLies {
		q.Set("mode", "ro")
		q.Set("immutable", "1")
	} else {
		q.Set("mode", string(how))
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path), RawQuery: q.Encode()}
	db, err := sql.Open("sqlite", u.String())
	if err != nil {
		return nil, nil, s.fail("open the store", err)
	}
	db.SetMaxOpenConns(1)
	conn, err := db.Conn(ctx)
	if err != nil {
		db.Close()
		return nil, nil, s.fail("open the store", err)
	}
	return conn, func() { conn.Close(); db.Close() }, nil
}

// check looks whether the database is one of ours or of the desktop client.
func (s *Store) check(ctx context.Context, c querier) error {
	rows, err := c.QueryContext(ctx, `SELECT name, pk FROM pragma_table_info('settings') WHERE name IN ('key', 'value')`)
	if err != nil {
		return s.fail("read the store", err)
	}
	defer rows.Close()
	columns := map[string]int{}
	for rows.Next() {
		var name string
		var pk int
		if err := rows.Scan(&name, &pk); err != nil {
			return s.fail("read the store", err)
		}
		columns[name] = pk
	}
	if err := rows.Err(); err != nil {
		return s.fail("read the store", err)
	}
	if len(columns) != 2 || columns["key"] != 1 {
		return fault.New(fault.StoreFailed, "open the store", s.path, "it is a database of something else: it has no table settings(key, value); nothing was changed")
	}
	return s.checkSchema(ctx, c)
}

// schema is the version of our own tables.
const schema = 1

func (s *Store) checkSchema(ctx context.Context, c querier) error {
	var have int
	err := c.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'qsandbox_schema'`).Scan(&have)
	if err == nil && have > 0 {
		err = c.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM qsandbox_schema`).Scan(&have)
	}
	if err != nil {
		return s.fail("read the store", err)
	}
	if have > schema {
		return fault.New(fault.StoreFailed, "open the store", s.path, "its tables are of version "+strconv.Itoa(have)+", and this program knows "+strconv.Itoa(schema)+"; use the newer program, or import the policy into a store of its own; nothing was changed")
	}
	return nil
}

// querier is a connection or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// tables are ours; settings is only made in a new database.
const tables = `
CREATE TABLE IF NOT EXISTS qsandbox_schema(version INTEGER NOT NULL);
INSERT INTO qsandbox_schema SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM qsandbox_schema);
CREATE TABLE IF NOT EXISTS policy_history(
	id INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, how TEXT NOT NULL, old TEXT, new TEXT);
CREATE TABLE IF NOT EXISTS policy_migration_audit(
	id INTEGER PRIMARY KEY AUTOINCREMENT, time TEXT NOT NULL, history INTEGER NOT NULL, from_version INTEGER NOT NULL, to_version INTEGER NOT NULL,
	field TEXT NOT NULL, old TEXT NOT NULL, new TEXT NOT NULL, why TEXT NOT NULL);`

// value reads the stored policy; false when there is none.
func (s *Store) value(ctx context.Context, c querier) (string, bool, error) {
	var text string
	err := c.QueryRowContext(ctx, `SELECT value FROM settings WHERE key = ?`, key).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	if err != nil {
		return "", false, s.fail("read the store", err)
	}
	return text, true, nil
}

// present tells whether the database is there, and refuses one that others could write
// or that is empty: SQLite would take an empty file for a new database.
func (s *Store) present() (bool, error) {
	st, err := s.host.Lstat(s.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fault.Wrap(fault.StoreFailed, "open the store", s.path, err)
	}
	if err := snapshot.Check(s.host, s.path, st); err != nil {
		return false, err
	}
	if st.Size == 0 {
		return false, fault.Wrap(fault.StoreFailed, "open the store", s.path, errDamaged).WithHint("the file is empty; " + s.mend())
	}
	return true, nil
}

// errDamaged marks a database that cannot be read, whatever one does.
var errDamaged = errors.New("the database is damaged")

// mend says what helps against a damaged database.
func (s *Store) mend() string {
	if s.ours {
		return "qsandbox policy restore sets it aside and brings a backup back"
	}
	return "it is not in this program's own place: restore it with the program that it belongs to"
}

// fail says what SQLite's error means (sqlite.org/rescode.html).
func (s *Store) fail(op string, err error) error {
	e := fault.Wrap(fault.StoreFailed, op, s.path, err)
	var se *sqlite.Error
	if !errors.As(err, &se) {
		return e
	}
	switch se.Code() & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return e.WithHint("another program holds it locked; try again when that has ended; nothing was changed")
	case lib.SQLITE_NOTADB, lib.SQLITE_CORRUPT:
		return fault.Wrap(fault.StoreFailed, op, s.path, errors.Join(errDamaged, err)).WithHint("it is no SQLite database, or no longer; " + s.mend())
	case lib.SQLITE_FULL:
		return e.WithHint("the disk is full; nothing was changed")
	case lib.SQLITE_READONLY, lib.SQLITE_PERM, lib.SQLITE_CANTOPEN:
		return e.WithHint("the file, its directory or its disk cannot be written; nothing was changed")
	case lib.SQLITE_IOERR:
		return e.WithHint("the disk is full or faulty; nothing was changed")
	}
	return e
}
