package random

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// Place is where worlds are tried.
type Place struct {
	Dir     string // everybody can search it, and it lies outside /tmp
	Program string // shown to the sandbox; with the argument "perform" it calls Perform
}

// Disagreement is an operation of which not everybody says the same.
type Disagreement struct {
	World   World
	Backend string
	Op      Op
	Kernel  bool   // what happened
	Explain bool   // what explain said
	Reading bool   // what the second reading says
	Rule    string // by which explain decided
	Detail  string
}

func (d Disagreement) String() string {
	word := map[bool]string{true: "allowed", false: "denied"}
	return fmt.Sprintf("seed %d, %s: %s %q: kernel %s, explain %s (%s), second reading %s; %s", d.World.Seed, d.Backend, d.Op.Verb, d.Op.Path,
		word[d.Kernel], word[d.Explain], d.Rule, word[d.Reading], d.Detail)
}

// Result is what came of a world.
type Result struct {
	Pairs         int // operations that were compared
	Refused       string
	Disagreements []Disagreement
}

// trial is a world at its place on one backend.
type trial struct {
	w       World
	root    string
	backend string
	argv    []string
	req     qsandbox.Request
	second  *reading
	before  map[string][]byte // what files hold, by real path
	answers map[qsandbox.Question]qsandbox.Verdict
}

// Try performs a world that was built at root on one backend, and compares.
func (p Place) Try(ctx context.Context, w World, root, backend string) (Result, error) {
	return p.try(ctx, w, root, backend, read)
}

// try takes any second reading: tests put a wrong one there.
func (p Place) try(ctx context.Context, w World, root, backend string, second func(string, Rules) *reading) (Result, error) {
	t := &trial{w: w, root: root, backend: backend, argv: []string{p.Program, "perform"}}
	layer, err := policy.Parse("random", w.Rules.policy(root, backend))
	if err != nil {
		return Result{Refused: err.Error()}, nil
	}
	os.Setenv("HOME", filepath.Join(root, "home"))
	t.req = qsandbox.Request{Layers: []policy.Layer{layer}, Command: t.argv}
	// What the policy makes, it makes before anybody looks.
	var out, msg bytes.Buffer
	req := t.req
	req.Stdin, req.Stdout, req.Stderr = strings.NewReader("[]"), &out, &msg
	if _, err := qsandbox.Run(ctx, req); err != nil {
		_, explained := qsandbox.Explain(t.req, qsandbox.OpRead, root)
		if explained == nil {
			return Result{}, fmt.Errorf("seed %d, %s: explain answers for a policy that cannot be run: %w", w.Seed, backend, err)
		}
		return Result{Refused: err.Error()}, nil
	}
	t.second = second(root, w.Rules)
	t.before = contents(root)
	if err := t.ask(); err != nil {
		return Result{}, fmt.Errorf("seed %d, %s: %w", w.Seed, backend, err)
	}
	did, err := t.perform(ctx)
	if err != nil {
		return Result{}, fmt.Errorf("seed %d, %s: %w", w.Seed, backend, err)
	}
	return t.compare(did)
}

// policy writes the rules down.
func (r Rules) policy(root, backend string) []byte {
	list := func(entries []string) []string {
		out := []string{}
		for _, e := range entries {
			out = append(out, absolute(root, e))
		}
		return out
	}
	prevent := "detect"
	if r.Prevent {
		prevent = "prevent"
	}
	data, err := json.Marshal(map[string]any{
		"version": 1, "mode": r.Mode, "backend": backend, "workspace": root + "/ws",
		"filesystem": map[string]any{"writable": list(r.Writable), "readable": list(r.Readable), "denyRead": list(r.DenyRead), "denyWrite": list(r.DenyWrite),
			"allowProtected": list(r.AllowProtected), "newProtected": prevent},
	})
	if err != nil {
		panic(err) // strings only
	}
	return data
}

// perform has the sandbox do all operations in one start.
func (t *trial) perform(ctx context.Context) ([]did, error) {
	var orders []order
	for _, op := range t.w.Ops {
		orders = append(orders, order{op.Verb, []byte(filepath.Join(t.root, op.Path)), []byte(filepath.Join(t.root, op.To))})
	}
	in, err := json.Marshal(orders)
	if err != nil {
		return nil, err
	}
	var out, msg bytes.Buffer
	req := t.req
	req.Stdin, req.Stdout, req.Stderr = bytes.NewReader(in), &out, &msg
	rep, err := qsandbox.Run(ctx, req)
	if err != nil {
		return nil, err
	}
	var list []did
	if err := json.Unmarshal(out.Bytes(), &list); err != nil || len(list) != len(orders) {
		return nil, fmt.Errorf("the command inside answered %d bytes (exit %d): %w: %s", out.Len(), rep.Exit.Code, errors.Join(err), msg.String())
	}
	return list, nil
}

