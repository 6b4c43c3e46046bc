package store

import (
	"context"
	"errors"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/snapshot"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// rounds bounds how often a database that is being written is read again.
const rounds = 8

// Read gives the stored policy, after a migration if it needs one, and renews the
// snapshot. Where nothing can be written the migrated policy holds for this call alone.
func (s *Store) Read(ctx context.Context) (snapshot.Response, error) {
	var resp snapshot.Response
	there, err := s.present()
	if err != nil {
		return resp, err
	}
	if !there {
		return resp, s.gone()
	}
	for range rounds {
		now := time.Now()
		before, err := snapshot.Look(s.host, s.path)
		if err != nil {
			return resp, fault.Wrap(fault.StoreFailed, "read the store", s.path, err)
		}
		text, found, err := s.fetch(ctx)
		if err != nil {
			return snapshot.Response{}, err
		}
		resp.Found, resp.Policy = found, nil
		if found {
			done, err := s.current(ctx, text, &resp)
			switch {
			case err != nil:
				return snapshot.Response{}, err
			case !done:
				continue
			case resp.Unsaved != "":
				return resp, nil
			}
		}
		wait := before.Settled(now)
		after, err := snapshot.Look(s.host, s.path)
		switch {
		case err == nil && after == before && wait <= 0:
			s.keep(snapshot.Snapshot{Path: s.path, Files: before, Policy: resp.Policy})
			return resp, nil
		case wait > 50*time.Millisecond:
			return resp, nil // the next one to ask will do it
		}
		time.Sleep(max(wait, time.Millisecond))
	}
	return resp, nil
}

// current puts a policy as it is stored into the answer; false when it has just been
// migrated and must be read again.
func (s *Store) current(ctx context.Context, text string, resp *snapshot.Response) (bool, error) {
	m, err := s.normalise(text)
	if err != nil {
		return false, err
	}
	resp.Policy = m.text
	if len(m.done) == 0 {
		return true, nil
	}
	made, err := s.migrate(ctx)
	switch {
	case err == nil:
		resp.Log = append(resp.Log, made.Log...)
		resp.Changes = append(resp.Changes, made.Changes...)
		resp.File = made.File
		return false, nil
	case ctx.Err() != nil:
		return false, err
	}
	resp.Log, resp.Unsaved = m.done, err.Error()
	return true, nil
}

// gone tells a store that never was from one that was lost.
func (s *Store) gone() error {
	if s.host.Exists(s.path + snapshot.Ending) {
		return fault.New(fault.StoreFailed, "read the store", s.path, "the database is gone, and its snapshot is still there; qsandbox policy restore brings a backup back, qsandbox policy reset begins anew")
	}
	return nil
}

// fetch reads the policy, also from a disk that cannot be written.
func (s *Store) fetch(ctx context.Context) (text string, found bool, err error) {
	for _, how := range []access{forWriting, forReading, asItLies} {
		if how == asItLies {
			// SECURITY: a log that is not looked at may hold a newer, stricter policy.
			files, lerr := snapshot.Look(s.host, s.path)
			if lerr != nil || files[1] != (snapshot.Identity{}) || files[2] != (snapshot.Identity{}) {
				return "", false, err
			}
		}
		var done func()
		text, found, done, err = s.fetchAs(ctx, how)
		if done != nil {
			done()
		}
		if err == nil || errors.Is(err, errDamaged) || ctx.Err() != nil || !cannotWrite(err) {
			return text, found, err
		}
	}
	return text, found, err
}

func (s *Store) fetchAs(ctx context.Context, how access) (string, bool, func(), error) {
	conn, done, err := s.open(ctx, s.path, how)
	if err != nil {
		return "", false, nil, err
	}
	if err := s.check(ctx, conn); err != nil {
		return "", false, done, err
	}
	text, found, err := s.value(ctx, conn)
	return text, found, done, err
}

// normalised is a stored policy as this version reads it.
type normalised struct {
	layer policy.Layer
	text  []byte             // as this version writes it
	done  []policy.Migration // what writing it changes
	from  int                // its version
}

// normalise reads a stored policy. What would be said again of the policy that is
// written, such as a field that is unknown and kept, is no reason to write it.
func (s *Store) normalise(text string) (normalised, error) {
	l, log, err := policy.ParseStored([]byte(text))
	if err != nil {
		return normalised{}, fault.Wrap(fault.StoreFailed, "read the stored policy", s.path, err).WithHint("qsandbox policy restore brings a backup back, qsandbox policy reset begins anew; nothing was run")
	}
	n := normalised{layer: l}
	if n.text, err = policy.MarshalStored(l); err != nil {
		return n, err
	}
	_, again, err := policy.ParseStored(n.text)
	if err != nil {
		return n, err
	}
	if l.Version != nil && (len(log) == 0 || log[0].Field != "version" || log[0].Old != "") {
		n.from = *l.Version
	}
	for _, m := range log {
		if !contains(again, m) {
			n.done = append(n.done, m)
		}
	}
	return n, nil
}

func contains(log []policy.Migration, m policy.Migration) bool {
	for _, have := range log {
		if have == m {
			return true
		}
	}
	return false
}
