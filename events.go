package qsandbox

import "github.com/qiming-sandbox/qsandbox/internal/event"

// Event is one thing that happened in a run (OBS-01). Its fields are
//
//	Version int               // of the form
//	Time    time.Time
//	Name    EventName
//	Run     string            // the report's id
//	Backend string
//	Mode    string
//	Fields  map[string]string // what belongs to the name
//
// Values are never those of secrets: commands are named by their program,
// variables by their names.
type Event = event.Event

// EventName says what happened. Names never change once released.
type EventName = event.Name

// The events.
const (
	EventUnavailable     EventName = event.Unavailable // degraded to none: reason, remedy, backend, fallback
	EventRecovered       EventName = event.Recovered   // a sandbox again, after that: workspace
	EventExecuteStart    EventName = event.ExecuteStart
	EventExecuteComplete EventName = event.ExecuteComplete
	EventExecuteError    EventName = event.ExecuteError
	EventPolicyChanged   EventName = event.PolicyChanged // of the stored policy: how, field, old, new
	EventPolicyViolation EventName = event.PolicyViolation
	EventPermissiveUsed  EventName = event.PermissiveUsed
)
