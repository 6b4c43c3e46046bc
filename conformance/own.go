package conformance

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/conformance/probe"
	"github.com/qiming-sandbox/qsandbox/conformance/results"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// All other cases have their own policies, so that a report means the same everywhere.
// These few are about what run, mcp and acp would use for this account: its stored
// policy, or the built-in one (POL-13). What explain says of real paths is compared with
// what happens to them inside.

// own tells whether a case is about the account's own policy.
func (c *Case) own() bool { return strings.HasPrefix(c.Driver, "own-") }

// own is one run with the account's own policy, and what was found. All cases share it.
type own struct {
	mode     string
	stored   bool // else the built-in policy holds
	off      bool // the policy switches the sandbox off
	err      error
	report   *report.Report
	events   []results.Event
	told     []string // what layers have to tell, as of a migration
	tried    int
	unsure   int
	untried  int // paths that are not there or that the account itself may not open, and patterns that name no file
	leaks    []finding
	shut     []finding
	took     time.Duration
	reads    int // of tried, those that must be denied
	writes   int
	patterns int // of the policy's own, of which files were tried
}

// finding is a path of which explain and the kernel do not say the same.
type finding struct {
	wish
	rule, why string
}

func (f finding) String() string {
	verb := map[bool]string{true: "write", false: "read"}[f.write]
	return fmt.Sprintf("%s %s (%s; inside: %s)", verb, f.shown, f.rule, f.why)
}

// lookAtOwn makes the run. It comes before anything changes the environment that says
// where the account's policy, home and files are.
func (v *verifying) lookAtOwn(ctx context.Context) *own {
	o := &own{mode: policy.Compat.String()}
	began := time.Now()
	defer func() { o.took = time.Since(began) }()
	ws := filepath.Join(v.base, "own", "ws")
	if o.err = write(filepath.Join(ws, "own.txt"), "own\n"); o.err != nil {
		return o
	}
	flags := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags}, Workspace: &ws}
	flags.Filesystem.Readable = &[]string{v.bin}
	var layers []policy.Layer
	if layers, o.err = qsandbox.Layers("", ws, flags); o.err != nil {
		return o
	}
	// What is recorded and cached of the run is thrown away: it is nobody's work. A
	// migration of the store, above, is recorded where it belongs.
	for _, k := range []string{"XDG_STATE_HOME", "XDG_CACHE_HOME"} {
		was, had := os.LookupEnv(k)
		os.Setenv(k, filepath.Join(v.base, "own", k))
		defer func() {
			if os.Setenv(k, was); !had {
				os.Unsetenv(k)
			}
		}()
	}
	eff, err := policy.Merge(append([]policy.Layer{policy.BuiltIn()}, layers...)...)
	if o.err = err; err != nil {
		return o
	}
	o.mode, o.off = eff.Policy.Mode.String(), !eff.Policy.Enabled
	for _, l := range layers {
		o.stored = o.stored || l.Origin.Kind == policy.OriginStored
		o.told = append(o.told, l.Remarks...)
	}
	if o.off { // nothing is promised, so nothing is tried
		return o
	}
	wishes := v.wishes(eff.Policy, ws, o)
	o.err = o.compare(ctx, v.program, layers, wishes)
	return o
}

// compare asks explain, has the sandbox try everything in one run, and compares.
func (o *own) compare(ctx context.Context, program string, layers []policy.Layer, wishes []wish) error {
	var orders []probe.Order
	var questions []qsandbox.Question
	for _, w := range wishes {
		orders = append(orders, probe.Order{Path: []byte(w.path), Write: w.write, Dir: w.dir})
		questions = append(questions, qsandbox.Question{Operation: w.operation(), Target: w.path})
	}
	in, err := json.Marshal(orders)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	var msg bounded
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	req := qsandbox.Request{Layers: layers, Command: []string{program, "probe", probe.ReachName}, Stdin: bytes.NewReader(in), Stdout: &out, Stderr: &msg,
		Events: func(e qsandbox.Event) {
			o.events = append(o.events, results.Event{Name: string(e.Name), Reason: e.Fields["reason"]})
		}}
	verdicts, err := qsandbox.ExplainAll(req, questions)
	if err != nil {
		return err
	}
	if o.report, err = qsandbox.Run(ctx, req); err != nil {
		return err
	}
	var answers []probe.Reached
	if err := json.Unmarshal(out.Bytes(), &answers); err != nil || len(answers) != len(wishes) {
		return fmt.Errorf("the command inside gave %d bytes (exit %d): %s", out.Len(), o.report.Exit.Code, lastLine(msg.String(), "nothing on stderr"))
	}
	for i, w := range wishes {
		o.judge(w, verdicts[i], answers[i])
	}
	return nil
}

func (o *own) judge(w wish, v qsandbox.Verdict, r probe.Reached) {
	reached := r.OK && r.Dev == w.dev && r.Ino == w.ino
	switch {
	case r.Unsure:
		o.unsure++
		return
	case v.Allowed && strings.HasPrefix(v.Rule, "private "): // /tmp: another one is there
		o.untried++
		return
	case v.Allowed && !reached && !w.sure: // the file's own permissions count, too
		o.untried++
		return
	}
	o.tried++
	switch {
	case !v.Allowed && w.write:
		o.writes++
	case !v.Allowed:
		o.reads++
	}
	f := finding{wish: w, rule: v.Rule, why: "it can"}
	if reached && !v.Allowed {
		o.leaks = append(o.leaks, f)
	}
	if !reached && v.Allowed {
		if f.why = r.Err; r.OK {
			f.why = "something else is there"
		}
		o.shut = append(o.shut, f)
	}
}

// ownItems are the items about the account's own policy.
func (v *verifying) ownItems() (out []*item) {
	for _, it := range v.items {
		if it.skip == "" && it.c.own() && v.words == nil {
			out = append(out, it)
		}
	}
	return out
}

// tryOwn makes the records of these cases: as the account that this is, and no other.
func (v *verifying) tryOwn() {
	who := AsUser
	if v.h.User.UID == 0 {
		who = AsRoot
	}
	for _, it := range v.ownItems() {
		run := results.Run{As: string(who), Steps: []results.Step{}}
		if !slices.Contains(v.identities(), who) {
			v.keep(it, skipped(run, "it is about the account that started this, which was not asked for"))
			continue
		}
		o := v.own()
		verdict := o.verdict(it.c.Driver)
		run.Status, run.Notes, run.Leak, run.Events, run.DurationMS = verdict.status, verdict.notes, verdict.leak, o.events, o.took.Milliseconds()
		if o.report != nil {
			run.Resolved, run.Degraded, run.Reason = o.report.Backend, o.report.Degraded, o.report.Reason
			run.ExitCode = &o.report.Exit.Code
		}
		run.Steps = append(run.Steps, results.Step{Name: "driver " + it.c.Driver, Where: "inside", Script: "probe " + probe.ReachName, Output: o.summary()})
		v.keep(it, run)
	}
}
