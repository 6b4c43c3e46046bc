package mcpserver

import (
	"fmt"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/report"
)

// outcome is the structured content of every answer. outputSchema describes it.
type outcome struct {
	Job        string    `json:"job,omitempty"`
	Running    bool      `json:"running"`
	ExitCode   *int      `json:"exit_code,omitempty"` // 128+n for signal n, 124 for a limit
	Signal     string    `json:"signal,omitempty"`
	Cause      string    `json:"cause,omitempty"`
	TimedOut   bool      `json:"timed_out"`
	Stdout     string    `json:"stdout"`
	Stderr     string    `json:"stderr"`
	Truncated  bool      `json:"truncated"`
	OmittedOut int64     `json:"stdout_omitted_bytes,omitempty"`
	OmittedErr int64     `json:"stderr_omitted_bytes,omitempty"`
	DurationMS int64     `json:"duration_ms"`
	Backend    string    `json:"backend,omitempty"`
	Mode       string    `json:"mode,omitempty"`
	Degraded   bool      `json:"degraded"`
	Run        string    `json:"run,omitempty"` // the id in the audit log
	Denials    []denial  `json:"denials"`
	DenialView string    `json:"denial_view,omitempty"`
	Notices    []notice  `json:"notices"`
	Jobs       []jobLine `json:"jobs,omitempty"`
	Error      *problem  `json:"error,omitempty"`

	rawOut, rawErr string // as they came, for the text
	status         string // what is said when there is no exit to tell of
	stopped        bool   // the caller wanted the end
}

type denial struct {
	Operation string `json:"operation"`
	Subject   string `json:"subject"`
	Rule      string `json:"rule"`
	Remedy    string `json:"remedy,omitempty"`
	Certain   bool   `json:"certain"`
}

type notice struct {
	Kind string `json:"kind"`
	Text string `json:"text"`
}

type jobLine struct {
	Job     string `json:"job"`
	State   string `json:"state"`
	Command string `json:"command"`
}

type problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
}

// outputSchema is made when it is asked for: a package must cost nothing at the start
// of a program that does not use it.
func outputSchema() map[string]any {
	str, num, yes := map[string]any{"type": "string"}, map[string]any{"type": "integer"}, map[string]any{"type": "boolean"}
	list := func(required []string, properties map[string]any) map[string]any {
		return map[string]any{"type": "array", "items": map[string]any{"type": "object", "properties": properties, "required": required}}
	}
	return map[string]any{
		"type": "object", "required": []string{"running", "timed_out", "stdout", "stderr", "truncated", "duration_ms", "degraded", "denials", "notices"},
		"properties": map[string]any{
			"job": str, "running": yes, "exit_code": num, "signal": str, "cause": str, "timed_out": yes, "stdout": str, "stderr": str, "truncated": yes,
			"stdout_omitted_bytes": num, "stderr_omitted_bytes": num, "duration_ms": num, "backend": str, "mode": str, "degraded": yes, "run": str, "denial_view": str,
			"denials": list([]string{"operation", "subject", "rule", "certain"}, map[string]any{"operation": str, "subject": str, "rule": str, "remedy": str, "certain": yes}),
			"notices": list([]string{"kind", "text"}, map[string]any{"kind": str, "text": str}),
			"jobs":    list([]string{"job", "state", "command"}, map[string]any{"job": str, "state": str, "command": str}),
			"error":   map[string]any{"type": "object", "properties": map[string]any{"code": str, "message": str}, "required": []string{"code", "message"}},
		},
	}
}

// failed is the outcome of what never ran.
func failed(err error) *outcome {
	return &outcome{Denials: []denial{}, Notices: []notice{}, Error: &problem{string(fault.CodeOf(err)), inline(err.Error())}}
}

// dropped is the outcome of a call that was cancelled before it had one. The peer reads
// it only where all calls are cancelled, at the end of the connection.
func dropped() *outcome {
	return &outcome{Denials: []denial{}, Notices: []notice{}, Cause: string(report.Cancelled), status: "cancelled: the server ends"}
}

// Bounds of what a report may add to an answer: a command can be refused things
// without end.
const (
	maxDenials = 50
	maxNotices = 20
	maxText    = 4096 // bytes of one subject or text
)

// outcome takes what there is of a command. rep is nil while it runs.
func (r *recording) outcome(rep *report.Report, err error, s stage) *outcome {
	o := &outcome{Denials: []denial{}, Notices: []notice{}, DurationMS: time.Since(r.began).Milliseconds()}
	o.rawOut, o.OmittedOut = r.stdout.take(s)
	o.rawErr, o.OmittedErr = r.stderr.take(s)
	o.Stdout, o.Stderr = valid(o.rawOut), valid(o.rawErr)
	o.Truncated = o.OmittedOut+o.OmittedErr > 0
	if err != nil {
		o.Error = &problem{string(fault.CodeOf(err)), inline(err.Error())}
	}
	if rep != nil {
		o.take(rep)
	}
	return o
}

