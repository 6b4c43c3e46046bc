package spec

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// bindLimit bounds all reading of paths: a hung network file system must not
// freeze the caller (LNX-12).
const bindLimit = 20 * time.Second

// Bind binds a policy to a host and a command. It changes nothing on the host.
// Errors: POLICY_INVALID, PATH_INVALID, PATH_OUTSIDE_WORKSPACE, COMMAND_NOT_FOUND,
// COMMAND_NOT_EXECUTABLE.
func Bind(h host.Host, eff policy.Effective, cmd Command) (*Spec, error) {
	var s *Spec
	err := h.Within(bindLimit, func() error {
		b := &binder{h: h, eff: eff, cmd: cmd, best: map[string]Rule{}, began: time.Now()}
		var err error
		s, err = b.bind()
		return err
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, fault.Wrap(fault.PathInvalid, "bind policy", "", err).
			WithHint("a path of the policy did not answer in time: a hung network or FUSE file system?")
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// binder carries what the steps of Bind share.
type binder struct {
	h        host.Host
	eff      policy.Effective
	cmd      Command
	s        *Spec
	homes    []string        // home directories whose credentials are hidden
	best     map[string]Rule // the winning rule per path
	roots    []Rule          // writable roots, the workspace first
	given    []string        // directories for which "**/" patterns hold: the roots, and what strict made read-only
	limits   []Rule          // rules that only take writing away: denyWrite and protected names
	gitRoots []string        // of a linked worktree
	began    time.Time       // when Bind began
}

func (b *binder) bind() (*Spec, error) {
	if err := policy.Validate(b.eff.Policy); err != nil {
		return nil, err
	}
	b.s = &Spec{GOOS: b.h.GOOS, GOARCH: b.h.GOARCH, Policy: b.eff.Policy, Stdin: b.cmd.Stdin, TTY: b.cmd.TTY, Kernel: b.h.Kernel(), Launcher: b.h.User}
	if b.needsCgroup() {
		b.s.Cgroup = b.h.Cgroup()
	}
	for _, step := range []func() error{
		b.identity, b.workspace, b.cwd, b.privatePlaces, b.writable, b.worktree, b.cache, b.credentials,
		b.protected, b.userRules, b.globs, b.sockets, b.finish, b.otherCase, b.environment, b.system, b.command, b.execs,
	} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return b.s, nil
}

// needsCgroup tells whether a limit may need a cgroup. linux-native bounds the
// number of processes without one, where the kernel can.
func (b *binder) needsCgroup() bool {
	p := b.eff.Policy
	return b.h.GOOS == "linux" && (p.Limits.Memory > 0 || p.Limits.CPUs > 0 || p.Limits.Processes > 0 &&
		(p.Backend != policy.LinuxNative || p.Limits.Processes < PidMaxFloor || !b.s.Kernel.PidMaxNS))
}

// PidMaxFloor is the lowest limit on processes that a pid namespace's
// kernel.pid_max can keep: the kernel refuses a value below 301 and, after the
// first round, gives no number below 300 again.
const PidMaxFloor = 1024

// identity settles who the command runs as (LNX-08).
func (b *binder) identity() error {
	u := b.h.User
	b.s.User = Identity{UID: u.UID, GID: u.GID, Groups: u.Groups, Name: u.Name, Home: b.h.HomeDir(), Shell: u.Shell}
	b.homes = appendUnique(nil, b.h.HomeDir(), u.Home)
	if b.cmd.User == "" {
		return nil
	}
	if u.UID != 0 {
		return fault.New(fault.UsageInvalid, "switch user", b.cmd.User, "--user needs root")
	}
	t, err := b.h.UserByID(b.cmd.User)
	if err != nil {
		return fault.Wrap(fault.UsageInvalid, "switch user", b.cmd.User, err)
	}
	b.s.User = Identity{UID: t.UID, GID: t.GID, Groups: t.Groups, Name: t.Name, Home: t.Home, Shell: t.Shell, Switch: t.UID != u.UID}
	b.homes = appendUnique(b.homes, t.Home)
	return nil
}

// workspace resolves the workspace: it must exist and be a directory.
func (b *binder) workspace() error {
	r, err := b.resolve("workspace", b.eff.Policy.Workspace, b.base())
	if err != nil {
		return err
	}
	if r.Kind == Missing {
		return fault.New(fault.PathInvalid, "open workspace", r.Given, "the workspace does not exist; make it first or name another with --workspace")
	}
	if r.Kind != Dir {
		return fault.New(fault.PathInvalid, "open workspace", r.Given, "the workspace must be a directory")
	}
	if err := b.refuseWide("workspace", r); err != nil {
		return err
	}
	if err := b.trusted("workspace", r); err != nil {
		return err
	}
	if err := b.foreignOwner(r); err != nil {
		return err
	}
	if err := b.stillHere(r); err != nil {
		return err
	}
	r.Access, r.Layer, r.Origin, r.Mount = b.rootAccess(), User, "workspace", true
	b.noteHome(r)
	b.s.Workspace = r
	b.roots, b.given = append(b.roots, r), append(b.given, r.Path)
	return nil
}

// HomeNotice is the kind of the notice that a whole home directory is the workspace.
const HomeNotice = "workspace:home"

// noteHome tells that the workspace is a home directory, or holds one: people start
// agents there without meaning to open all that they have (FS-01).
func (b *binder) noteHome(ws Rule) {
	if !b.s.Isolated() || ws.Access != Write {
		return
	}
	for _, home := range b.realHomes() {
		if Within(ws.Path, home) {
			b.s.notice(HomeNotice, "the workspace holds the home directory "+home+": everything in it can be written, but for hidden credentials and protected names; name a project with --workspace")
			return
		}
	}
}

// stillHere compares the workspace with the directory that we are in, where it is
// meant: its name may stand for another one by now (FS-06).
func (b *binder) stillHere(ws Rule) error {
	if b.eff.Policy.Workspace != "." || ws.ID == (ID{}) {
		return nil
	}
	st, err := b.h.Stat(".")
	if err == nil && (ID{st.Dev, st.Ino}) != ws.ID {
		return fault.Wrap(fault.PathInvalid, "open workspace", ws.Path, ErrChanged).WithHint("the current directory was moved, and another stands in its place")
	}
	return nil
}

// rootAccess is what a writable root gets: on Windows the sub-mode read-only makes
// nothing writable, the workspace included (WIN-05).
func (b *binder) rootAccess() Access {
	if b.h.GOOS == "windows" && b.eff.Policy.WindowsMode == policy.ReadOnly && b.s.Isolated() {
		return Read
	}
	return Write
}

// foreignOwner refuses to start as root on somebody else's workspace: without
// capabilities root cannot write it, and half of the tools would fail (LNX-08).
func (b *binder) foreignOwner(ws Rule) error {
	if b.h.GOOS != "linux" || b.s.User.UID != 0 || !b.s.Isolated() {
		return nil
	}
	st, err := b.h.Stat(ws.Path)
	if err != nil || st.UID == 0 || st.Mode.Perm()&0o002 != 0 {
		return nil
	}
	name := itoa(st.UID)
	if u, err := b.h.UserByID(name); err == nil {
		name = u.Name
	}
	return fault.New(fault.PathInvalid, "open workspace", ws.Given,
		"it belongs to "+name+", and root without capabilities cannot write it; run as that user with --user "+name)
}

// base is the directory that a relative workspace is taken from.
func (b *binder) base() string {
	wd, err := b.h.Getwd()
	if err != nil {
		return "/"
	}
	return wd
}

// cwd must lie in the workspace; it grants nothing (FS-05).
func (b *binder) cwd() error {
	if b.cmd.Cwd == "" {
		b.s.Cwd = b.s.Workspace.Path
		return nil
	}
	r, err := b.resolve("cwd", b.cmd.Cwd, b.s.Workspace.Path)
	if err != nil {
		return err
	}
	if !Within(b.s.Workspace.Path, r.Path) {
		return fault.New(fault.PathOutsideWorkspace, "use cwd", b.cmd.Cwd,
			"it lies outside the workspace "+b.s.Workspace.Path+"; name a directory inside it")
	}
	if err := b.trusted("cwd", r); err != nil {
		return err
	}
	if r.Kind != Dir {
		return fault.New(fault.PathInvalid, "use cwd", b.cmd.Cwd, "it is not an existing directory")
	}
	b.s.Cwd = r.Path
	return nil
}

// privatePlaces are fresh in every sandbox (LNX-02). /run is shown empty: it is
// where most sockets of the host live (LNX-07).
func (b *binder) privatePlaces() error {
	if b.h.GOOS != "linux" {
		return nil
	}
	for _, p := range []string{"/tmp", "/var/tmp", "/dev", "/proc"} {
		real, err := b.h.RealPath(p)
		if err != nil {
			continue // no /var/tmp here: nothing to cover
		}
		b.add(Rule{Path: real, Given: p, Access: Private, Kind: Dir, Origin: "private " + p, Mount: true})
	}
	if real, err := b.h.RealPath("/run"); err == nil {
		b.add(Rule{Path: real, Given: "/run", Access: Deny, Empty: true, Kind: Dir, Origin: "host sockets live in /run", Mount: true})
		for _, p := range []string{"/run/current-system", "/run/wrappers", "/run/opengl-driver"} { // NixOS
			if b.h.Exists(p) {
				b.addPath(p, Read, BuiltIn, "system files in /run")
			}
		}
	}
	if b.eff.Policy.Network.Mode != policy.NetworkOff {
		if real, err := b.h.RealPath("/etc/resolv.conf"); err == nil && real != "/etc/resolv.conf" {
			b.addPath(real, Read, BuiltIn, "target of /etc/resolv.conf")
		}
	}
	return nil
}

// writable takes the user's writable paths after the workspace (FS-01, FS-09).
func (b *binder) writable() error {
	b.add(b.s.Workspace)
	for i, w := range b.eff.Policy.Filesystem.Writable {
		field := "filesystem.writable[" + itoa(i) + "]"
		if policy.HasMeta(w) {
			return fault.New(fault.PathInvalid, "read "+field, w, "a writable entry is one path, not a pattern; write \\ before *, ?, [ or { that belong to the name")
		}
		r, err := b.resolve(field, policy.Unescape(w), b.s.Workspace.Path)
		if err != nil {
			return err
		}
		if r.Path == b.s.Workspace.Path {
			continue
		}
		if err := b.refuseWide(field, r); err != nil {
			return err
		}
		if err := b.trusted(field, r); err != nil {
			return err
		}
		r.Layer, r.Origin, r.Mount = User, b.origin("filesystem.writable", w, field), true
		b.given = append(b.given, r.Path)
		if b.s.Policy.Mode == policy.Strict {
			r.Access = Read
			b.s.notice("strict:first-root", "strict makes only the workspace writable; "+r.Given+" is read-only")
		} else {
			r.Access = b.rootAccess()
			r.Create = r.Kind == Missing && r.Access == Write
			b.roots = append(b.roots, r)
		}
		if r.Kind == Missing && !r.Create {
			continue
		}
		b.add(r)
	}
	return nil
}

// finish settles what the steps have collected, and sorts the winning rules,
// general before special (LNX-04).
func (b *binder) finish() error {
	b.dropGrants()
	b.takeAway()
	for _, r := range b.best {
		b.s.Rules = append(b.s.Rules, r)
	}
	sortRules(b.s.Rules)
	return nil
}

// origin names a policy entry with the layer it came from.
func (b *binder) origin(list, entry, field string) string {
	if o, ok := b.eff.EntryOrigins[list][entry]; ok {
		return field + " (" + o.String() + ")"
	}
	return field
}

func appendUnique(list []string, more ...string) []string {
	for _, m := range more {
		dup := m == ""
		for _, have := range list {
			dup = dup || have == m
		}
		if !dup {
			list = append(list, m)
		}
	}
	return list
}

// Within tells whether path is root or lies below it. Both are clean and absolute.
func Within(root, path string) bool {
	if root == path || root == string(filepath.Separator) {
		return true
	}
	return strings.HasPrefix(path, root) && len(path) > len(root) && os.IsPathSeparator(path[len(root)])
}
