package conformance

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// onTheHost is the value of runs for a case that is about the program's own commands,
// such as what it makes of an old store. No sandbox takes part: the command runs outside,
// with $QSANDBOX, on what its set-up made.
const onTheHost = "outside"

// where says where a case's command runs.
func (c *Case) where() string {
	if c.Runs == onTheHost {
		return onTheHost
	}
	return "inside"
}

// onHost runs such a case.
func (k call) onHost(ctx context.Context) inside {
	began := time.Now()
	tr := k.p.outsideArgv(ctx, k.argv, k.c.Stdin, k.limit)
	return inside{code: tr.exit, out: tr.out, took: time.Since(began)}
}

// checkOnHost looks at a case of that kind as a whole.
func (p *parsing) checkOnHost() error {
	c := p.c
	switch {
	case c.Runs == "":
		return nil
	case c.Runs != onTheHost:
		return p.fail("runs", "the only value is %s", onTheHost)
	case c.Want != Works && c.Want != Ends || c.Signal != "":
		return p.fail("runs", "a case that runs outside expects works or exit N")
	case len(c.Backends) != 1 || c.Backends[0] != "policy":
		return p.fail("runs", "no backend takes part: write backends: policy")
	case c.Policy+c.Twin+c.Control+c.Available+c.Driver+c.Cwd+c.Network+c.Event+c.Backend != "" || c.Terminal:
		return p.fail("runs", "a case that runs outside has no sandbox to say something about")
	}
	return nil
}

// storeProgram is the program that knows the database; it belongs next to the other.
const storeProgram = "qsandbox-store"

// copyStore copies it along, so that cases can have a store. Without it they skip.
func copyStore(program, dir string) error {
	if program == "" {
		var err error
		if program, err = os.Executable(); err != nil {
			return err
		}
	}
	name := storeProgram
	if strings.HasSuffix(program, ".exe") {
		name += ".exe"
	}
	from := filepath.Join(filepath.Dir(program), name)
	if _, err := os.Stat(from); err != nil {
		real, err := filepath.EvalSymlinks(program)
		if err != nil {
			return err
		}
		from = filepath.Join(filepath.Dir(real), name)
	}
	if _, err := os.Stat(from); err != nil {
		return nil
	}
	return copyProgram(from, filepath.Join(dir, name))
}