// compare asks explain and the second reading, and looks at what is there now.
func (t *trial) compare(list []did) (Result, error) {
	var res Result
	appended := map[string]int{}
	for i, op := range t.w.Ops {
		d := list[i]
		path := filepath.Join(t.root, op.Path)
		real, ok := landOn(path)
		if !ok || !t.possible(op, real) {
			continue
		}
		kernel := d.OK && t.happened(op, d, real, appended)
		v := t.answers[t.question(op.Verb, op.Path)]
		allowed, second := v.Allowed, t.second.allows(op.Verb, path)
		if op.To != "" {
			allowed = allowed && t.answers[t.question(Create, op.To)].Allowed
			second = second && t.second.allows(Create, filepath.Join(t.root, op.To))
			if !kernel && allowed == second {
				allowed, second = false, false // the kernel may have reasons of its own
			}
		}
		res.Pairs++
		if kernel != allowed || kernel != second {
			res.Disagreements = append(res.Disagreements, Disagreement{World: t.w, Backend: t.backend, Op: op, Kernel: kernel, Explain: allowed, Reading: second, Rule: v.Rule, Detail: d.Err})
		}
	}
	return res, t.grown(appended)
}

// possible tells whether the operation could work at all where nothing is denied.
func (t *trial) possible(op Op, real string) bool {
	info, err := os.Stat(real)
	switch op.Verb {
	case Create, Mkdir:
		parent, err := os.Stat(filepath.Dir(real))
		return err == nil && parent.IsDir()
	case List:
		return err == nil && info.IsDir()
	case HardTo, Rename:
		parent, perr := os.Stat(filepath.Dir(filepath.Join(t.root, op.To)))
		return err == nil && info.Mode().IsRegular() && perr == nil && parent.IsDir()
	case Exec:
		return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
	}
	return err == nil && info.Mode().IsRegular()
}

// happened looks at the effect outside: what was read is what the host has there,
// what was made is there.
func (t *trial) happened(op Op, d did, real string, appended map[string]int) bool {
	switch op.Verb {
	case Read:
		return len(t.before[real]) > 0 && bytes.HasPrefix(d.Data, t.before[real])
	case List:
		id, err := identify(real)
		return err == nil && id == d.ID
	case Write:
		appended[real]++
	case Create, Mkdir, HardTo:
		at := real
		if op.To != "" {
			at = filepath.Join(t.root, op.To)
		}
		_, err := os.Lstat(at)
		_ = os.Remove(at)
		return err == nil
	}
	return true
}

// ask asks explain about all operations at once.
func (t *trial) ask() error {
	var list []qsandbox.Question
	for _, op := range t.w.Ops {
		list = append(list, t.question(op.Verb, op.Path))
		if op.To != "" {
			list = append(list, t.question(Create, op.To))
		}
	}
	verdicts, err := qsandbox.ExplainAll(t.req, list)
	t.answers = map[qsandbox.Question]qsandbox.Verdict{}
	for i, v := range verdicts {
		t.answers[list[i]] = v
	}
	return err
}

func (t *trial) question(v Verb, path string) qsandbox.Question {
	op := map[Verb]qsandbox.Operation{Read: qsandbox.OpRead, List: qsandbox.OpRead, Exec: qsandbox.OpExec}[v]
	return qsandbox.Question{Operation: cmp.Or(op, qsandbox.OpWrite), Target: filepath.Join(t.root, path)}
}

// contents gives what each file holds.
func contents(root string) map[string][]byte {
	out := map[string][]byte{}
	_ = filepath.WalkDir(root, func(p string, e os.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			out[p], _ = os.ReadFile(p)
		}
		return nil
	})
	return out
}

// grown compares what was written inside with what the host's files gained. Hard
// links are one file, so sums over names that are the same are compared.
func (t *trial) grown(appended map[string]int) error {
	for p, was := range t.before {
		info, err := os.Stat(p)
		if err != nil {
			return fmt.Errorf("seed %d, %s: %q is gone", t.w.Seed, t.backend, p)
		}
		want := 0
		for q, n := range appended {
			if other, err := os.Stat(q); err == nil && os.SameFile(info, other) {
				want += n
			}
		}
		if got := int(info.Size()) - len(was); got != want {
			return fmt.Errorf("seed %d, %s: %q gained %d bytes, %d were written inside", t.w.Seed, t.backend, p, got, want)
		}
	}
	return nil
}
