package store

import (
	"context"
	"database/sql"

	"github.com/qiming-sandbox/qsandbox/internal/snapshot"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// History lists the changes, newest first; limit 0 is all of them. Values that may be
// secrets are hidden.
func (s *Store) History(ctx context.Context, limit int) (snapshot.Response, error) {
	var resp snapshot.Response
	there, err := s.present()
	if err != nil {
		return resp, err
	}
	if !there {
		return resp, s.gone()
	}
	resp.Backups, _ = s.backups()
	if limit <= 0 {
		limit = historyMost
	}
	conn, done, err := s.open(ctx, s.path, forReading)
	if err != nil {
		return resp, err
	}
	defer done()
	if err := s.check(ctx, conn); err != nil {
		return resp, err
	}
	var have int
	if err := conn.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE name = 'policy_history'`).Scan(&have); err != nil || have == 0 {
		return resp, err
	}
	if resp.History, err = s.entries(ctx, conn, limit); err != nil {
		return resp, err
	}
	for i := range resp.History {
		if err := s.audited(ctx, conn, &resp.History[i]); err != nil {
			return resp, err
		}
	}
	return resp, nil
}

func (s *Store) entries(ctx context.Context, c querier, limit int) ([]snapshot.Entry, error) {
	rows, err := c.QueryContext(ctx, `SELECT id, time, how, old, new FROM policy_history ORDER BY id DESC LIMIT ?`, limit)
	if err != nil {
		return nil, s.fail("read the history", err)
	}
	defer rows.Close()
	var out []snapshot.Entry
	for rows.Next() {
		var e snapshot.Entry
		var before, after sql.NullString
		if err := rows.Scan(&e.ID, &e.Time, &e.How, &before, &after); err != nil {
			return nil, s.fail("read the history", err)
		}
		e.Changes = policy.Diff(layerOf(nullable(before)), layerOf(nullable(after)))
		out = append(out, e)
	}
	return out, rows.Err()
}

// audited adds what a migration changed, and why.
func (s *Store) audited(ctx context.Context, c querier, e *snapshot.Entry) error {
	rows, err := c.QueryContext(ctx, `SELECT field, old, new, why FROM policy_migration_audit WHERE history = ? ORDER BY id`, e.ID)
	if err != nil {
		return s.fail("read the history", err)
	}
	defer rows.Close()
	for rows.Next() {
		var m policy.Migration
		if err := rows.Scan(&m.Field, &m.Old, &m.New, &m.Why); err != nil {
			return s.fail("read the history", err)
		}
		e.Log = append(e.Log, m)
	}
	return rows.Err()
}

// layerOf reads a policy of the history; one that could not be read is empty.
func layerOf(text []byte) policy.Layer {
	l, _, err := policy.ParseStored(text)
	if text == nil || err != nil {
		return policy.Layer{}
	}
	return l
}
