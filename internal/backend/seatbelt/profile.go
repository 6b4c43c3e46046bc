package seatbelt

import (
	"path/filepath"

	"github.com/qiming-sandbox/qsandbox/internal/sbpl"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// Parameters that the launcher gives with -D: places that it makes for one run.
const (
	ParamTmp = "TMP" // private temporary directory
	ParamRun = "RUN" // directory of this profile: nobody inside touches it (MAC-04)
	ParamDir = "DIR" // the directory that holds both
	ParamTTY = "TTY" // the command's own terminal; /dev/null where there is none
)

// profile writes the profile of a spec (MAC-01 to MAC-03).
//
// Rules about paths use file-read*, file-write* and process-exec* alone, so that
// both readings of their order agree (sbpl.Order). What names a single operation,
// like file-write-unlink, only takes away, and comes last.
func profile(s *spec.Spec) (*sbpl.Profile, error) {
	b := &builder{s: s, p: &sbpl.Profile{Default: sbpl.Deny}}
	if !s.Isolated() {
		b.permissive()
		return b.p, nil
	}
	b.process()
	if err := b.services(); err != nil {
		return nil, err
	}
	b.reading()
	b.executing()
	b.rules(s.Rules)
	b.patterns()
	b.newNames()
	b.exceptions()
	b.network()
	b.temporary()
	b.devices()
	b.pins()
	return b.p, nil
}

type builder struct {
	s   *spec.Spec
	p   *sbpl.Profile
	why string
	// replaced are the user's own entries that a pattern or a protected name covers.
	replaced []spec.Rule
}

func (b *builder) about(why string) { b.why = why }

func (b *builder) add(a sbpl.Action, origin string, ops []string, f ...sbpl.Filter) {
	b.p.Rules = append(b.p.Rules, sbpl.Rule{Action: a, Ops: ops, Filters: f, Why: b.why, Origin: origin})
}

func (b *builder) allow(origin string, ops []string, f ...sbpl.Filter) {
	b.add(sbpl.Allow, origin, ops, f...)
}

func (b *builder) deny(origin string, ops []string, f ...sbpl.Filter) {
	b.add(sbpl.Deny, origin, ops, f...)
}

// The groups of operations that rules about paths name.
var (
	readOps  = []string{"file-read*"}
	writeOps = []string{"file-write*"}
	bothOps  = []string{"file-read*", "file-write*"}
	execOps  = []string{"process-exec*"}
	allOps   = []string{"file-read*", "file-write*", "process-exec*"}
)

// permissive isolates nothing (MAC-02). Beyond writing, executing and signals it
// allows by name whatever else there is, as the base denies.
func (b *builder) permissive() {
	b.about("mode permissive isolates nothing")
	b.allow("mode permissive", []string{"file-read*", "file-write*", "process-exec*", "signal"})
	b.about("and programs need more than files")
	b.allow("mode permissive", []string{"file*", "process*", "mach*", "network*", "sysctl*", "ipc*", "iokit*", "system*", "pseudo-tty",
		"user-preference*", "device*", "appleevent-send", "authorization-right-obtain", "distributed-notification-post", "job-creation", "lsopen"})
}

// process: what a process may do to processes.
func (b *builder) process() {
	b.about("processes: fork, and nothing outside of this sandbox can be signalled, looked at or traced (MAC-02)")
	b.allow("base", []string{"process-fork"})
	own := []sbpl.Filter{sbpl.Named("target", "self"), sbpl.Named("target", "children"), sbpl.Named("target", "same-sandbox")}
	b.allow("base", []string{"signal"}, own...)
	b.allow("base", []string{"process-info*"}, sbpl.Named("target", "self"), sbpl.Named("target", "same-sandbox"))

	b.about("questions about the machine; not the arguments and environment of other processes (VAR-03)")
	b.allow("base", []string{"sysctl-read"})
	b.deny("base", []string{"sysctl-read"}, sbpl.Named("sysctl-name", "kern.procargs", "kern.procargs2"), sbpl.Named("sysctl-name-prefix", "kern.procargs.", "kern.procargs2."))

	b.about("semaphores of Python's multiprocessing, and its shared memory")
	b.allow("base", []string{"ipc-posix-sem*"})
	b.allow("base", []string{"ipc-posix-shm*"}, sbpl.Named("ipc-posix-name-prefix", "psm_", "/psm_"))
}

func (b *builder) services() error {
	list, err := servicesOf(b.s.Policy)
	for _, s := range list {
		origin := "macos.services " + s.name
		b.about("services, " + s.name + ": " + s.why + "; risk: " + s.risk)
		b.allow(origin, []string{"mach-lookup"}, sbpl.Named("global-name", s.names...))
		for _, r := range s.more {
			b.add(r.Action, origin, r.Ops, r.Filters...)
		}
	}
	return err
}

// reading: everything, less what later rules hide.
func (b *builder) reading() {
	origin := "mode " + b.s.Policy.Mode.String()
	b.about("reading: everything, less what is hidden below (MAC-01)")
	b.allow(origin, readOps)
	b.allow(origin, []string{"file-map-executable"})
	b.about("terminals and serial lines of others: what is typed there could be read")
	b.deny("terminals of others", bothOps, sbpl.Regex(`^/dev/(tty.+|pty.+|cu\..+|console)$`))
}

// executing: programs of the system, the command, and in compat more (MAC-01).
func (b *builder) executing() {
	b.about("executing (MAC-01)")
	for _, dir := range spec.SystemExecs {
		b.allow("system programs", execOps, sbpl.Regex("^"+sbpl.QuoteRegex(dir)+"/"))
	}
	for _, e := range b.s.Execs {
		f := []sbpl.Filter{sbpl.Literal(e.Path)}
		if e.Kind == spec.Dir {
			f = []sbpl.Filter{sbpl.Subpath(e.Path)}
		}
		if e.Given != e.Path {
			f = append(f, sbpl.Literal(e.Given))
		}
		b.allow(e.Origin, execOps, f...)
	}
}

// rules writes rules about paths, general before special: the last one wins.
func (b *builder) rules(list []spec.Rule) {
	for _, r := range list {
		b.about(r.Access.String() + " " + r.Path)
		b.rule(r)
	}
}

func (b *builder) rule(r spec.Rule) {
	here := sbpl.Subpath(r.Path)
	if r.Kind == spec.File || r.Kind == spec.Socket {
		here = sbpl.Literal(r.Path)
	}
	switch r.Access {
	case spec.Deny, spec.Private: // there is no private place in one file system for all: hidden is the stricter
		b.deny(r.Origin, allOps, here)
		if b.shownBelow(r.Path) {
			// Else nobody could find the way to what is shown again.
			b.allow(r.Origin, []string{"file-read-metadata"}, sbpl.Literal(r.Path))
		}
	case spec.Read:
		b.allow(r.Origin, readOps, here)
		b.deny(r.Origin, writeOps, here)
		if r.Kind == spec.Socket {
			b.allow(r.Origin, []string{"network-outbound"}, sbpl.RemoteSocket(here), here)
			return
		}
		b.execBelow(r)
	case spec.Write:
		b.allow(r.Origin, allOps, here)
	}
}

// execBelow settles executing in what may only be read: what a writable place
// above allowed is taken back, as nothing else says that it may run; what
// executing() allows is given again.
func (b *builder) execBelow(r spec.Rule) {
	b.deny(r.Origin, execOps, sbpl.Subpath(r.Path))
	for _, dir := range spec.SystemExecs {
		if spec.Within(r.Path, dir) || spec.Within(dir, r.Path) {
			b.allow("system programs", execOps, sbpl.All(sbpl.Subpath(r.Path), sbpl.Regex("^"+sbpl.QuoteRegex(dir)+"/")))
		}
	}
	for _, e := range b.s.Execs {
		switch {
		case spec.Within(e.Path, r.Path):
			b.allow(e.Origin, execOps, sbpl.Subpath(r.Path))
		case spec.Within(r.Path, e.Path):
			b.allow(e.Origin, execOps, sbpl.Subpath(e.Path))
		}
	}
}

func (b *builder) shownBelow(path string) bool {
	for _, r := range b.s.Rules {
		if r.Path != path && spec.Within(path, r.Path) && r.Access > spec.Private {
			return true
		}
	}
	return false
}

// network: with a policy that is off nothing is allowed, not even the loopback,
// which is the host's own (NET-01).
func (b *builder) network() {
	b.about("sockets in the private temporary directory work; those of the host cannot be reached")
	b.allow("base", []string{"system-socket"}, sbpl.Named("socket-domain", "AF_UNIX"))
	tmp := sbpl.SubpathParam(ParamTmp)
	b.allow("private temporary directory", []string{"network-bind", "network-inbound"}, sbpl.LocalSocket(tmp), tmp)
	b.allow("private temporary directory", []string{"network-outbound"}, sbpl.RemoteSocket(tmp), tmp)
	if b.s.Policy.Network.Mode != policy.NetworkOn {
		return
	}
	b.about("network.mode on: internet addresses, not sockets of the host")
	b.allow("network.mode", []string{"network-outbound"}, sbpl.Remote("ip", "*:*"))
	b.allow("network.mode", []string{"network-bind", "network-inbound"}, sbpl.Local("ip", "*:*"))
	b.allow("network.mode", []string{"system-socket"})
}

// temporary: what the launcher makes for this run alone.
func (b *builder) temporary() {
	b.about("the launcher's own directory of this run: no policy opens it (MAC-04)")
	b.deny("directory of the profile", allOps, sbpl.SubpathParam(ParamRun))
	b.about("the private temporary directory (FS-01), and the way to it")
	b.allow("private temporary directory", []string{"file-read-metadata"}, sbpl.LiteralParam(ParamDir))
	for _, r := range b.s.Rules {
		if r.Origin == spec.RecordsOrigin {
			b.allow("private temporary directory", []string{"file-read-metadata"}, sbpl.Literal(r.Path, filepath.Join(r.Path, "run")))
		}
	}
	b.allow("private temporary directory", allOps, sbpl.SubpathParam(ParamTmp))
}

// devices: MAC-03, and what a terminal needs.
func (b *builder) devices() {
	b.about("devices that programs write to (MAC-03)")
	b.allow("devices", writeOps, sbpl.Literal("/dev/null", "/dev/dtracehelper", "/dev/urandom"))
	b.about("the same for programs that write zeros, or to their own output by its name")
	b.allow("devices", writeOps, sbpl.Literal("/dev/zero", "/dev/random", "/dev/stdout", "/dev/stderr"), sbpl.Subpath("/dev/fd"))
	b.allow("devices", []string{"file-ioctl"}, sbpl.Literal("/dev/dtracehelper", "/dev/null", "/dev/tty"))
	b.about("terminals: the command's own, and those that it makes itself")
	b.allow("terminal", []string{"pseudo-tty"})
	terminal := []string{"file-read*", "file-write*", "file-ioctl"}
	b.allow("terminal", terminal, sbpl.LiteralParam(ParamTTY), sbpl.Literal("/dev/tty", "/dev/ptmx"))
	b.allow("terminal", terminal, sbpl.All(sbpl.Regex("^/dev/ttys[0-9]+$"), sbpl.Named("extension", "com.apple.sandbox.pty")))
}

// pins: a writable root and every directory that holds something hidden or
// read-only cannot be renamed, removed or replaced (FS-04).
//
// SECURITY: the rules name paths; with the directory above moved away they would
// name nothing.
func (b *builder) pins() {
	b.about("cannot be renamed or replaced: it holds what is hidden or read-only (FS-04)")
	for _, r := range b.s.Rules {
		root := r.Access == spec.Write && r.Kind != spec.File && filepath.Dir(r.Path) != r.Path
		if r.Pin || root {
			b.deny("pinned: "+r.Origin, []string{"file-write-unlink"}, sbpl.Literal(r.Path))
		}
	}
	b.deny("pinned: private temporary directory", []string{"file-write-unlink"}, sbpl.LiteralParam(ParamTmp))
}
