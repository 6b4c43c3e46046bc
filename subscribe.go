package qsandbox

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/event"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
)

// EventQuery chooses events. The zero value is all of them.
type EventQuery struct {
	Names []EventName // none: every name
	Since time.Time   // zero: from the oldest that is kept
}

func (q EventQuery) wants(e Event) bool {
	return (len(q.Names) == 0 || slices.Contains(q.Names, e.Name)) && !e.Time.Before(q.Since)
}

// EventNames lists every event there is.
func EventNames() []EventName { return event.Names() }

// EventLine is an event as the audit log has it: one line of JSON that shows nothing on a
// terminal but itself. Errors: none for events that were read.
func EventLine(e Event) (string, error) { return event.Line(e) }

// Events gives the events of this account's audit log, of all programs that use it, oldest
// first. An error of f ends it and is given back. Errors: INTERNAL when the log cannot
// be read; a log that is not there is empty.
func Events(q EventQuery, f func(Event) error) error {
	return readEvents(q, f, func() error { return io.EOF })
}

// pause is how often a subscription looks for new events.
const pause = 150 * time.Millisecond

// Subscribe is Events that goes on with what comes, until ctx ends. That is no error.
func Subscribe(ctx context.Context, q EventQuery, f func(Event) error) error {
	return readEvents(q, f, func() error {
		select {
		case <-ctx.Done():
			return io.EOF
		case <-time.After(pause):
			return nil
		}
	})
}

// readEvents reads the log to its end; wait says whether to go on there.
func readEvents(q EventQuery, f func(Event) error, wait func() error) error {
	path := auditPath(host.Real())
	if path == "" {
		return fault.New(fault.Internal, opEvents, "", "the account has no home directory, and XDG_STATE_HOME is not set")
	}
	r, err := event.Read(path, event.Position{})
	if err != nil {
		return eventsFailed(path, err)
	}
	defer r.Close()
	for {
		e, err := r.Next()
		switch {
		case err == io.EOF:
			if wait() == io.EOF {
				return nil
			}
		case err != nil:
			return eventsFailed(path, err)
		case q.wants(e):
			if err := f(e); err != nil {
				return err
			}
		}
	}
}

const opEvents = "read events"

func eventsFailed(path string, err error) error {
	return fault.Wrap(fault.Internal, opEvents, path, err).WithHint("it must be a regular file that this account can read")
}

// auditPath is where the audit log of an account is; "" where it has no place for one.
func auditPath(h host.Host) string {
	if dir := spec.StateRoot(h); dir != "" {
		return filepath.Join(dir, AuditFile)
	}
	return ""
}
