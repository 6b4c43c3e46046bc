package spec

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/qiming-sandbox/qsandbox/policy"
)

// SystemExecs are the places of macOS whose programs may always be executed (MAC-01).
var SystemExecs = []string{"/usr/bin", "/bin", "/usr/lib"}

// compatExecs are more places of programs, each with what would not work without it.
var compatExecs = []struct{ path, why string }{
	{"/sbin", "system programs"},
	{"/usr/sbin", "system programs"},
	{"/usr/libexec", "helpers of system programs: git-core, java_home, path_helper"},
	{"/usr/local", "Homebrew on Intel, and what people install by hand"},
	{"/opt/homebrew", "Homebrew"},
	{"/opt/local", "MacPorts"},
	{"/nix", "Nix"},
	{"/run/current-system", "Nix"},
	{"/Library/Developer", "developer tools: /usr/bin/git, make and cc are only pointers to them (xcrun)"},
	{"/Applications/Xcode.app", "developer tools of Xcode"},
	{"/Library/Frameworks", "Python and Mono of their makers"},
	{"/Library/Java", "Java"},
	{"/System/Library", "helpers of system frameworks"},
	{"/System/Cryptexes", "parts of the system that are updated by themselves"},
	{"/System/Volumes/Preboot/Cryptexes", "the same, by its real path"},
	{"~/.nvm", "node versions"},
	{"~/.fnm", "node versions"},
	{"~/.volta", "node versions"},
	{"~/.local/share/fnm", "node versions"},
	{"~/Library/pnpm", "pnpm"},
	{"~/.bun", "bun"},
	{"~/.deno", "deno"},
	{"~/.pyenv", "Python versions"},
	{"~/.local/share/uv", "Python versions of uv"},
	{"~/Library/Python", "programs of the user's Python"},
	{"~/.rbenv", "Ruby versions"},
	{"~/.rvm", "Ruby versions"},
	{"~/.gem", "programs of the user's Ruby"},
	{"~/.asdf", "versions of many languages"},
	{"~/.local/share/mise", "versions of many languages"},
	{"~/.rustup", "Rust toolchains"},
	{"~/.cargo/bin", "Rust programs"},
	{"~/go/bin", "Go programs"},
	{"~/go/pkg/mod/golang.org", "Go toolchains"},
	{"~/sdk", "Go versions"},
	{"~/.sdkman", "Java versions"},
	{"~/.jenv", "Java versions"},
	{"~/.local/bin", "programs of the user"},
	{"~/.nix-profile", "Nix"},
}

// execs lists what may be executed on macOS beyond the system's own programs and
// writable places (MAC-01).
//
// SECURITY: a place that can be written from inside is not in the list; what is
// written there may be executed anyway, and nothing else is opened by it.
func (b *binder) execs() error {
	if b.h.GOOS != "darwin" || !b.s.Isolated() {
		return nil
	}
	if b.s.Exe != "" {
		b.exec(b.s.Exe, "command")
	}
	if b.s.Policy.Mode == policy.Strict {
		return nil
	}
	for _, p := range b.eff.Policy.Exec.StartupAllowlist {
		b.exec(filepath.Clean(p), b.origin("exec.startupAllowlist", p, "exec.startupAllowlist"))
	}
	for _, e := range compatExecs {
		p := e.path
		if rest, home := strings.CutPrefix(p, "~/"); home {
			p = filepath.Join(b.s.User.Home, rest)
		}
		b.exec(p, e.why)
	}
	for _, p := range filepath.SplitList(b.lookupEnv("PATH")) {
		if filepath.IsAbs(p) {
			b.exec(filepath.Clean(p), "PATH")
		}
	}
	return nil
}

// exec adds a path, as it is written and where its links lead.
func (b *binder) exec(p, origin string) {
	r, err := b.locate(origin, p)
	if err != nil || r.Kind == Missing || r.Path == "/" || slices.Contains(SystemExecs, r.Path) {
		return
	}
	if under, ok := nearest(b.s, r.Path); ok && under.Access != Read {
		return // hidden, or writable from inside
	}
	if _, known := b.s.mayExec(r.Path); known && r.Given == r.Path {
		return
	}
	r.Access, r.Origin = Read, origin
	b.s.Execs = append(b.s.Execs, r)
}

// mayExec gives the rule by which a path may be executed on macOS.
func (s *Spec) mayExec(path string) (Verdict, bool) {
	for _, dir := range SystemExecs {
		if path != dir && Within(dir, path) {
			return Verdict{Allowed: true, Rule: "exec " + dir, Origin: "system programs", Why: "programs of the system may be executed"}, true
		}
	}
	for _, e := range s.Execs {
		if Within(e.Path, path) || e.Given == path {
			return Verdict{Allowed: true, Rule: "exec " + e.Path, Origin: e.Origin, Why: "may be executed"}, true
		}
	}
	return Verdict{Rule: "exec is limited", Origin: "mode " + s.Policy.Mode.String(),
		Why: "on macOS only the command, programs of the system, what lies in writable paths and, in compat, exec.startupAllowlist, known tool folders and PATH may be executed"}, false
}
