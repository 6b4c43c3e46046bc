package qsandbox_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// place is a workspace and a state directory of a test's own, where a sandbox hides neither.
func place(t *testing.T) (workspace, state string) {
	t.Helper()
	base, err := os.MkdirTemp("/var", "qsandbox-audit-")
	if err != nil {
		base, err = os.MkdirTemp(os.Getenv("HOME"), "qsandbox-audit-")
	}
	if err != nil {
		t.Skip("no directory outside /tmp can be made: ", err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	workspace, state = filepath.Join(base, "ws"), filepath.Join(base, "state")
	if err := os.Mkdir(workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_STATE_HOME", state)
	return workspace, state
}

func layer(workspace string, set func(*policy.Layer)) []policy.Layer {
	l := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags}, Workspace: &workspace}
	if set != nil {
		set(&l)
	}
	return []policy.Layer{l}
}

func schema(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile("docs/schema/" + name + ".schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, r io.Reader) {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(v); err != nil {
		t.Errorf("%v\n%v", err, v)
	}
}

// audited gives the names of the events in the log, each of which must fit the schema.
func audited(t *testing.T, state string) (names []string, text string) {
	t.Helper()
	s := schema(t, "event")
	data, err := os.ReadFile(filepath.Join(state, "qsandbox", qsandbox.AuditFile))
	if err != nil {
		t.Fatal(err)
	}
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		validate(t, s, bytes.NewReader(lines.Bytes()))
		var e struct{ Event string }
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		names = append(names, e.Event)
	}
	return names, string(data)
}

// needSandbox skips where none can be built, and fails there when one should be.
func needSandbox(t *testing.T, err error) {
	t.Helper()
	if errors.Is(err, fault.ErrSandboxUnavailable) && os.Getenv("QSANDBOX_REQUIRE") == "" {
		t.Skip("no sandbox can be built here: ", err)
	}
}

// Reports of real runs fit the published schema, and every run is in the audit log
// with nothing that may be secret.
func TestRealReportsAndEvents(t *testing.T) {
	workspace, state := place(t)
	s := schema(t, "report")
	second := 200 * time.Millisecond
	none, permissive, strict := policy.None, policy.Permissive, policy.Strict
	for _, c := range []struct {
		name string
		req  qsandbox.Request
		code fault.Code
	}{
		{"true", qsandbox.Request{Layers: layer(workspace, nil), Command: []string{"true"}}, ""},
		{"strict", qsandbox.Request{Layers: layer(workspace, func(l *policy.Layer) { l.Mode = &strict }), Command: []string{"true"}}, ""},
		{"denied", qsandbox.Request{Layers: layer(workspace, nil), Command: []string{"touch", "/usr/made"}}, ""},
		{"signal", qsandbox.Request{Layers: layer(workspace, nil), Command: []string{"sh", "-c", "kill -KILL $$"}}, ""},
		{"timeout", qsandbox.Request{Layers: layer(workspace, func(l *policy.Layer) { l.Limits.Timeout = &second }), Command: []string{"sleep", "9"}}, ""},
		{"secret", qsandbox.Request{Layers: layer(workspace, nil), Command: []string{"sh", "-c", ": hunter2"}, Env: map[string]string{"TOKEN": "hunter2"}}, ""},
		{"planted", qsandbox.Request{Layers: layer(workspace, nil), Command: []string{"sh", "-c", "echo {} > .mcp.json"}}, ""},
		{"no sandbox", qsandbox.Request{Layers: layer(workspace, func(l *policy.Layer) { l.Backend = &none }), Command: []string{"true"}}, ""},
		{"permissive", qsandbox.Request{Layers: layer(workspace, func(l *policy.Layer) { l.Mode = &permissive }), Command: []string{"true"}}, ""},
		{"not found", qsandbox.Request{Layers: layer(workspace, nil), Command: []string{"no-such-command"}}, fault.CommandNotFound},
		{"refused", qsandbox.Request{Layers: layer(workspace+"/none", nil), Command: []string{"true"}}, fault.PathInvalid},
	} {
		rep, err := qsandbox.Run(context.Background(), c.req)
		needSandbox(t, err)
		if fault.CodeOf(err) != c.code {
			t.Errorf("%s: %v", c.name, err)
		}
		data, err := json.Marshal(rep)
		if err != nil {
			t.Fatal(err)
		}
		validate(t, s, bytes.NewReader(data))
		if c.name == "denied" && (len(rep.Denials) != 1 || rep.Denials[0].Certain || rep.DenialView == "") {
			t.Errorf("denials %+v, view %q", rep.Denials, rep.DenialView)
		}
		if c.name == "no sandbox" && rep.DenialView != "" {
			t.Errorf("without a sandbox the view is %q", rep.DenialView)
		}
	}
	names, text := audited(t, state)
	for name, want := range map[string]int{"execute:start": 9, "execute:complete": 9, "execute:error": 2, "permissive:used": 1, "policy:violation": 1} {
		got := len(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n != name }))
		if got != want {
			t.Errorf("%d of %s, want %d: %q", got, name, want, names)
		}
	}
	if i := slices.Index(names, "permissive:used"); i < 0 || names[i+1] != "execute:start" {
		t.Errorf("permissive is not recorded before the command starts: %q", names)
	}
	if strings.Contains(text, "hunter2") {
		t.Error("the log has an argument or the value of a variable")
	}
}

// A log that cannot be written is told of in the report; a permissive run, which has
// nothing but the record, is refused (POL-08).
func TestLogThatCannotBeWritten(t *testing.T) {
	workspace, state := place(t)
	if err := os.MkdirAll(filepath.Join(state, "qsandbox", qsandbox.AuditFile), 0o700); err != nil {
		t.Fatal(err) // a directory stands where the log should
	}
	rep, err := qsandbox.Run(context.Background(), qsandbox.Request{Layers: layer(workspace, nil), Command: []string{"true"}})
	needSandbox(t, err)
	if err != nil || !slices.ContainsFunc(rep.Notices, func(n report.Notice) bool { return n.Kind == "audit:failed" }) {
		t.Errorf("%v, notices %+v", err, rep.Notices)
	}
	permissive := policy.Permissive
	rep, err = qsandbox.Run(context.Background(), qsandbox.Request{
		Layers:  layer(workspace, func(l *policy.Layer) { l.Mode = &permissive }),
		Command: []string{"touch", filepath.Join(workspace, "ran")},
	})
	if fault.CodeOf(err) != fault.PolicyUnenforceable {
		t.Errorf("permissive without a record: %v, exit %+v", err, rep.Exit)
	}
	if _, err := os.Lstat(filepath.Join(workspace, "ran")); err == nil {
		t.Error("it ran")
	}
}

// To plan and to explain is no run.
func TestPlansAreNotAudited(t *testing.T) {
	workspace, state := place(t)
	req := qsandbox.Request{Layers: layer(workspace, nil), Command: []string{"true"}}
	_, _ = qsandbox.PlanFor(context.Background(), req, qsandbox.PlanOptions{})
	_, _ = qsandbox.Explain(req, qsandbox.OpRead, "/etc/passwd")
	if _, err := os.Lstat(state); err == nil {
		t.Error("the state directory was made")
	}
}
