// Package bwrap is the linux-bwrap backend: the mounts and namespaces are made
// by bubblewrap (bwrap(1)), everything inside is ours.
package bwrap

import (
	"fmt"
	"path/filepath"
	"strconv"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/backend"
	"github.com/qiming-sandbox/qsandbox/internal/backend/linux"
	"github.com/qiming-sandbox/qsandbox/internal/plan"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// Name is the backend's name.
const Name = "linux-bwrap"

// maxArgs is what bwrap takes, --args included: it refuses more than 9,000.
const maxArgs = 8900

// Backend implements backend.Backend.
type Backend struct{ backend.Trial }

// Name gives "linux-bwrap".
func (Backend) Name() string { return Name }

// Compile turns a spec into bwrap's arguments.
func (Backend) Compile(s *spec.Spec, sup backend.Support) (*plan.Plan, error) {
	p := plan.Base(Name, s)
	a := &args{made: map[string]bool{}, mounted: map[string]bool{}}
	if s.Isolated() {
		p.Isolation = plan.Isolation{
			User: sup.UserNS, Mount: true, PID: true, UTS: true, IPC: true, Cgroup: true,
			Net: s.Policy.Network.Mode != policy.NetworkOn, PrivateMounts: sup.PrivateMounts,
		}
		a.namespaces(p.Isolation, s, sup)
		p.Mounts = plan.LinuxMounts(s)
		for _, m := range p.Mounts {
			a.mount(m)
		}
		a.text("--as-pid-1")
	} else {
		p.Isolation.Direct = true
		a.text("--dev-bind", "/", "/")
	}
	if len(a.list) > maxArgs {
		e := fault.New(fault.PolicyUnenforceable, "compile the policy", "",
			fmt.Sprintf("bwrap takes at most 9,000 arguments, this policy needs %d; use --backend linux-native or fewer, wider patterns", len(a.list)))
		e.Backend = Name
		return nil, e
	}
	p.Outer = &plan.Outer{Program: sup.Path, Args: a.list, ByFD: true}
	p.LinuxLimits(s, false)
	p.LinuxRows(s)
	if err := linux.SecondLayer(p, s); err != nil {
		return nil, err
	}
	return backend.Finish(p, s)
}

// args collects bwrap's arguments.
type args struct {
	list  []plan.OuterArg
	empty bool            // the root is an empty file system
	made  map[string]bool // directories in it that exist because we asked for them
	// mounted holds what shows something of its own.
	mounted map[string]bool
}

func (a *args) text(words ...string) {
	for _, w := range words {
		a.list = append(a.list, plan.OuterArg{Text: w})
	}
}

// namespaces asks for LNX-01. The user namespace is made by the launcher around
// bwrap for root (every id keeps its number), by bwrap itself for a user.
func (a *args) namespaces(iso plan.Isolation, s *spec.Spec, sup backend.Support) {
	if s.Launcher.UID != 0 {
		a.text("--unshare-user")
	}
	a.text("--unshare-pid", "--unshare-uts", "--unshare-ipc", "--unshare-cgroup-try", "--cap-drop", "ALL")
	if s.Launcher.UID == 0 {
		// For the init: it makes device nodes read-only, empties the bounding set and
		// changes the user, then drops these too.
		for _, c := range []string{"CAP_SYS_ADMIN", "CAP_SETPCAP", "CAP_SETUID", "CAP_SETGID"} {
			a.text("--cap-add", c)
		}
	}
	if iso.Net {
		a.text("--unshare-net")
	}
}

// parents makes the directories above a mount in an empty root. bwrap would make
// them for its user alone, and the command may be somebody else (--user).
func (a *args) parents(dst string) {
	if !a.empty || dst == "/" {
		return
	}
	dir := filepath.Dir(dst)
	if dir == "/" || a.made[dir] {
		return
	}
	a.parents(dir)
	if !a.made[dir] && !a.within(dir) {
		a.text("--perms", mode(0o755), "--dir", dir)
	}
	a.made[dir] = true
}

// within tells whether a path lies in something that was mounted.
func (a *args) within(path string) bool {
	for ; path != "/"; path = filepath.Dir(path) {
		if a.mounted[path] {
			return true
		}
	}
	return false
}

// mount translates one operation.
func (a *args) mount(m plan.Mount) {
	if m.Kind != plan.Seal {
		a.parents(m.Dst)
		a.mounted[m.Dst] = true
	}
	switch m.Kind {
	case plan.RootHost:
		a.text("--ro-bind", "/", "/")
	case plan.RootEmpty: // bwrap's root is an empty file system in memory
		a.empty = true
	case plan.Bind:
		flag := "--bind-fd"
		if m.ReadOnly {
			flag = "--ro-bind-fd"
		}
		a.text(flag)
		a.list = append(a.list, plan.OuterArg{Open: m.Src, ID: m.ID})
		a.text(m.Dst)
	case plan.Tmpfs:
		a.text("--perms", mode(m.Mode))
		if m.Size > 0 {
			a.text("--size", strconv.FormatInt(m.Size, 10))
		}
		a.text("--tmpfs", m.Dst)
	case plan.HideDir:
		a.text("--perms", mode(m.Mode), "--size", "1048576", "--tmpfs", m.Dst)
		if m.ReadOnly {
			a.text("--remount-ro", m.Dst)
		}
	case plan.HideFile:
		if !m.Make {
			a.text("--ro-bind", "/dev/null", m.Dst) // on a mount without devices: opening it fails
		}
	case plan.Dev:
		a.text("--dev", m.Dst)
	case plan.Proc:
		a.text("--proc", m.Dst)
		for _, n := range []string{"sys", "sysrq-trigger", "irq", "bus", "fs"} {
			a.text("--ro-bind-try", "/proc/"+n, m.Dst+"/"+n)
		}
	case plan.Symlink:
		a.text("--symlink", m.Target, m.Dst)
	case plan.Seal:
		a.text("--remount-ro", m.Dst)
	}
}

func mode(m uint32) string { return fmt.Sprintf("%04o", m) }
