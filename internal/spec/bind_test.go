//go:build unix

package spec_test

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// machine is the usual one: a workspace, a home with secrets, system directories.
func machine(more backendtest.Machine) backendtest.Machine {
	m := backendtest.Machine{
		"/usr/bin/tool": "!x", "/bin": "->usr/bin", "/usr/lib/lib.so": "x", "/etc/passwd": "x", "/opt/": "/", "/tmp/": "/", "/var/tmp/": "/",
		"/dev/null": "x", "/proc/": "/", "/run/docker.sock": "socket", "/srv/data/f": "x", "/srv/data/secret/k": "x",
		"/home/dev/ws/main.go": "x", "/home/dev/ws/sub/f": "x", "/home/dev/ws/run.sh": "!x", "/home/dev/.ssh/id": "x", "/home/dev/other/f": "x", "/home/dev/notes": "x",
		"/home/dev/ws/planted": "->/home/dev/.ssh", "/home/dev/ws/dangling": "->/nowhere",
	}
	out := backendtest.Machine{}
	for _, part := range []backendtest.Machine{m, more} {
		for k, v := range part {
			if k != "/" {
				k = strings.TrimSuffix(k, "/")
			}
			out[k] = v
		}
	}
	return out
}

func bind(t *testing.T, h host.Host, cmd spec.Command, edit func(*policy.Layer)) (*spec.Spec, error) {
	t.Helper()
	ws := "/home/dev/ws"
	l := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags}, Workspace: &ws}
	if edit != nil {
		edit(&l)
	}
	eff, err := policy.Merge(policy.BuiltIn(), l)
	if err != nil {
		t.Fatal(err)
	}
	if cmd.Argv == nil {
		cmd.Argv = []string{"tool"}
	}
	return spec.Bind(h, eff, cmd)
}

func writable(list ...string) func(*policy.Layer) {
	return func(l *policy.Layer) { l.Filesystem.Writable = &list }
}

func workspace(ws string) func(*policy.Layer) { return func(l *policy.Layer) { l.Workspace = &ws } }

func modeOf(m policy.Mode) func(*policy.Layer) { return func(l *policy.Layer) { l.Mode = &m } }

func TestBadInputIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		cmd  spec.Command
		edit func(*policy.Layer)
		want fault.Code
	}{
		"missing workspace":            {edit: workspace("/nowhere"), want: fault.PathInvalid},
		"workspace is a file":          {edit: workspace("/home/dev/notes"), want: fault.PathInvalid},
		"workspace is a dangling link": {edit: workspace("/home/dev/ws/dangling"), want: fault.PathInvalid},
		"workspace is /":               {edit: workspace("/"), want: fault.PathInvalid},
		"workspace is above home":      {edit: workspace("/home"), want: fault.PathInvalid},
		"cwd outside":                  {cmd: spec.Command{Cwd: "/home/dev/other"}, want: fault.PathOutsideWorkspace},
		"cwd by dots":                  {cmd: spec.Command{Cwd: "sub/../../other"}, want: fault.PathOutsideWorkspace},
		"cwd by a planted link":        {cmd: spec.Command{Cwd: "planted"}, want: fault.PathOutsideWorkspace},
		"cwd is a file":                {cmd: spec.Command{Cwd: "main.go"}, want: fault.PathInvalid},
		"cwd with NUL":                 {cmd: spec.Command{Cwd: "a\x00b"}, want: fault.PathInvalid},
		"writable /":                   {edit: writable("/"), want: fault.PathInvalid},
		"writable planted link":        {edit: writable("planted"), want: fault.PathInvalid},
		"writable below planted":       {edit: writable("planted/x"), want: fault.PathInvalid},
		"writable dangling link":       {edit: writable("dangling"), want: fault.PathInvalid},
		"no command":                   {cmd: spec.Command{Argv: []string{""}}, want: fault.UsageInvalid},
		"command with NUL":             {cmd: spec.Command{Argv: []string{"tool", "a\x00"}}, want: fault.UsageInvalid},
		"unknown command":              {cmd: spec.Command{Argv: []string{"nope"}}, want: fault.CommandNotFound},
		"command is not executable":    {cmd: spec.Command{Argv: []string{"./main.go"}}, want: fault.CommandNotExecutable},
		"command is a directory":       {cmd: spec.Command{Argv: []string{"./sub"}}, want: fault.CommandNotExecutable},
		"user without root":            {cmd: spec.Command{User: "other"}, want: fault.UsageInvalid},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := bind(t, machine(nil).Host(), c.cmd, c.edit)
			if fault.CodeOf(err) != c.want || s != nil {
				t.Errorf("error %v, want %s", err, c.want)
			}
		})
	}
}

