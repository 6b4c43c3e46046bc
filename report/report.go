// Package report is step 5 of 5: what was enforced and what happened.
//
// A Report is plain data with a versioned JSON form. This package does no I/O.
package report

import "time"

// Version is the version of the JSON form. It grows when a field changes meaning.
const Version = 1

// Report says what one run was allowed, how each requirement was kept, and what happened.
type Report struct {
	Version     int           `json:"version"`
	ID          string        `json:"id"` // unique per run
	Started     time.Time     `json:"started"`
	DurationMS  int64         `json:"duration_ms"`
	Platform    string        `json:"platform"` // GOOS/GOARCH
	Kernel      string        `json:"kernel,omitempty"`
	Backend     string        `json:"backend"` // resolved: linux-native, linux-bwrap, none …
	Mode        string        `json:"mode"`
	Degraded    bool          `json:"degraded"`
	Reason      string        `json:"reason,omitempty"` // why degraded
	Trace       []Trace       `json:"trace"`            // how the backend was chosen
	Command     []string      `json:"command"`
	Workspace   string        `json:"workspace"`
	Cwd         string        `json:"cwd"`
	Cache       string        `json:"cache,omitempty"` // the private cache that tools were pointed to (VAR-04)
	Enforcement []Enforcement `json:"enforcement"`
	Notices     []Notice      `json:"notices"`
	Denials     []Denial      `json:"denials"`
	DenialView  string        `json:"denial_view"` // what could be seen: "" none, or a description (OBS-04)
	Exit        *Exit         `json:"exit,omitempty"`
	Error       *Failure      `json:"error,omitempty"`
}

// Level says how well a requirement is kept.
type Level string

// The levels, from best to worst.
const (
	Enforced Level = "enforced" // by the kernel or an equal authority; a test shows it
	Detected Level = "detected" // not prevented; found and undone afterwards, and reported
	Modelled Level = "modelled" // computed by our model of a platform that was not at hand
	Advisory Level = "advisory" // asked for, but the command can go round it
	None     Level = "none"     // not kept at all
)

// Enforcement is one row: how a requirement is kept in this run.
type Enforcement struct {
	Requirement string `json:"requirement"` // id in the requirements, e.g. "FS-01"
	Mechanism   string `json:"mechanism"`   // what keeps it, e.g. "mount namespace"
	Level       Level  `json:"level"`
	Why         string `json:"why,omitempty"` // for any level below enforced
}

// Trace is one step of choosing a backend.
type Trace struct {
	Backend string `json:"backend"`
	Answer  string `json:"answer"` // available | unavailable | could-not-tell | chosen
	Reason  string `json:"reason,omitempty"`
	Remedy  string `json:"remedy,omitempty"`
}

// Notice is a remark for people: a variable that was dropped, a mode that is weak.
type Notice struct {
	Kind string `json:"kind"` // e.g. "env:dropped", "permissive:used", "degraded"
	Text string `json:"text"`
}

// Denial is one thing the sandbox refused.
type Denial struct {
	Operation string `json:"operation"` // read | write | exec | connect
	Subject   string `json:"subject"`   // path or host
	Rule      string `json:"rule"`
	Remedy    string `json:"remedy,omitempty"`
	Certain   bool   `json:"certain"` // false: a guess from the command's own messages
}

// Cause says what ended the command.
type Cause string

// The causes.
const (
	Exited      Cause = "exited"    // it ended by itself
	Signaled    Cause = "signaled"  // a signal ended it
	TimedOut    Cause = "timeout"   // the wall-time limit
	Cancelled   Cause = "cancelled" // the caller's context or a signal to the launcher
	MemoryLimit Cause = "memory-limit"
	CPULimit    Cause = "cpu-limit"
)

// Exit is how the command ended.
type Exit struct {
	Code      int    `json:"code"`             // exit code, or 128+signal
	Signal    string `json:"signal,omitempty"` // "SIGKILL" …
	Cause     Cause  `json:"cause"`
	Truncated bool   `json:"truncated"` // the output limit cut something
	MaxRSSKiB int64  `json:"max_rss_kib,omitempty"`
	UserMS    int64  `json:"user_ms"`
	SystemMS  int64  `json:"system_ms"`
}

// Failure is a product error in the report, so that --report tells ours from a child's.
type Failure struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// Below gives the rows that are weaker than enforced.
func Below(rows []Enforcement) []Enforcement {
	var out []Enforcement
	for _, r := range rows {
		if r.Level != Enforced {
			out = append(out, r)
		}
	}
	return out
}
