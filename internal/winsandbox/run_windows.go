package winsandbox

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/protect"
	"github.com/qiming-sandbox/qsandbox/internal/winacl"
	"github.com/qiming-sandbox/qsandbox/report"
)

// run carries one request through its steps.
type run struct {
	Request
	at     Places
	cwd    string
	roots  []string // real, as given
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
	for _, p := range r.DenyWrite {
		if _, err := CleanPath("--deny-write", p); err != nil {
			return err
		}
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
	holder := r.cwd
	if len(r.roots) > 0 {
		holder = r.roots[0]
	}
	sids, err := s.capabilities(append([]string{holder}, r.roots...))
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

// protected finds what stays read-only in the roots: each root's own .git as a whole,
// the names of policy/protected.json, and what the caller names (FS-04, WN-07). A
// caller that looks for new names has looked for those that exist, too.
func (r *run) protected() error {
	add := func(p string) {
		if clean, err := CleanPath("protected", p); err == nil && inRoots(r.layout.Roots, clean) && !isRoot(r.layout.Roots, clean) && !inList(r.layout.Protected, clean) {
			if _, err := os.Lstat(clean); err == nil {
				r.layout.Protected = append(r.layout.Protected, clean)
			}
		}
	}
	for _, root := range r.roots {
		add(root + `\.git`)
	}
	for _, p := range r.DenyWrite {
		add(p)
	}
	if r.NewNames == NewNamesCallers {
		return nil
	}
	r.watch.found = protect.Scan(r.watch.h, r.roots, []string{r.at.Home}, nil, protect.Limits{})
	found := r.watch.found
	for _, it := range found.Items {
		if it.Action != protect.Watch && it.Action != protect.Pin {
			add(it.Path)
		}
	}
	if n := len(found.NotWalked); n > 0 {
		r.out.notice("protected:not-walked", "protected names were not looked for everywhere: "+found.NotWalked[0])
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

// edit writes the journal and then the lists. Entries of helpers that were killed are
// taken out first. SECURITY: the journal comes first, so that a crash between the two
// leaves nothing that we do not know of (WIN-06).
func (r *run) edit() error {
	s, err := openState(r.at.State)
	if err != nil {
		return err
	}
	defer s.close()
	j, err := s.journal()
	if err != nil {
		return err
	}
	if len(j.Records) > 0 {
		j, _, _ = s.undo(j, func(o winacl.Record) bool { return !o.Keep && !running(o) })
	}
	edits := Edits(r.layout)
	if r.Restriction == Unrestricted {
		edits = nil // the token has no capability: an entry would do nothing, and stay
	}
	pid := os.Getpid()
	start := began(pid)
	records := make([]winacl.Record, 0, len(edits))
	for _, e := range edits {
		rec := winacl.NewRecord(e.Path, e.ACE)
		rec.PID, rec.Start, rec.Added, rec.Keep = pid, start, time.Now().UTC().Truncate(time.Second), !r.ReadOnly
		if len(r.roots) > 0 {
			rec.Workspace = r.roots[0]
		}
		records = append(records, rec)
	}
	j = j.Add(records...)
	if err := s.writeJournal(j); err != nil {
		return err
	}
	for _, e := range edits {
		if err := apply(e); err != nil {
			return err
		}
	}
	return nil
}

func apply(e Edit) error {
	o, err := openObject(e.Path, windows.READ_CONTROL|windows.WRITE_DAC)
	if err != nil {
		return err
	}
	defer o.close()
	return o.add(e.ACE)
}

// rollback takes the entries of this run out again, where they do not stay.
func (r *run) rollback() error {
	if !r.ReadOnly {
		return nil
	}
	s, err := openState(r.at.State)
	if err != nil {
		return err
	}
	defer s.close()
	j, err := s.journal()
	if err != nil {
		return err
	}
	pid := os.Getpid()
	left, _, failed := s.undo(j, func(o winacl.Record) bool { return !o.Keep && o.PID == pid })
	if len(left.Records) != len(j.Records) {
		err = s.writeJournal(left)
	}
	for p, e := range failed {
		r.out.notice("acl:left", "an entry on "+p+" could not be removed: "+e.Error()+"; qiming-sandbox-helper acl revoke tries again")
	}
	return err
}

// Entries gives the journal: every entry that is ours.
func Entries(home string) ([]winacl.Record, error) {
	s, j, err := openJournal(home)
	if err != nil {
		return nil, err
	}
	s.close()
	return j.Records, nil
}

// Revoke removes entries: those of runs that have ended, or all.
func Revoke(home string, all bool) (done []winacl.Record, failed map[string]error, err error) {
	s, j, err := openJournal(home)
	if err != nil {
		return nil, nil, err
	}
	defer s.close()
	left, done, failed := s.undo(j, func(r winacl.Record) bool { return all || !running(r) })
	return done, failed, s.writeJournal(left)
}

func openJournal(home string) (*state, winacl.Journal, error) {
	at, err := places(home)
	if err != nil {
		return nil, winacl.Journal{}, err
	}
	if _, err := os.Stat(at.State); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, winacl.Journal{}, fault.Wrap(fault.Internal, "open the directory of records", at.State, err)
	}
	s, err := openState(at.State)
	if err != nil {
		return nil, winacl.Journal{}, err
	}
	j, err := s.journal()
	if err != nil {
		s.close()
	}
	return s, j, err
}
