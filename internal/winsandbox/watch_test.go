package winsandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/protect"
	"github.com/qiming-sandbox/qsandbox/report"
)

// TestWatch: what is planted between begin and end is moved and told, also when end never
// comes; it needs nothing of Windows.
func TestWatch(t *testing.T) {
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws, state := filepath.Join(base, "ws"), filepath.Join(base, "state")
	if err := errors.Join(os.Mkdir(ws, 0o755), os.Mkdir(state, 0o700)); err != nil {
		t.Fatal(err)
	}
	planted := filepath.Join(ws, ".mcp.json")
	plant := func() {
		if err := errors.Join(os.WriteFile(planted, []byte("{}"), 0o644), os.WriteFile(filepath.Join(ws, "main.go"), nil, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	check := func(o Outcome, when string) {
		t.Helper()
		if len(o.Denials) != 1 || o.Denials[0].Subject != planted || !strings.Contains(o.Denials[0].Remedy, "moved to "+state) {
			t.Errorf("%s: %+v %+v", when, o.Denials, o.Notices)
		}
		if _, err := os.Lstat(planted); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: it is still there: %v", when, err)
		}
		if _, err := os.Lstat(filepath.Join(ws, "main.go")); err != nil {
			t.Errorf("%s: %v", when, err)
		}
	}
	w := newWatch(host.Real(), state, 1)
	w.found = protect.Scan(w.h, []string{ws}, nil, nil, protect.Limits{})
	if err := w.begin(ws); err != nil {
		t.Fatal(err)
	}
	plant()
	var alive Outcome
	newWatch(host.Real(), state, 2).recover(&alive)
	if len(alive.Denials) != 0 {
		t.Errorf("a run that goes on was looked at: %+v", alive.Denials)
	}
	var o Outcome
	if err := w.end(&o); err != nil {
		t.Error(err)
	}
	check(o, "end")
	if left, _ := filepath.Glob(filepath.Join(state, "journal", "*")); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	if err := (&watch{}).end(&o); err != nil {
		t.Errorf("a watch that never began: %v", err)
	}
}

// TestRowOfNewNames: what is said is what is done.
func TestRowOfNewNames(t *testing.T) {
	for _, c := range []struct {
		r    Request
		want report.Level
	}{
		{Request{}, report.Detected},
		{Request{Restriction: Unrestricted}, report.Advisory},
		{Request{NewNames: NewNamesCallers}, report.Advisory},
		{Request{NewNames: NewNamesLeft}, report.None},
		{Request{ReadOnly: true}, ""},
	} {
		var o Outcome
		o.rowOfNewNames(c.r)
		got := report.Level("")
		for _, r := range o.Rows {
			got = r.Level
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.r, got, c.want)
		}
	}
}
