package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/internal/store"
)

// The scripts in testdata/script read as the specification of the command line.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Setup: setup, Condition: condition, RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "refused": refused, "fifo": fifo, "field": field, "file": file, "madereport": madereport,
		},
	})
}

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"qsandbox": main, "qsandbox-store": func() { os.Exit(store.Serve(os.Stdin, os.Stdout)) }})
}

// setup gives every script a home and a workspace of its own, and stands in the
// workspace.
func setup(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, "home")
	env.Setenv("HOME", home)
	env.Setenv("USERPROFILE", home)
	env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, "state"))
	env.Setenv("XDG_DATA_HOME", filepath.Join(env.WorkDir, "data"))
	env.Setenv("LOCALAPPDATA", filepath.Join(env.WorkDir, "data")) // Windows
	env.Setenv("SECRET", "hunter2")
	env.Setenv("NO_COLOR", "")
	env.Cd = filepath.Join(env.WorkDir, "ws")
	return errors.Join(os.MkdirAll(home, 0o755), os.MkdirAll(env.Cd, 0o755))
}

var diagnosis = sync.OnceValues(func() (*qsandbox.Diagnosis, error) { return qsandbox.Doctor(context.Background()) })

// condition answers [root], and [linux-native] and the like for backends that can
// be used here. QSANDBOX_REQUIRE lists those that must be there: a script that
// would be skipped for lack of one fails instead.
func condition(cond string) (bool, error) {
	if cond == "root" {
		return os.Geteuid() == 0, nil
	}
	d, err := diagnosis()
	if err != nil {
		return false, err
	}
	if cond == "sandbox" {
		cond = d.Auto
	}
	for _, b := range d.Backends {
		if b.Name != cond {
			continue
		}
		if b.Answer != qsandbox.AnswerYes && slices.Contains(strings.Split(os.Getenv("QSANDBOX_REQUIRE"), ","), cond) {
			return false, fmt.Errorf("QSANDBOX_REQUIRE asks for %s, and it is not there: %s", cond, b.Reason)
		}
		return b.Answer == qsandbox.AnswerYes, nil
	}
	if cond == "" {
		return false, nil // auto finds nothing
	}
	return false, fmt.Errorf("unknown condition %q", cond)
}

// exits CODE COMMAND [ARG ...] runs a command and wants one exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [ARG ...]")
	}
	if got := code(ts.Exec(args[1], args[2:]...)); strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s\n%s%s", got, args[0], ts.ReadFile("stdout"), ts.ReadFile("stderr"))
	}
}

func code(err error) int {
	var e *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &e):
		return e.ExitCode()
	}
	return -1
}

// refused CODE EXIT [FLAG ...] [-- COMMAND ...] wants an error with a code and an
// exit code, soon, and without a trace: nothing was run and nothing was made.
// Without a command it is "touch ran".
func refused(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: refused CODE EXIT [FLAG ...] [-- COMMAND ...]")
	}
	flags := args[2:]
	if !slices.Contains(flags, "--") {
		flags = append(slices.Clone(flags), "--", "touch", "ran")
	}
	before, began := tree(ts), time.Now()
	exits(ts, false, append([]string{args[1], "qsandbox", "run", "--json"}, flags...))
	if d := time.Since(began); d > 20*time.Second {
		ts.Fatalf("it took %v", d)
	}
	var out outcome
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &out))
	if out.Error == nil || out.Error.Code != args[0] {
		ts.Fatalf("error %+v, want code %s", out.Error, args[0])
	}
	if want := "qsandbox: " + out.Error.Message + "\n"; ts.ReadFile("stderr") != want {
		ts.Fatalf("stderr %q, want one line %q", ts.ReadFile("stderr"), want)
	}
	if after := tree(ts); !slices.Equal(before, after) {
		ts.Fatalf("something was made:\nbefore %q\nafter  %q", before, after)
	}
}

// tree lists everything below $WORK, which holds workspace, home and state.
func tree(ts *testscript.TestScript) (names []string) {
	work := ts.Getenv("WORK")
	ts.Check(filepath.WalkDir(work, func(p string, d fs.DirEntry, err error) error {
		// The launcher's own audit log records a refused run, too: that is no trace of the command.
		if err == nil && d.IsDir() && (filepath.Base(p) == ".tmp" || p == filepath.Join(work, "state")) {
			return fs.SkipDir
		}
		names = append(names, p)
		return nil
	}))
	return names
}

// field NAME VALUE wants a value in the JSON object on stdout: "report.exit.code".
func field(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: field NAME VALUE")
	}
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
	for _, name := range strings.Split(args[0], ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[name]
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(at) {
				v = nil
				break
			}
			v = at[i]
		default:
			v = nil
		}
	}
	if got := fmt.Sprint(v); (got == args[1]) == neg {
		ts.Fatalf("%s is %q, want %q (negated: %v)", args[0], got, args[1], neg)
	}
}

// file NAME CONTENT makes a file. Both are read as Go strings, for bytes that a
// script cannot hold.
func file(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: file NAME CONTENT")
	}
	for i, a := range args {
		var err error
		args[i], err = strconv.Unquote(`"` + strings.ReplaceAll(a, `"`, `\"`) + `"`)
		ts.Check(err)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(args[1]), 0o644))
}
