package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"os"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/snapshot"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// Set sets some fields of the stored policy, and takes others back to the built-in
// policy. A first policy says what the built-in one says where it is silent, for of an
// old policy, which was silent, other things are read.
func (s *Store) Set(ctx context.Context, how string, fields policy.Layer, unset []string) (snapshot.Response, error) {
	return s.edit(ctx, how, mustRead, func(old normalised, _ bool) (outcome, error) {
		l := old.layer
		if err := l.Unset(unset...); err != nil {
			return outcome{}, err
		}
		l.Take(fields)
		return written(l, nil)
	})
}

// Replace puts a whole policy in place. What a newer version has there and this one does
// not know stays.
func (s *Store) Replace(ctx context.Context, how string, with policy.Layer) (snapshot.Response, error) {
	return s.edit(ctx, how, mustRead, func(old normalised, _ bool) (outcome, error) {
		l := old.layer
		complete(&with)
		l.Replace(with)
		return written(l, nil)
	})
}

// Reset forgets the stored policy: what holds then is the built-in one.
func (s *Store) Reset(ctx context.Context) (snapshot.Response, error) {
	there, err := s.present()
	if err == nil && !there {
		_ = os.Remove(s.path + snapshot.Ending)
		return snapshot.Response{}, nil
	}
	var resp snapshot.Response
	if err == nil {
		resp, err = s.change(ctx, "reset", anything, func(normalised, bool) (outcome, error) { return outcome{}, nil })
	}
	if errors.Is(err, errDamaged) && s.ours {
		resp, err = s.setAside(ctx, func(*Store) (snapshot.Response, error) { return snapshot.Response{}, nil })
	}
	return s.settle(ctx, resp, err)
}

// Rollback writes the policy as an older version has it. It is not read again here: that
// would bring it forward, as the next run of this program does.
func (s *Store) Rollback(ctx context.Context, version int) (snapshot.Response, error) {
	if there, err := s.present(); err != nil {
		return snapshot.Response{}, err
	} else if !there {
		return snapshot.Response{}, cmp.Or(s.gone(), error(fault.New(fault.StoreFailed, "roll back the policy", s.path, "there is no stored policy")))
	}
	var made snapshot.Response
	resp, err := s.change(ctx, "rollback", mustRead, func(old normalised, found bool) (outcome, error) {
		if !found {
			return outcome{}, fault.New(fault.StoreFailed, "roll back the policy", s.path, "there is no stored policy")
		}
		file, err := s.backup(old.text, policy.CurrentVersion)
		if err != nil {
			return outcome{}, err
		}
		made.File = file
		text, log, err := policy.MarshalOlder(old.layer, version)
		if err != nil {
			return outcome{}, err
		}
		l, _, err := policy.ParseStored(text)
		return outcome{layer: l, text: text, log: log}, err
	})
	if err == nil {
		resp.File = made.File
	}
	return resp, err
}

// Restore brings a backup back, for "" the newest state that there is. A damaged database
// in our own place is set aside for it.
func (s *Store) Restore(ctx context.Context, from string) (snapshot.Response, error) {
	data, from, err := s.restorable(ctx, from)
	if err != nil {
		return snapshot.Response{}, err
	}
	l, log, err := policy.ParseStored(data)
	if err != nil {
		return snapshot.Response{}, fault.Wrap(fault.StoreFailed, opRestore, from, err).WithHint("name another backup, from " + s.backupDir() + "; nothing was changed")
	}
	return s.put(ctx, "restore", anything, l, log, from)
}

// Import takes the policy of another database, which is left as it is.
func (s *Store) Import(ctx context.Context, from string) (snapshot.Response, error) {
	other := At(s.host, from, false)
	if st, err := s.host.Lstat(other.path); err != nil || !st.Mode.IsRegular() {
		return snapshot.Response{}, fault.New(fault.StoreFailed, "import a policy", from, "it must be a regular file; nothing was changed")
	}
	text, found, done, err := other.fetchAs(ctx, forReading)
	if done != nil {
		done()
	}
	if err != nil {
		return snapshot.Response{}, err
	}
	if !found {
		return snapshot.Response{}, fault.New(fault.StoreFailed, "import a policy", from, "the database holds no policy (key sandbox_policy)")
	}
	l, log, err := policy.ParseStored([]byte(text))
	if err != nil {
		return snapshot.Response{}, err
	}
	return s.put(ctx, "import", mustRead, l, log, from)
}

