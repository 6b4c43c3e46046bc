package winsandbox

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/report"
)

// run carries one request through its steps.
type run struct {
	Request
	at     Places
	cwd    string
	roots  []string // real, as given
	deny   []string // real paths of --deny-write
	temp   string
	cache  string
	layout Layout
	wish   TokenWish
	out    Outcome
	watch  *watch
	// noFilters is why the network is not blocked by filters, or "".
	noFilters string
	program   string
	line      string
	env       []string
}

// Run runs one command in its sandbox and waits for the end of all that it started.
// Errors: PATH_INVALID, PATH_OUTSIDE_WORKSPACE, COMMAND_NOT_FOUND,
// COMMAND_NOT_EXECUTABLE, POLICY_UNENFORCEABLE, SANDBOX_UNAVAILABLE,
// SANDBOX_UNDETERMINED, LAUNCH_FAILED, INTERNAL. Before the first list is changed,
// everything that can be checked has been.
func Run(ctx context.Context, req Request) (Outcome, error) {
	r := &run{Request: req}
	for _, step := range []func() error{r.places, r.command, r.identity} {
		if err := step(); err != nil {
			return r.out, err
		}
	}
	token, facts, err := makeToken(r.wish)
	if err != nil {
		return r.out, err
	}
	defer token.Close()
	if err := r.wish.Verify(facts); err != nil {
		if !emulated {
			return r.out, err
		}
		r.out.notice("emulated", err.Error())
	}
	block, why := r.offline()
	defer block.close()
	r.out.describe(req, facts, why)
	if err := r.audit(); err != nil {
		return r.out, err
	}
	if r.watches() {
		if err := r.watch.begin(r.roots[0]); err != nil {
			return r.out, err
		}
	}
	if err := r.edit(); err != nil {
		return r.out, errors.Join(err, r.rollback(), r.watch.end(&r.out))
	}
	err = r.start(ctx, token)
	return r.out, errors.Join(err, r.rollback(), r.watch.end(&r.out))
}

// watches tells whether we look for new names ourselves.
func (r *run) watches() bool { return !r.ReadOnly && r.NewNames == NewNamesMoved }

// places resolves every path, and refuses what opens too much (WIN-05, FS-05).
func (r *run) places() (err error) {
	if r.at, err = places(r.Home); err != nil {
		return err
	}
	if r.cwd, err = realDir("--cwd", r.Cwd); err != nil {
		return err
	}
	for i, given := range r.Roots {
		root, err := realDir("writable_roots", given)
		if err != nil {
			return err
		}
		if err := CheckRoot("writable_roots", root, r.at); err != nil {
			return err
		}
		if i == 0 || !inList(r.roots, root) {
			r.roots = append(r.roots, root)
		}
	}
	if err := r.denied(); err != nil {
		return err
	}
	if !r.ReadOnly && len(r.roots) == 0 {
		return fault.New(fault.PathOutsideWorkspace, "use --cwd", r.Cwd, "there is no writable root that it could lie in; name the workspace in writable_roots")
	}
	return CheckCwd(r.cwd, r.roots)
}

func inList(list []string, p string) bool {
	for _, o := range list {
		if fold(o) == fold(p) {
			return true
		}
	}
	return false
}

// command makes the environment and finds the program.
func (r *run) command() (err error) {
	key := r.cwd
	if len(r.roots) > 0 {
		key = r.roots[0]
	}
	work := r.at.State + `\work\` + WorkName(key)
	r.temp, r.cache = work+`\tmp`, work+`\cache`
	var dropped []string
	r.env, dropped = Environment(EnvWish{Host: os.Environ(), Pass: r.PassEnv, Network: r.Network, Temp: r.temp, Cache: r.cache, Stubs: r.at.State + `\bin`})
	for _, d := range dropped {
		r.out.notice("env:dropped", d+" was dropped: its value cannot be passed")
	}
	r.program, err = LookUp(r.Argv[0], r.cwd, r.env, func(p string) bool {
		st, err := os.Stat(p)
		return err == nil && !st.IsDir()
	})
	if err == nil {
		r.line, err = CommandLine(r.program, r.Argv)
	}
	return err
}

// identity finds capabilities, protected names, and the token to ask for.
func (r *run) identity() error {
	user, logon, err := whoAmI()
	if err != nil {
		return fault.Wrap(fault.SandboxUnavailable, "read the helper's token", "", err)
	}
	s, err := openState(r.at.State)
	if err != nil {
		return err
	}
	defer s.close()
	r.watch = newWatch(host.Real(), s.dir, os.Getpid())
	r.watch.recover(&r.out)
	sids, err := s.capabilities(append([]string{HolderKey(r.cwd, r.roots)}, r.roots...))
	if err != nil {
		return err
	}
	r.layout.Holder = sids[0]
	if !r.ReadOnly {
		for i, root := range r.roots {
			r.layout.Roots = append(r.layout.Roots, Root{root, sids[i+1]})
		}
		r.layout.Roots = append(r.layout.Roots, Root{r.temp, sids[0]}, Root{r.cache, sids[0]})
		if err := r.protected(); err != nil {
			return err
		}
	}
	if err := r.private(s); err != nil {
		return err
	}
	r.wish = TokenWish{User: user, Logon: logon, Caps: r.layout.SIDs(), Restriction: r.Restriction}
	if r.Network == NetworkOff {
		if r.noFilters = canBlock(); r.noFilters == "" {
			r.wish = r.wish.Offline()
		}
	}
	return nil
}

// private makes the directories of the run and the stubs.
func (r *run) private(s *state) error {
	for _, d := range []string{r.temp, r.cache, s.dir + `\bin`} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fault.Wrap(fault.Internal, "make", d, err)
		}
	}
	for name, text := range Stubs() {
		if have, err := s.read(`bin\` + name); err != nil || string(have) != text {
			if err := s.write(`bin\`+name, []byte(text)); err != nil {
				return fault.Wrap(fault.Internal, "write", name, err)
			}
		}
	}
	return nil
}

// audit looks for directories beside the command's that anybody may write (WIN-07).
func (r *run) audit() error {
	f, err := Audit(realDisk{time.Now()}, r.cwd, r.roots)
	if err != nil {
		f.Unread = append(f.Unread, r.cwd)
	}
	r.out.notice("audit", f.Line())
	r.layout.Flagged = f.Flagged
	switch {
	case f.Complete():
		r.out.row("WIN-07", "audit of the directories beside the command's", report.Modelled, "directories deeper down are not looked at")
	case r.AuditAll:
		return fault.New(fault.PolicyUnenforceable, "keep --audit enforce", r.cwd, f.Line()+"; start in a smaller directory, or use --audit best-effort")
	default:
		r.out.row("WIN-07", "audit of the directories beside the command's", report.Advisory, f.Line())
	}
	return nil
}