// TestHungPathIsAnError: LNX-12.
func TestHungPathIsAnError(t *testing.T) {
	h := machine(nil).Host()
	h.Within = func(time.Duration, func() error) error { return os.ErrDeadlineExceeded }
	if _, err := bind(t, h, spec.Command{}, nil); fault.CodeOf(err) != fault.PathInvalid {
		t.Error(err)
	}
}

// TestForeignOwnerIsTold: LNX-08.
func TestForeignOwnerIsTold(t *testing.T) {
	h := machine(nil).Host()
	h.User = host.User{Name: "root", Home: "/root"}
	_, err := bind(t, h, spec.Command{}, nil)
	if err == nil || !strings.Contains(err.Error(), "--user 1000") {
		t.Error(err)
	}
}

// TestPlantedLinkNeverGrants: FS-09, for every list that grants.
func TestPlantedLinkNeverGrants(t *testing.T) {
	for name, edit := range map[string]func(*policy.Layer){
		"writable":              writable("planted"),
		"readable":              func(l *policy.Layer) { l.Filesystem.Readable = &[]string{"planted"} },
		"readable by a pattern": func(l *policy.Layer) { l.Filesystem.Readable = &[]string{"plant*"} },
		"readable below":        func(l *policy.Layer) { l.Filesystem.Readable = &[]string{"planted/id"} },
		"socket":                func(l *policy.Layer) { l.Network.UnixSockets = &[]string{"/home/dev/ws/sock"} },
	} {
		t.Run(name, func(t *testing.T) {
			s, err := bind(t, machine(backendtest.Machine{"/home/dev/ws/sock": "->/run/docker.sock"}).Host(), spec.Command{}, edit)
			if err != nil {
				return // refused is right too
			}
			for _, q := range []spec.Query{{Op: spec.OpRead, Path: "/home/dev/.ssh/id"}, {Op: spec.OpConnect, Host: "/run/docker.sock"}} {
				if v := spec.Decide(s, q); v.Allowed {
					t.Errorf("%+v is allowed by %s (%s)", q, v.Rule, v.Origin)
				}
			}
		})
	}
}

// TestCacheNeverFollowsAPlantedLink: VAR-04, the home directory is the workspace.
func TestCacheNeverFollowsAPlantedLink(t *testing.T) {
	root := "/home/dev/.cache/qsandbox/" + spec.CacheName("/home/dev")
	s, err := bind(t, machine(backendtest.Machine{root: "->/srv/data"}).Host(), spec.Command{}, workspace("/home/dev"))
	if err != nil {
		return
	}
	if v := spec.Decide(s, spec.Query{Op: spec.OpWrite, Path: "/srv/data/f"}); v.Allowed {
		t.Errorf("/srv/data is writable by %s (%s)", v.Rule, v.Origin)
	}
}

// TestCacheMakesNoHome: a home directory that is not there stays so. It would be root's,
// and every later run of the account it is meant for could not look into it.
func TestCacheMakesNoHome(t *testing.T) {
	for home, want := range map[string]string{"/home/dev": "/home/dev/.cache/qsandbox/" + spec.CacheName("/home/dev/ws"), "/nonexistent": "", "/home/dev/new": ""} {
		h := machine(nil).Host()
		h.Lookup = func(name string) (string, bool) {
			v, ok := map[string]string{"HOME": home}[name]
			return v, ok
		}
		s, err := bind(t, h, spec.Command{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.Cache != want {
			t.Errorf("home %s: the cache is %q, want %q", home, s.Cache, want)
		}
	}
}

// TestDeniedReadPathErrors: a path that cannot be looked at does not open.
func TestUnreadableHostIsNotOpen(t *testing.T) {
	h := machine(nil).Host()
	h.ReadDir = func(p string) ([]fs.DirEntry, error) {
		return nil, &fs.PathError{Op: "open", Path: p, Err: fs.ErrPermission}
	}
	h.Sockets = func() ([]string, error) { return nil, errors.New("no /proc") }
	s, err := bind(t, h, spec.Command{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if v := spec.Decide(s, spec.Query{Op: spec.OpRead, Path: "/home/dev/.ssh/id"}); v.Allowed {
		t.Error("credentials are readable")
	}
	if v := spec.Decide(s, spec.Query{Op: spec.OpConnect, Host: "/run/docker.sock"}); v.Allowed {
		t.Error("sockets in /run are reachable")
	}
}

// TestHomeAsWorkspaceIsTold: a person who starts it in the home directory opens all of it.
func TestHomeAsWorkspaceIsTold(t *testing.T) {
	for ws, told := range map[string]bool{"/home/dev": true, "/home/dev/ws": false, "/srv/data": false} {
		s, err := bind(t, machine(nil).Host(), spec.Command{}, workspace(ws))
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(s.Notices, func(n report.Notice) bool { return n.Kind == spec.HomeNotice }); got != told {
			t.Errorf("%s: told %v, %+v", ws, got, s.Notices)
		}
	}
}