// take copies what the report says. Everything in it that came from inside is made
// fit to be shown (OBS-05).
func (o *outcome) take(rep *report.Report) {
	o.Backend, o.Mode, o.Degraded, o.Run, o.DenialView, o.DurationMS = rep.Backend, rep.Mode, rep.Degraded, rep.ID, rep.DenialView, rep.DurationMS
	for _, d := range rep.Denials[:min(len(rep.Denials), maxDenials)] {
		o.Denials = append(o.Denials, denial{d.Operation, short(d.Subject), short(d.Rule), short(d.Remedy), d.Certain})
	}
	for _, n := range rep.Notices[:min(len(rep.Notices), maxNotices)] {
		o.Notices = append(o.Notices, notice{n.Kind, short(n.Text)})
	}
	if x := rep.Exit; x != nil {
		code := exitOf(x)
		o.ExitCode, o.Signal, o.Cause = &code, x.Signal, string(x.Cause)
		o.TimedOut = x.Cause == report.TimedOut
		o.Truncated = o.Truncated || x.Truncated
	}
}

func short(s string) string {
	if len(s) > maxText {
		s = s[:maxText] + "…"
	}
	return inline(s)
}

// result is the answer as MCP has it: text for the model, structured content for
// programs, and whether the model should take it for a failure.
func (o *outcome) result() map[string]any {
	content := []any{}
	if out := o.output(); out != "" {
		content = append(content, map[string]any{"type": "text", "text": out})
	}
	// SECURITY: what we say is a block of its own, so that output cannot pass for it.
	if says := o.remarks(); says != "" || len(content) == 0 {
		content = append(content, map[string]any{"type": "text", "text": strings.TrimRight(says, "\n")})
	}
	return map[string]any{"content": content, "structuredContent": o, "isError": o.bad()}
}

// bad tells whether something went wrong. What the caller stopped did not.
func (o *outcome) bad() bool {
	never := o.ExitCode == nil && o.Cause == string(report.Cancelled)
	return o.Error != nil || never || o.ExitCode != nil && *o.ExitCode != 0 && !o.stopped
}

// output is what the command wrote, fit to be shown.
func (o *outcome) output() string {
	out, errs := readable(o.rawOut), readable(o.rawErr)
	if errs == "" {
		return out
	}
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += "\n"
	}
	return out + "[stderr]\n" + errs
}

// remarks are what a reader must know besides the output, a line each.
func (o *outcome) remarks() string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, "["+format+"]\n", args...) }
	if o.status != "" {
		b.WriteString(o.status + "\n")
	}
	if o.Error != nil {
		say("%s: %s", o.Error.Code, o.Error.Message)
	}
	o.sayExit(say)
	if o.Truncated {
		say("output was cut; %d bytes of stdout and %d of stderr are left out", o.OmittedOut, o.OmittedErr)
	}
	o.sayDenials(say)
	for _, n := range o.Notices {
		if n.Kind == "degraded" || n.Kind == "none" || n.Kind == "permissive:used" {
			say("%s", n.Text)
		}
	}
	return b.String()
}

func (o *outcome) sayExit(say func(string, ...any)) {
	switch {
	case o.ExitCode == nil:
	case o.TimedOut:
		say("timed out after %d ms; exit code %d", o.DurationMS, *o.ExitCode)
	case o.stopped:
		say("stopped; exit code %d", *o.ExitCode)
	case o.Signal != "":
		say("ended by %s (%s); exit code %d", o.Signal, o.Cause, *o.ExitCode)
	case o.Cause != "" && o.Cause != string(report.Exited):
		say("ended: %s; exit code %d", o.Cause, *o.ExitCode)
	case *o.ExitCode != 0 || o.Stdout == "" && o.Stderr == "":
		say("exit code %d", *o.ExitCode)
	}
}

// maxGuesses is how many guesses the text shows; the structured content has more.
const maxGuesses = 5

// sayDenials tells what was refused. A guess is told when it may explain a failure.
func (o *outcome) sayDenials(say func(string, ...any)) {
	guesses := 0
	for _, d := range o.Denials {
		what := "was not allowed"
		if !d.Certain {
			what = "was likely denied by the sandbox"
			if guesses++; guesses > maxGuesses || o.ExitCode == nil || *o.ExitCode == 0 {
				continue
			}
		}
		remedy := ""
		if d.Remedy != "" {
			remedy = "; " + d.Remedy
		}
		say(`%s "%s" %s (rule: %s%s)`, d.Operation, strings.ReplaceAll(d.Subject, `"`, `\"`), what, d.Rule, remedy)
	}
}
