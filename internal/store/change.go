package store

import (
	"context"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/snapshot"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// historyMost bounds the history.
const historyMost = 1000

// outcome is what a change wants to have stored.
type outcome struct {
	layer policy.Layer
	text  []byte // nil: no policy is stored any more
	log   []policy.Migration
}

// lenience says whether the policy that was there must be one that can be read.
type lenience bool

const (
	mustRead lenience = false
	anything lenience = true
)

// change carries out one change in one transaction: the policy is read, migrated if it
// must be, changed by f, checked, written, and recorded.
func (s *Store) change(ctx context.Context, how string, l lenience, f func(old normalised, found bool) (outcome, error)) (snapshot.Response, error) {
	var resp snapshot.Response
	conn, done, err := s.open(ctx, s.path, forWriting)
	if err != nil {
		return resp, err
	}
	defer done()
	if err := s.check(ctx, conn); err != nil { // before there is a lock, so that nothing is changed
		return resp, err
	}
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return resp, s.fail("change the store", err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	resp, err = s.changeIn(ctx, tx, how, l, f)
	if err != nil {
		return resp, err
	}
	if err := tx.Commit(); err != nil {
		return snapshot.Response{}, s.fail("change the store", err)
	}
	return resp, nil
}

func (s *Store) changeIn(ctx context.Context, tx querier, how string, l lenience, f func(normalised, bool) (outcome, error)) (resp snapshot.Response, err error) {
	text, found, err := s.value(ctx, tx)
	if err != nil {
		return resp, err
	}
	var old normalised
	if found {
		old, err = s.normalise(text)
		if err != nil && l == mustRead {
			return resp, err
		}
		if err != nil || len(old.done) > 0 { // what a migration or a repair replaces is kept in a file
			if resp.File, err = s.backup([]byte(text), old.from); err != nil {
				return resp, err
			}
		}
	}
	next, err := f(old, found)
	if err != nil {
		return resp, err
	}
	if next.text != nil {
		if err := validate(next); err != nil {
			return resp, err
		}
	}
	resp.Found, resp.Policy = next.text != nil, next.text
	resp.Log = append(old.done, next.log...)
	resp.Changes = policy.Diff(old.layer, next.layer)
	if found == resp.Found && text == string(next.text) {
		resp.Log, resp.Changes = nil, nil
		return resp, nil
	}
	if _, err := tx.ExecContext(ctx, tables); err != nil {
		return resp, s.fail("change the store", err)
	}
	return resp, s.write(ctx, tx, how, text, found, old, next, resp.Log)
}

// write stores a policy and records the change.
func (s *Store) write(ctx context.Context, tx querier, how, was string, found bool, old normalised, next outcome, log []policy.Migration) error {
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000000Z")
	var before, after any
	if found {
		before = was
	}
	var err error
	if next.text == nil {
		_, err = tx.ExecContext(ctx, `DELETE FROM settings WHERE key = ?`, key)
	} else {
		after = string(next.text)
		_, err = tx.ExecContext(ctx, `INSERT INTO settings(key, value) VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value`, key, after)
	}
	if err != nil {
		return s.fail("change the store", err)
	}
	r, err := tx.ExecContext(ctx, `INSERT INTO policy_history(time, how, old, new) VALUES(?, ?, ?, ?)`, now, how, before, after)
	if err != nil {
		return s.fail("change the store", err)
	}
	id, err := r.LastInsertId()
	if err != nil {
		return s.fail("change the store", err)
	}
	to := policy.CurrentVersion
	if next.layer.Version != nil {
		to = *next.layer.Version
	}
	for _, m := range log {
		if _, err := tx.ExecContext(ctx, `INSERT INTO policy_migration_audit(time, history, from_version, to_version, field, old, new, why) VALUES(?, ?, ?, ?, ?, ?, ?, ?)`,
			now, id, old.from, to, m.Field, m.Old, m.New, m.Why); err != nil {
			return s.fail("change the store", err)
		}
	}
	for _, old := range []string{`DELETE FROM policy_history WHERE id <= ?`, `DELETE FROM policy_migration_audit WHERE history <= ?`} {
		if _, err := tx.ExecContext(ctx, old, id-historyMost); err != nil {
			return s.fail("change the store", err)
		}
	}
	return nil
}

// validate refuses a policy that could not be used: what is stored is always legal.
func validate(next outcome) error {
	if len(next.text) > policy.MaxFile {
		return fault.New(fault.PolicyInvalid, "store policy", "", "it is larger than a policy may be")
	}
	next.layer.Origin = policy.Origin{Kind: policy.OriginStored}
	if _, err := policy.Merge(policy.BuiltIn(), next.layer); err != nil {
		return err
	}
	_, _, err := policy.ParseStored(next.text)
	return err
}

// migrate brings the stored policy to the form of this version.
func (s *Store) migrate(ctx context.Context) (snapshot.Response, error) {
	return s.change(ctx, "migrate", mustRead, func(old normalised, found bool) (outcome, error) {
		return outcome{layer: old.layer, text: old.text}, nil
	})
}