// put stores a policy whatever was there; lost says whether also where a database is gone.
func (s *Store) put(ctx context.Context, how string, lost lenience, l policy.Layer, log []policy.Migration, from string) (snapshot.Response, error) {
	do := func(in *Store) (snapshot.Response, error) {
		return in.change(ctx, how, anything, func(normalised, bool) (outcome, error) { return written(l, log) })
	}
	resp, err := snapshot.Response{}, s.ensure(ctx, lost)
	if err == nil {
		resp, err = do(s)
	}
	if errors.Is(err, errDamaged) && s.ours {
		resp, err = s.setAside(ctx, do)
	}
	resp, err = s.settle(ctx, resp, err)
	resp.File = from
	return resp, err
}

// Backup writes the stored policy to a file: to one that is not there yet, or for "" to
// the store's own place.
func (s *Store) Backup(ctx context.Context, to string) (snapshot.Response, error) {
	resp, err := s.Read(ctx)
	if err != nil {
		return resp, err
	}
	if !resp.Found {
		return resp, fault.New(fault.StoreFailed, "back up the policy", s.path, "there is no stored policy")
	}
	if to == "" {
		resp.File, err = s.backup(resp.Policy, policy.CurrentVersion)
		return resp, err
	}
	if err := writeNew(to, resp.Policy); err != nil {
		return resp, fault.Wrap(fault.StoreFailed, "back up the policy", to, err).WithHint("name a file that is not there yet")
	}
	resp.File = to
	return resp, nil
}

// Migrate brings the policy to the form of this version and says what that changed, or
// only what it would change.
func (s *Store) Migrate(ctx context.Context, dry bool) (snapshot.Response, error) {
	if !dry {
		return s.Read(ctx)
	}
	there, err := s.present()
	if err != nil || !there {
		return snapshot.Response{}, errors.Join(err, s.gone())
	}
	text, found, err := s.fetch(ctx)
	if err != nil || !found {
		return snapshot.Response{}, err
	}
	n, err := s.normalise(text)
	return snapshot.Response{Found: true, Policy: n.text, Log: n.done}, err
}

// edit is change, in a database that is made when it is missing; the snapshot follows.
func (s *Store) edit(ctx context.Context, how string, l lenience, f func(normalised, bool) (outcome, error)) (snapshot.Response, error) {
	if err := s.ensure(ctx, mustRead); err != nil {
		return snapshot.Response{}, err
	}
	resp, err := s.change(ctx, how, l, f)
	return s.settle(ctx, resp, err)
}

// settle renews the snapshot after a change.
func (s *Store) settle(ctx context.Context, resp snapshot.Response, err error) (snapshot.Response, error) {
	if err == nil {
		_, _ = s.Read(ctx) // without a snapshot the next run asks again
	}
	return resp, err
}

// written makes the outcome of a changed layer.
func written(l policy.Layer, log []policy.Migration) (outcome, error) {
	complete(&l)
	text, err := policy.MarshalStored(l)
	return outcome{layer: l, text: text, log: log}, err
}

// complete says what the built-in policy says, where silence would be read as what the
// program did before there was the field.
func complete(l *policy.Layer) {
	d := policy.Default()
	if l.AutoFallback == nil {
		l.AutoFallback = &d.AutoFallback
	}
	if l.Mode == nil {
		l.Mode = &d.Mode
	}
	if l.Version == nil {
		l.Version = &d.Version
	}
}

// nullable reads a column that may be NULL.
func nullable(v sql.NullString) []byte {
	if !v.Valid {
		return nil
	}
	return []byte(v.String)
}
