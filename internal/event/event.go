// Package event is the stream of what happens: one schema on all systems
// (OBS-01), and an audit log of it.
package event

import (
	"time"
)

// Name is the name of an event. Names never change once released.
type Name string

// The events.
const (
	Unavailable     Name = "sandbox:unavailable" // degraded to none: reason, remedy, backend, fallback
	Recovered       Name = "sandbox:recovered"   // a sandbox again, after that: workspace
	ExecuteStart    Name = "execute:start"
	ExecuteComplete Name = "execute:complete"
	ExecuteError    Name = "execute:error"
	PolicyChanged   Name = "policy:changed" // of the stored policy: how, field, old, new
	PolicyViolation Name = "policy:violation"
	PermissiveUsed  Name = "permissive:used"
)

// Event is one thing that happened. Values are never those of secrets: commands
// are named by their program, variables by their names.
type Event struct {
	Version int               `json:"version"`
	Time    time.Time         `json:"time"`
	Name    Name              `json:"event"`
	Run     string            `json:"run,omitempty"` // the report's id
	Backend string            `json:"backend,omitempty"`
	Mode    string            `json:"mode,omitempty"`
	Fields  map[string]string `json:"fields,omitempty"`
}

// Sink takes events. It must not block for long.
type Sink func(Event)

// Fan gives a sink that passes every event to all of the sinks that are not nil.
func Fan(sinks ...Sink) Sink {
	return func(e Event) {
		for _, s := range sinks {
			if s != nil {
				s(e)
			}
		}
	}
}
