package main

import (
	"context"
	"fmt"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// library runs a command by the library, with the default policy.
func (b *bench) library(backend policy.Backend) error {
	rep, err := qsandbox.Run(context.Background(), qsandbox.Request{
		Layers:  []policy.Layer{{Origin: policy.Origin{Kind: policy.OriginFlags}, Backend: &backend, Workspace: &b.workspace}},
		Command: []string{noop},
	})
	if err == nil && rep.Exit.Code != 0 {
		err = fmt.Errorf("exit code %d", rep.Exit.Code)
	}
	return err
}

func (b *bench) execute(argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = b.workspace, b.env
	return cmd.Run()
}

// insiders are the ways of starting a command from a running Go program. The first is
// what the others are compared with.
func (b *bench) insiders() (names []string, do []func() error) {
	all := []struct {
		name string
		do   func() error
	}{
		{"os/exec bwrap", func() error { return b.execute(b.plainBwrap(b.workspace, noop)) }},
		{"os/exec bare", func() error { return b.execute([]string{noop}) }},
		{"library linux-native", func() error { return b.library(policy.LinuxNative) }},
		{"library linux-bwrap", func() error { return b.library(policy.LinuxBwrap) }},
	}
	for i, v := range all {
		if err := v.do(); err != nil {
			b.skip("from a Go program, "+v.name, err)
			if i == 0 {
				return nil, nil
			}
			continue
		}
		names, do = append(names, v.name), append(do, v.do)
	}
	return names, do
}

// inProcess measures a start from a running Go program, with heaps of several sizes:
// to fork must not become dearer with the caller's memory.
func (b *bench) inProcess() error {
	names, do := b.insiders()
	rel := map[string][]Row{} // ratios to bwrap, by name
	for _, mib := range []int{0, 64, 512} {
		if len(do) == 0 {
			return nil
		}
		heap := make([]byte, mib<<20)
		for i := 0; i < len(heap); i += 4096 {
			heap[i] = 1
		}
		times, err := rounds(max(20, b.n/2), b.budget(20*time.Second), len(do), func(i int) error {
			err := do[i]()
			if err != nil {
				b.skip("one start of "+names[i], err)
			}
			return err
		})
		if err != nil {
			return err
		}
		runtime.KeepAlive(heap)
		group := fmt.Sprintf("start and end of /bin/true, from a Go program with a heap of %d MiB", mib)
		for i, name := range names {
			b.add(row(group, name, "ms", append([]float64(nil), times[i]...)))
		}
		for i, name := range names[1:] {
			r := row(group+": × bwrap", name, "x", ratios(times[i+1], times[0]))
			if name == "library linux-native" {
				r.Bar = 0.55
			}
			rel[name] = append(rel[name], r)
			b.add(r)
		}
		heap = nil
		debug.FreeOSMemory()
	}
	for _, name := range names {
		if r := rel[name]; len(r) == 3 && strings.HasPrefix(name, "library") { // of ratios: what else the machine did had changed in between
			small, big := r[0], r[2]
			b.add(Row{Group: "heap of 512 MiB: × a heap of 0", Name: name, Unit: "x", N: big.N,
				Median: big.Median / small.Median, Lo: big.Lo / small.Hi, Hi: big.Hi / small.Lo, Bar: 1.15})
		}
	}
	return nil
}

// atOnce measures rates with eight callers.
func (b *bench) atOnce() error {
	const callers, group = 8, "/bin/true, 8 at once from one Go program"
	names, do := b.insiders()
	slices, length := 14, 250*time.Millisecond
	if b.quick {
		slices, length = leastN, 100*time.Millisecond
	}
	rates := make([][]float64, len(do))
	for range slices {
		for i := range do {
			rate, err := rateOf(callers, length, do[i])
			if err != nil {
				return err
			}
			rates[i] = append(rates[i], rate)
		}
	}
	for i, name := range names {
		r := row(group, name, "/s", append([]float64(nil), rates[i]...))
		r.Higher = true
		b.add(r)
	}
	for i := 1; i < len(names); i++ {
		r := row(group+": × bwrap", names[i], "x", ratios(rates[i], rates[0]))
		r.Higher = true
		if names[i] == "library linux-native" {
			r.Bar = 2
		}
		b.add(r)
	}
	return nil
}

// rateOf gives how often a second something can be done by several callers.
func rateOf(callers int, length time.Duration, do func() error) (float64, error) {
	var count, failures atomic.Int64
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	began := time.Now()
	for range callers {
		all.Go(func() {
			for time.Since(began) < length {
				if err := do(); err != nil {
					failed.Store(&err)
					failures.Add(1)
					continue
				}
				count.Add(1)
			}
		})
	}
	all.Wait()
	if failures.Load() > count.Load() { // a few are chance on a shared machine: see tries
		return 0, *failed.Load()
	}
	return float64(count.Load()) / time.Since(began).Seconds(), nil
}
