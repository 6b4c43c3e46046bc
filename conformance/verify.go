package conformance

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/conformance/results"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// Options say what is verified.
type Options struct {
	Cases    []*Case
	Backends []string       // only these; empty: all
	Modes    []string       // only these; empty: all
	Require  []string       // backends of which something must have been tried
	Jobs     int            // at once; 0: as many as there are processors
	Dir      string         // where the throw-away place is made; "" finds one
	Program  string         // a copy of this is what cases call $PROBE, and the worker; "" is this program
	Account  string         // as root: the ordinary user; "" is SUDO_USER, else nobody
	As       []Identity     // only these; empty: all that this user can be
	Template string         // another sandbox instead of qsandbox
	Version  string         // of the program, for the report
	Soak     time.Duration  // how long each soak lasts, and leak cases take their full count; 0: seconds
	Matrix   results.Matrix // quick: each case in one mode, and as root as root alone unless As says more
	Progress func(done, total int, r results.Record)

	box sandbox // tests put a weakened one here
}

// item is one record to be made.
type item struct {
	c             *Case
	backend, mode string
	skip          string // why it cannot be tried here
	runs          []results.Run
}

// Verify runs the cases and gives the report, without judging it. An error means
// that nothing could be tried.
func Verify(ctx context.Context, o Options) (*results.Report, error) {
	v := &verifying{o: o, began: time.Now(), h: host.Real()}
	if err := v.prepare(ctx); err != nil {
		return nil, err
	}
	defer v.clean()
	v.plan(ctx)
	v.tryOwn()
	for _, who := range v.identities() {
		if ctx.Err() != nil {
			break
		}
		var err error
		if who == AsUser && v.h.User.UID == 0 {
			err = v.byWorker(ctx)
		} else {
			err = v.here(ctx, who)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil && v.done == 0 {
		return nil, err
	}
	return v.report(ctx.Err() != nil), nil
}

type verifying struct {
	o         Options
	h         host.Host
	began     time.Time
	diagnosis *qsandbox.Diagnosis
	why       map[string]string // backend -> why this user cannot use it
	base      string
	bin       string
	program   string
	items     []*item
	own       func() *own // what the account's own policy does here
	words     []string
	mu        sync.Mutex
	done      int
	total     int
}

// prepare makes the throw-away place, and asks the backends.
func (v *verifying) prepare(ctx context.Context) (err error) {
	if v.o.Jobs <= 0 {
		v.o.Jobs = runtime.NumCPU()
	}
	if v.o.Template != "" {
		if v.words, err = installed(v.o.Template); err != nil {
			return err
		}
	}
	if v.diagnosis, err = qsandbox.Doctor(ctx); err != nil {
		return err
	}
	v.why = unusable(v.diagnosis)
	if v.base, err = makeBase(v.o.Dir); err != nil {
		return fault.Wrap(fault.PathInvalid, "make a throw-away place", v.o.Dir, err).WithHint("name a directory outside /tmp with --dir; everybody must be able to search it")
	}
	defer func() {
		if err != nil {
			v.clean()
		}
	}()
	v.bin = filepath.Join(v.base, "bin")
	v.program = filepath.Join(v.bin, "qsandbox")
	if err = copyProgram(v.o.Program, v.program); err != nil {
		return fault.Wrap(fault.PathInvalid, "copy the program", v.program, err)
	}
	if err = copyStore(v.o.Program, v.bin); err != nil {
		return fault.Wrap(fault.PathInvalid, "copy the program", storeProgram, err)
	}
	return nil
}

// unusable says why backends cannot be used. Each identity asks for itself: root may
// what a user may not, and a user's namespaces work where root has none to give.
func unusable(d *qsandbox.Diagnosis) map[string]string {
	why := map[string]string{}
	for _, b := range d.Backends {
		if b.Answer != qsandbox.AnswerYes {
			why[b.Name] = b.Name + " cannot be used here: " + b.Reason
		}
	}
	return why
}

func (v *verifying) clean() { _ = removeAll(v.base) }

// makeBase makes a directory that every user can search. It lies outside /tmp,
// /var/tmp and /dev/shm, which are private inside a sandbox.
func makeBase(dir string) (string, error) {
	parents := []string{dir}
	if dir == "" {
		home, _ := os.UserHomeDir()
		parents = []string{"/var/lib", home, "."}
	}
	var last error
	for _, parent := range parents {
		if parent == "" {
			continue
		}
		made, err := os.MkdirTemp(parent, "qsandbox-verify-")
		if err == nil {
			made, err = filepath.Abs(made)
		}
		if err == nil {
			err = os.Chmod(made, 0o755)
		}
		if err == nil {
			return filepath.EvalSymlinks(made)
		}
		last = err
	}
	return "", last
}

func copyProgram(from, to string) error {
	if from == "" {
		var err error
		if from, err = os.Executable(); err != nil {
			return err
		}
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}

// identities are who the cases run as: root and an ordinary user, or only the user
// that this is.
func (v *verifying) identities() []Identity {
	can := []Identity{AsUser}
	if v.h.User.UID == 0 {
		can = append(can, AsRoot)
	}
	if len(v.o.As) == 0 && v.o.Template != "" {
		return can[:1] // SECURITY: a template that confines nothing must not do what cases try as root
	}
	if len(v.o.As) == 0 && v.o.Matrix == results.Quick {
		return can[len(can)-1:]
	}
	if len(v.o.As) == 0 {
		return can
	}
	return slices.DeleteFunc(can, func(i Identity) bool { return !slices.Contains(v.o.As, i) })
}

// plan makes the items: case × backend × mode.
func (v *verifying) plan(ctx context.Context) {
	v.own = sync.OnceValue(func() *own { return v.lookAtOwn(ctx) })
	for _, c := range v.o.Cases {
		goos := v.h.GOOS
		why := c.Skip
		if !slices.Contains(c.Platforms, goos) {
			goos, why = c.Platforms[0], "needs "+c.Platforms[0]
			if c.Skip != "" {
				why += "; " + c.Skip
			}
		}
		for _, b := range v.backends(c, goos) {
			for _, m := range v.modes(c) {
				if len(v.o.Backends) > 0 && !slices.Contains(v.o.Backends, b) || len(v.o.Modes) > 0 && !slices.Contains(v.o.Modes, m) {
					continue
				}
				v.items = append(v.items, &item{c: c, backend: b, mode: m, skip: why})
			}
		}
	}
	v.total = len(v.ownItems())
	for _, who := range v.identities() {
		v.total += len(v.tasks(who))
	}
}

// modes: a command template knows none; its records are those of compat, which is
// what a template usually comes to.
func (v *verifying) modes(c *Case) []string {
	if v.words != nil {
		return []string{"compat"}
	}
	if c.own() && v.h.GOOS == "linux" {
		return []string{v.own().mode}
	}
	if v.o.Matrix == results.Quick {
		return quickMode(c.modes())
	}
	return c.modes()
}

// backends: a command template is one backend.
func (v *verifying) backends(c *Case, goos string) []string {
	if v.words != nil {
		return []string{"command"}
	}
	return c.backends(goos)
}

// tasks are the items that an identity tries.
func (v *verifying) tasks(who Identity) []*item {
	return slices.DeleteFunc(slices.Clone(v.items), func(it *item) bool { return it.skip != "" || !it.c.runsAs(who) || v.words == nil && it.c.own() })
}

// keep takes one run, and tells of it.
func (v *verifying) keep(it *item, run results.Run) {
	v.mu.Lock()
	defer v.mu.Unlock()
	it.runs = append(it.runs, run)
	v.done++
	if v.o.Progress != nil {
		v.o.Progress(v.done, v.total, v.record(it))
	}
}

// here runs an identity's tasks in this process.
func (v *verifying) here(ctx context.Context, who Identity) error {
	g, err := newGround(filepath.Join(v.base, string(who)), v.bin, v.program)
	if err != nil {
		return fault.Wrap(fault.PathInvalid, "make a throw-away place", v.base, err)
	}
	defer g.close()
	box := v.o.box
	if box == nil {
		box = boxOf(v.words)
	}
	t := &trier{g: g, box: box, who: who, controls: map[string]func() shownBare{}, soak: v.o.Soak}
	if v.words == nil {
		t.cannot = v.why
	}
	tasks := v.tasks(who)
	work(v.o.Jobs, len(tasks), func(i int) bool { return tasks[i].c.soaks() }, func(i int) {
		if ctx.Err() != nil {
			return
		}
		run := t.try(ctx, tasks[i].c, tasks[i].backend, tasks[i].mode)
		if ctx.Err() == nil || tasks[i].c.soaks() { // what was cut short shows nothing, but of a soak
			v.keep(tasks[i], run)
		}
	})
	return nil
}

func boxOf(words []string) sandbox {
	if words != nil {
		return wrapper{words}
	}
	return product{}
}

// work does n things, some at once. Those that are long and mostly wait come last, all
// together.
func work(jobs, n int, last func(i int) bool, do func(i int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(jobs, max(n, 1)) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		if !last(i) {
			next <- i
		}
	}
	close(next)
	wg.Wait()
	for i := range n {
		if last(i) {
			wg.Go(func() { do(i) })
		}
	}
	wg.Wait()
}
