package helpercmd

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/report"
)

// Protocol is the version of the command line and its answers. It grows when something
// changes meaning; what is new has a capability of its own.
const Protocol = 1

// Result is what run prints: one JSON object (WIN-01). The first four fields are always
// there.
type Result struct {
	ExitCode int    `json:"exit_code"`
	Stdout   string `json:"stdout"`
	Stderr   string `json:"stderr"`
	TimedOut bool   `json:"timed_out"`

	StdoutBase64 string               `json:"stdout_base64,omitempty"` // the bytes, when they are no UTF-8
	StderrBase64 string               `json:"stderr_base64,omitempty"`
	Truncated    bool                 `json:"truncated,omitempty"` // --output cut something
	Error        *report.Failure      `json:"error,omitempty"`     // ours: the command did not run
	Enforcement  []report.Enforcement `json:"enforcement,omitempty"`
	Notices      []report.Notice      `json:"notices,omitempty"`
	Denials      []report.Denial      `json:"denials,omitempty"` // protected names that were planted, and where they are now
}

// SetOutput takes the streams; nothing of them is lost.
func (r *Result) SetOutput(stdout, stderr []byte) {
	r.Stdout, r.StdoutBase64 = streamOf(stdout)
	r.Stderr, r.StderrBase64 = streamOf(stderr)
}

func streamOf(b []byte) (text, raw string) {
	if utf8.Valid(b) {
		return string(b), ""
	}
	return strings.ToValidUTF8(string(b), "�"), base64.StdEncoding.EncodeToString(b)
}

// Fail makes the answer of an error of ours.
func Fail(err error) Result {
	return Result{ExitCode: ExitOf(err), Error: &report.Failure{Code: string(fault.CodeOf(err)), Message: err.Error()}}
}

// ExitOf gives the exit code of an error of ours: 126, 127, else 125.
func ExitOf(err error) int {
	switch fault.CodeOf(err) {
	case "":
		return 0
	case fault.CommandNotFound:
		return 127
	case fault.CommandNotExecutable:
		return 126
	}
	return 125
}

// ExitTimeout is the exit code of a command that the time limit ended.
const ExitTimeout = 124

// ParseResult reads what run printed.
func ParseResult(data []byte) (Result, error) {
	var r Result
	var must map[string]json.RawMessage
	if err := json.Unmarshal(data, &must); err != nil {
		return r, protocol("run", "it printed no JSON object")
	}
	for _, k := range []string{"exit_code", "stdout", "stderr", "timed_out"} {
		if must[k] == nil {
			return r, protocol("run", "its answer lacks "+k)
		}
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, protocol("run", err.Error())
	}
	return r, nil
}

// Capabilities are what this helper can do on Windows beyond the first one's command line.
var Capabilities = []string{"acl", "audit", "cpus", "deny-write", "memory", "output", "pass-env", "processes", "protected-caller", "report", "resize", "serve-write-restricted", "timeout", "tty"}

// windowsOnly are those that a helper elsewhere does not have: there qsandbox itself gives
// terminals.
var windowsOnly = []string{"resize", "tty"}

// CapabilitiesOf are those of a helper on a system (WIN-12).
func CapabilitiesOf(goos string) []string {
	if goos == "windows" {
		return Capabilities
	}
	return slices.DeleteFunc(slices.Clone(Capabilities), func(c string) bool { return slices.Contains(windowsOnly, c) })
}

// Version is what version --json prints (WIN-11).
type Version struct {
	Name         string   `json:"name"`
	Version      string   `json:"version"`
	Protocol     int      `json:"protocol"`
	Platform     string   `json:"platform"`
	Capabilities []string `json:"capabilities"`
}

// HelperName is the program's name, and the name field of its version.
const HelperName = "qiming-sandbox-helper"

// ParseVersion reads the answer of version --json and refuses a helper that this
// caller cannot use: another program, another protocol, or one that lacks a capability.
func ParseVersion(data []byte, need ...string) (Version, error) {
	var v Version
	if err := json.Unmarshal(data, &v); err != nil || v.Name != HelperName {
		return v, protocol("version", "it is not "+HelperName+", or one from before it told its version")
	}
	if v.Protocol != Protocol {
		return v, protocol("version", fmt.Sprintf("it speaks protocol %d, this program %d; install both from one release", v.Protocol, Protocol))
	}
	for _, n := range need {
		if !slices.Contains(v.Capabilities, n) {
			return v, protocol("version", "it is too old: it lacks "+n+"; install both from one release")
		}
	}
	return v, nil
}

func protocol(op, hint string) error {
	return fault.New(fault.HelperProtocol, "ask the helper for "+op, "", hint)
}
