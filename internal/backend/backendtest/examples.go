package backendtest

import (
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// Example is a spec with a name, for golden plans.
type Example struct {
	Name string
	Spec *spec.Spec
}

// Examples are specs on a machine that does not exist: nothing in them comes
// from the host that runs the test.
func Examples() []Example {
	out := []Example{
		{"compat", example(policy.Compat)},
		{"strict", example(policy.Strict)},
		{"permissive", example(policy.Permissive)},
		{"network-on", example(policy.Compat)},
		{"root", example(policy.Compat)},
		{"root-as-user", example(policy.Compat)},
		{"limits", example(policy.Compat)},
		{"limits-cgroup", example(policy.Compat)},
		{"old-kernel", example(policy.Compat)},
		{"old-kernel-strict", example(policy.Strict)},
		{"nested-rules", example(policy.Compat)},
		{"terminal", example(policy.Compat)},
		{"odd-names", example(policy.Compat)},
	}
	for _, e := range out {
		if edit := edits[e.Name]; edit != nil {
			edit(e.Spec)
		}
	}
	return out
}

var edits = map[string]func(*spec.Spec){
	"network-on": func(s *spec.Spec) { s.Policy.Network.Mode = policy.NetworkOn },
	"root":       asRootUser,
	"root-as-user": func(s *spec.Spec) {
		asRootUser(s)
		s.User = spec.Identity{UID: 1000, GID: 1000, Groups: []int{4, 1000}, Name: "dev", Home: "/home/dev", Shell: "/bin/sh", Switch: true}
	},
	"limits": func(s *spec.Spec) {
		s.Policy.Limits = policy.Limits{Timeout: time.Minute, Grace: time.Second, Memory: 1 << 30, Processes: 64, CPUs: 1.5, Output: 1 << 20, Tmp: 1 << 20}
	},
	"limits-cgroup": func(s *spec.Spec) {
		s.Policy.Limits = policy.Limits{Memory: 1 << 30, Processes: 64, CPUs: 1.5}
		s.Cgroup = host.CgroupState{Version: 2, Dirs: map[string]string{"memory": "/sys/fs/cgroup/u", "pids": "/sys/fs/cgroup/u", "cpu": "/sys/fs/cgroup/u"}}
	},
	"old-kernel":        onOldKernel,
	"old-kernel-strict": onOldKernel,
	"nested-rules": func(s *spec.Spec) {
		add(s, spec.Rule{Path: "/data", Access: spec.Deny, Kind: spec.Dir}, spec.Rule{Path: "/data/open", Access: spec.Read, Kind: spec.Dir},
			spec.Rule{Path: "/data/open/rw", Access: spec.Write, Kind: spec.Dir}, spec.Rule{Path: "/data/open/rw/key", Access: spec.Deny, Kind: spec.File},
			spec.Rule{Path: "/data/open/rw/same", Access: spec.Write, Kind: spec.Dir}, spec.Rule{Path: "/tmp/shared", Access: spec.Write, Kind: spec.Dir},
			spec.Rule{Path: "/new", Access: spec.Write, Create: true})
	},
	"terminal": func(s *spec.Spec) { s.TTY, s.Stdin = true, spec.StdinPipe },
	"odd-names": func(s *spec.Spec) {
		add(s, spec.Rule{Path: "/data/--bind / /", Access: spec.Write, Kind: spec.Dir}, spec.Rule{Path: "/data/a b\n'\"", Access: spec.Deny, Kind: spec.File}, spec.Rule{Path: "/data/\xff", Access: spec.Write, Kind: spec.Dir})
	},
}

func asRootUser(s *spec.Spec) {
	s.Launcher = host.User{Name: "root", Home: "/root", Shell: "/bin/sh"}
	s.User = spec.Identity{Name: "root", Home: "/root", Shell: "/bin/sh"}
	s.Kernel.IDMap, s.Kernel.GIDMap = []host.IDRange{{Size: 65536}}, []host.IDRange{{Size: 65536}}
}

func onOldKernel(s *spec.Spec) {
	s.Kernel = host.Kernel{Release: "5.10.0", Seccomp: true, LandlockWhy: "not built into this kernel", UserNS: host.Yes}
}

// add adds rules in their order, with identities made up from their number.
func add(s *spec.Spec, rules ...spec.Rule) {
	for _, r := range rules {
		r.Given, r.Mount, r.Layer, r.Origin = r.Path, true, spec.User, "example"
		if !r.Create {
			r.ID = spec.ID{Dev: 9, Ino: uint64(1000 + len(s.Rules))}
		}
		i := len(s.Rules)
		for i > 0 && s.Rules[i-1].Path > r.Path {
			i--
		}
		s.Rules = append(s.Rules[:i], append([]spec.Rule{r}, s.Rules[i:]...)...)
	}
}

func example(mode policy.Mode) *spec.Spec {
	pol := policy.Default()
	pol.Mode = mode
	s := &spec.Spec{
		GOOS: "linux", GOARCH: "amd64", Policy: pol, Cwd: "/home/dev/ws/sub", Argv: []string{"make", "-j4"}, Exe: "/usr/bin/make",
		Env: []string{"HOME=/home/dev", "PATH=/usr/bin:/bin", "TMPDIR=/tmp"}, Cache: "/home/dev/.cache/qsandbox/ws-1",
		User:     spec.Identity{UID: 1000, GID: 1000, Groups: []int{1000}, Name: "dev", Home: "/home/dev", Shell: "/bin/sh"},
		Launcher: host.User{UID: 1000, GID: 1000, Groups: []int{1000}, Name: "dev", Home: "/home/dev", Shell: "/bin/sh"},
		Kernel:   host.Kernel{Release: "6.18.0", LandlockABI: 7, Seccomp: true, Notify: true, UserNS: host.Yes, PidMaxNS: true, IDMap: []host.IDRange{{Size: 1 << 20}}},
	}
	s.Workspace = spec.Rule{Path: "/home/dev/ws", Given: "/home/dev/ws", Access: spec.Write, Kind: spec.Dir, ID: spec.ID{Dev: 9, Ino: 1}, Layer: spec.User, Origin: "workspace", Mount: true}
	add(s, spec.Rule{Path: "/home/dev/ws", Access: spec.Write, Kind: spec.Dir}, spec.Rule{Path: "/home/dev/.ssh", Access: spec.Deny, Kind: spec.Dir},
		spec.Rule{Path: "/home/dev/.netrc", Access: spec.Deny, Kind: spec.File}, spec.Rule{Path: "/home/dev/.cache/qsandbox", Access: spec.Deny, Kind: spec.Dir},
		spec.Rule{Path: "/home/dev/.cache/qsandbox/ws-1", Access: spec.Write, Kind: spec.Dir}, spec.Rule{Path: "/home/dev/ws/vendor", Access: spec.Read, Kind: spec.Dir},
		spec.Rule{Path: "/dev", Access: spec.Private, Kind: spec.Dir}, spec.Rule{Path: "/proc", Access: spec.Private, Kind: spec.Dir},
		spec.Rule{Path: "/tmp", Access: spec.Private, Kind: spec.Dir}, spec.Rule{Path: "/var/tmp", Access: spec.Private, Kind: spec.Dir},
		spec.Rule{Path: "/run", Access: spec.Deny, Empty: true, Kind: spec.Dir})
	if mode == policy.Strict {
		for i, d := range []string{"/etc", "/opt", "/usr"} {
			s.System = append(s.System, spec.Rule{Path: d, Given: d, Access: spec.Read, Kind: spec.Dir, Mount: true, ID: spec.ID{Dev: 9, Ino: uint64(500 + i)}, Origin: "strict: system directory"})
		}
		for _, d := range []string{"bin", "lib", "lib64", "sbin"} {
			s.System = append(s.System, spec.Rule{Path: "/usr/" + d, Given: "/" + d, Access: spec.Read, Kind: spec.Dir, Mount: true, Origin: "strict: system directory"})
		}
	}
	return s
}
