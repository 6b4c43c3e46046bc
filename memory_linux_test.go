package qsandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// TestDegradationIsTold: a declared fallback runs the command, with the event once per
// resolution; with the sandbox back there is sandbox:recovered, once; and strict, manual
// and, in a session that was sandboxed, startup-only are errors (POL-05, POL-06).
func TestDegradationIsTold(t *testing.T) {
	workspace, state := place(t)
	absent := policy.MacosSeatbelt // a firm no on this system
	run := func(m *qsandbox.Memory, b *policy.Backend, f policy.AutoFallback, mode policy.Mode) (names []string, err error) {
		req := qsandbox.Request{Command: []string{"true"}, Memory: m,
			Layers: layer(workspace, func(l *policy.Layer) { l.Backend, l.AutoFallback, l.Mode = b, &f, &mode })}
		req.Events = func(e qsandbox.Event) { names = append(names, string(e.Name)) }
		rep, err := qsandbox.Run(context.Background(), req)
		if err == nil && rep.Degraded != (b != nil) {
			t.Errorf("degraded %v", rep.Degraded)
		}
		return names, err
	}
	count := func(names []string, name string) int {
		return len(slices.DeleteFunc(slices.Clone(names), func(n string) bool { return n != name }))
	}
	if _, err := run(nil, nil, policy.Manual, policy.Compat); err != nil {
		needSandbox(t, err)
		t.Fatal(err)
	}
	for _, f := range []policy.AutoFallback{policy.StartupOnly, policy.Session} {
		m := &qsandbox.Memory{}
		for range 2 { // each run of a session is a resolution
			names, err := run(m, &absent, f, policy.Compat)
			if err != nil || count(names, "sandbox:unavailable") != 1 || count(names, "sandbox:recovered") != 0 {
				t.Fatalf("%v: %v %v", f, names, err)
			}
		}
		names, err := run(m, nil, f, policy.Compat)
		if err != nil || count(names, "sandbox:recovered") != 1 || count(names, "sandbox:unavailable") != 0 {
			t.Fatalf("%v, sandbox back: %v %v", f, names, err)
		}
		if names, _ = run(m, nil, f, policy.Compat); count(names, "sandbox:recovered") != 0 {
			t.Errorf("%v: recovered twice", f)
		}
		// Now the session has run sandboxed.
		names, err = run(m, &absent, f, policy.Compat)
		if lost := errors.Is(err, fault.ErrSandboxUnavailable); lost != (f == policy.StartupOnly) || lost == (count(names, "sandbox:unavailable") == 1) {
			t.Errorf("%v, sandbox lost: %v %v", f, names, err)
		}
		if _, err := run(m, &absent, f, policy.Strict); !errors.Is(err, fault.ErrSandboxUnavailable) {
			t.Errorf("%v strict: %v", f, err)
		}
	}
	if _, err := run(nil, &absent, policy.Manual, policy.Compat); !errors.Is(err, fault.ErrSandboxUnavailable) {
		t.Errorf("manual: %v", err)
	}
	// Across processes, too: the last session above ended degraded.
	if names, err := run(nil, nil, policy.Manual, policy.Compat); err != nil || count(names, "sandbox:recovered") != 1 {
		t.Errorf("%v %v", names, err)
	}
	if _, text := audited(t, state); strings.Count(text, "sandbox:unavailable") != 5 || strings.Count(text, "sandbox:recovered") != 3 {
		t.Errorf("%s", text)
	}
}

// TestPlacesOfASession: what replaces a workspace by a link while a session goes on does
// not choose where its later commands write (FS-09); a run by itself follows the link, as
// its user might mean it, and with the folder back the session goes on.
func TestPlacesOfASession(t *testing.T) {
	workspace, _ := place(t)
	elsewhere, aside := filepath.Join(filepath.Dir(workspace), "elsewhere"), workspace+".aside"
	if err := os.Mkdir(elsewhere, 0o700); err != nil {
		t.Fatal(err)
	}
	m := &qsandbox.Memory{}
	run := func(m *qsandbox.Memory, name string) error {
		rep, err := qsandbox.Run(context.Background(), qsandbox.Request{Command: []string{"touch", name}, Memory: m, Layers: layer(workspace, nil)})
		if err == nil && rep.Exit.Code != 0 {
			t.Errorf("touch %s: code %d", name, rep.Exit.Code)
		}
		return err
	}
	if _, err := qsandbox.PlanFor(context.Background(), qsandbox.Request{Command: []string{"true"}, Memory: m, Layers: layer(workspace, nil)}, qsandbox.PlanOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(workspace, aside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, workspace); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond) // a fresh link would not be followed by anybody
	if err := run(nil, "twin"); err != nil {
		needSandbox(t, err)
		t.Fatal(err)
	}
	if err := run(m, "hole"); !errors.Is(err, fault.ErrPathInvalid) || !strings.Contains(err.Error(), elsewhere) {
		t.Errorf("the workspace became a link: %v", err)
	}
	ask := func(m *qsandbox.Memory) error {
		_, err := qsandbox.Explain(qsandbox.Request{Memory: m, Layers: layer(workspace, nil)}, qsandbox.OpWrite, filepath.Join(workspace, "x"))
		return err
	}
	if err := ask(nil); err != nil {
		t.Errorf("asked by itself: %v", err)
	}
	if err := ask(m); !errors.Is(err, fault.ErrPathInvalid) {
		t.Errorf("asked in the session: %v", err)
	}
	if list, err := os.ReadDir(elsewhere); err != nil || len(list) != 1 || list[0].Name() != "twin" {
		t.Errorf("%v %v", list, err)
	}
	if err := errors.Join(os.Remove(workspace), os.Rename(aside, workspace)); err != nil {
		t.Fatal(err)
	}
	if err := run(m, "back"); err != nil {
		t.Errorf("the folder is back: %v", err)
	}
}
