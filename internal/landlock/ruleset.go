package landlock

import (
	"path"
	"strings"
)

// PathRule grants rights at a path: to everything below it if it is a directory,
// to it alone if not.
type PathRule struct {
	Path   string // absolute, without links
	Access FS
	Dir    bool // Path is a directory
}

// PortRule grants rights to a port.
type PortRule struct {
	Port   uint16
	Access Net
}

// Options are the parts of a domain besides its paths.
type Options struct {
	Net    Net        // rights to ports to restrict; Ports are the exceptions
	Ports  []PortRule //
	Scoped Scope      // what to close to the outside
	Flags  Flags      // for landlock_restrict_self
	Lacks  Scope      // scopes that the kernel turned out not to have in spite of its ABI
}

// Ruleset is a Landlock domain that a kernel of the given ABI takes as it is.
type Ruleset struct {
	ABI        int
	HandledFS  FS // refused unless a rule grants it
	HandledNet Net
	Scoped     Scope
	Paths      []PathRule
	Ports      []PortRule
	Flags      Flags
}

// Loss is something that was asked for and that the kernel's ABI does not have.
type Loss struct {
	Right  string // "truncate", "abstract_unix_socket", "tsync" ...
	ABI    int    // the first ABI with it
	Kernel string // the first Linux release with that ABI
	Weaker bool   // the domain is less strict without it; else something legitimate fails
	Why    string // what its absence means for the user
}

// For makes the one ruleset of a domain for a kernel of the given ABI, and says
// what that kernel cannot do of it. SECURITY: it handles every file right that the
// ABI has, so what no rule grants is refused.
func For(abi int, rules []PathRule, o Options) (Ruleset, []Loss) {
	a := Supports(abi)
	rs := Ruleset{
		ABI: a.Version, HandledFS: a.FS, HandledNet: o.Net & a.Net,
		Scoped: o.Scoped & a.Scopes &^ o.Lacks, Flags: o.Flags & a.Flags,
	}
	for _, r := range rules {
		if r.Access = grant(r, a.FS); r.Access != 0 {
			rs.Paths = append(rs.Paths, r)
		}
	}
	for _, p := range o.Ports {
		if p.Access &= rs.HandledNet; p.Access != 0 {
			rs.Ports = append(rs.Ports, p)
		}
	}
	return rs, losses(a, allFS, o)
}

// ForScopes makes a ruleset without file rights. It does not forbid mount(2), so
// it can be in force before the mounts are made.
func ForScopes(abi int, scoped Scope, flags Flags) (Ruleset, []Loss) {
	a := Supports(abi)
	o := Options{Scoped: scoped, Flags: flags}
	return Ruleset{ABI: a.Version, Scoped: scoped & a.Scopes, Flags: flags & a.Flags}, losses(a, 0, o)
}

// grant is what of a rule's rights the kernel takes: those of its ABI, and on a
// file only those for files.
func grant(r PathRule, supported FS) FS {
	if !r.Dir {
		return r.Access & supported & fileFS
	}
	return r.Access & supported
}

// losses lists what was wanted and is not in the ABI, by the table in losses.go.
func losses(a ABI, fs FS, o Options) []Loss {
	if a.Version == 0 {
		return []Loss{{Right: "landlock", ABI: 1, Kernel: abis[1].Kernel, Weaker: true,
			Why: "this kernel has no Landlock, or it is not in the boot list (lsm=): the mounts alone limit file access, and abstract UNIX sockets stay reachable with the host's network"}}
	}
	var out []Loss
	for _, m := range meanings {
		if l, lost := m.lost(a, fs, o); lost {
			out = append(out, l)
		}
	}
	return out
}

// Empty reports whether there is nothing to install: the kernel refuses such a
// ruleset with ENOMSG.
func (rs Ruleset) Empty() bool { return rs.HandledFS == 0 && rs.HandledNet == 0 && rs.Scoped == 0 }

// Allowed is a model of the kernel's decision: whether the domain lets all of
// access happen at a path. A right that is not handled is allowed; one that is
// must be granted by a rule at the path or above it, and the rules add up.
func (rs Ruleset) Allowed(name string, access FS) bool {
	missing := access & rs.HandledFS
	name = path.Clean(name)
	for _, r := range rs.Paths {
		if covers(r, name) {
			missing &^= r.Access
		}
	}
	return missing == 0
}

// covers reports whether a rule speaks of the path.
func covers(r PathRule, name string) bool {
	at := path.Clean(r.Path)
	if at == name {
		return true
	}
	return r.Dir && (at == "/" || strings.HasPrefix(name, at+"/"))
}

// AllowedMove is the model for a rename or link of kind (MakeReg, MakeDir, ...)
// from one path to another: rights at both directories; and, if they differ, REFER
// at both, which ABI 1 never grants, and no right at the new place that was not
// there at the old one, or a move would be a way to more rights.
func (rs Ruleset) AllowedMove(from, to string, kind FS) bool {
	remove, kept := RemoveFile, fileFS
	if kind == MakeDir {
		remove, kept = RemoveDir, allFS
	}
	src, dst := path.Dir(path.Clean(from)), path.Dir(path.Clean(to))
	if !rs.Allowed(src, remove) || !rs.Allowed(dst, kind) {
		return false
	}
	if src == dst || rs.HandledFS == 0 {
		return true
	}
	if rs.HandledFS&Refer == 0 || !rs.Allowed(src, Refer) || !rs.Allowed(dst, Refer) {
		return false
	}
	for right := FS(1); right <= kept; right <<= 1 {
		if right&kept != 0 && rs.Allowed(dst, right) && !rs.Allowed(src, right) {
			return false
		}
	}
	return true
}
