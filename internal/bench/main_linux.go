package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// options are the command line.
type options struct {
	binary, out, compare string
	n                    int
	quick                bool
	files                int
}

// bench is one run of the benchmark.
type bench struct {
	options
	*Result
	dir       string   // everything that it makes, except the tree of files
	workspace string   // an empty one
	env       []string // of every process: state and cache lie in dir
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "bin/qsandbox", "the qsandbox `FILE` to measure")
	flag.StringVar(&o.out, "out", "", "write the figures as JSON to `FILE`")
	flag.StringVar(&o.compare, "compare", "", "compare with the saved `FILE`; exit with 1 when a ratio or size is worse by over 10 % and by more than chance")
	flag.IntVar(&o.n, "n", 200, "rounds of starts")
	flag.IntVar(&o.files, "files", 50000, "files in the tree for work inside")
	flag.BoolVar(&o.quick, "quick", false, "a rough answer in a few seconds")
	flag.Parse()
	code, err := run(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		code = 2
	}
	os.Exit(code)
}

func run(o options) (code int, err error) {
	if o.quick {
		o.n, o.files = min(o.n, 40), min(o.files, 4000)
	}
	var before *Result
	if o.compare != "" {
		if before, err = load(o.compare); err != nil {
			return 2, err
		}
	}
	b, err := newBench(o)
	if err != nil {
		return 2, err
	}
	defer os.RemoveAll(b.dir)
	started := time.Now()
	for _, part := range []func() error{b.starts, b.inProcess, b.atOnce, b.mcp, b.memory, b.work} {
		if err := part(); err != nil { // show the rest all the same
			b.skip("a part was not finished", err)
			code = 2
		}
	}
	b.Took = time.Since(started).Seconds()
	b.print(os.Stdout)
	if err := b.save(o.out); err != nil {
		return 2, err
	}
	if before != nil && b.compare(before) > 0 && code == 0 {
		code = 1
	}
	return code, nil
}

func (b *bench) compare(before *Result) int { return b.Result.compare(os.Stdout, before) }

// newBench makes the directories. They must not lie in /tmp, which is private inside.
func newBench(o options) (*bench, error) {
	binary, err := filepath.Abs(o.binary)
	if err != nil {
		return nil, err
	}
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("%w (build it first: make build)", err)
	}
	o.binary = binary
	base, err := filepath.Abs(filepath.Dir(o.out))
	if err != nil {
		return nil, err
	}
	if o.out == "" {
		base, _ = filepath.Abs("out")
	}
	if err := os.MkdirAll(base, 0o755); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(base, "bench-")
	if err != nil {
		return nil, err
	}
	b := &bench{options: o, Result: newResult(o.quick), dir: dir, workspace: filepath.Join(dir, "ws")}
	for name, value := range map[string]string{"XDG_STATE_HOME": filepath.Join(dir, "state"), "XDG_CACHE_HOME": filepath.Join(dir, "cache")} {
		if err := os.Setenv(name, value); err != nil {
			return nil, err
		}
	}
	b.env = os.Environ()
	return b, os.MkdirAll(b.workspace, 0o755)
}
