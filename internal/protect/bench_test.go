//go:build linux

package protect

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// benchTree makes a workspace without git's help: .git as git init leaves it, with n
// folders of three levels.
func benchTree(b *testing.B, folders int) string {
	ws := b.TempDir()
	write := func(rel, s string) {
		path := filepath.Join(ws, rel)
		if os.MkdirAll(filepath.Dir(path), 0o755) != nil || os.WriteFile(path, []byte(s), 0o644) != nil {
			b.Fatal("cannot write")
		}
	}
	write(".git/HEAD", "ref: refs/heads/main\n")
	write(".git/config", "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n[remote \"origin\"]\n\turl = https://x/y\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n")
	for i := range 13 {
		write(fmt.Sprintf(".git/hooks/h%d.sample", i), "")
	}
	write(".git/objects/x", "")
	write(".git/refs/x", "")
	for i := range folders {
		for f := range 8 {
			write(fmt.Sprintf("d%d/e%d/f%d/file%d.go", i%10, i/10%10, i/100, f), "")
		}
	}
	return ws
}

// cpu reports the processor time of one round: on a machine that others use, it says
// more than the time on the wall.
func cpu(b *testing.B) func() {
	used := func() int64 {
		var u syscall.Rusage
		_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
		return u.Utime.Nano() + u.Stime.Nano()
	}
	start := used()
	return func() { b.ReportMetric(float64(used()-start)/float64(b.N)/1000, "cpu-us/op") }
}

func BenchmarkScan(b *testing.B) {
	for _, n := range []int{0, 10, 100, 1000, 4000} {
		b.Run(fmt.Sprintf("folders=%d", n), func(b *testing.B) {
			ws, h := benchTree(b, n), host.Real()
			stop := cpu(b)
			for b.Loop() {
				Scan(h, []string{ws}, nil, nil, Limits{})
			}
			stop()
		})
	}
}

func BenchmarkScanWorktrees(b *testing.B) {
	ws, h := benchTree(b, 10), host.Real()
	for i := range 400 {
		dir := fmt.Sprintf("%s/.git/worktrees/w%d", ws, i)
		_ = os.MkdirAll(dir, 0o755)
		_ = os.WriteFile(dir+"/gitdir", fmt.Appendf(nil, "/nowhere/w%d/.git\n", i), 0o644)
		_ = os.WriteFile(dir+"/commondir", []byte("../..\n"), 0o644)
		_ = os.WriteFile(dir+"/HEAD", []byte("ref: refs/heads/main\n"), 0o644)
	}
	n, stop := 0, cpu(b)
	for b.Loop() {
		n = len(Scan(h, []string{ws}, nil, nil, Limits{}).Items)
	}
	stop()
	b.ReportMetric(float64(n), "items")
}

func BenchmarkCheck(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprintf("folders=%d", n), func(b *testing.B) {
			ws, h := benchTree(b, n), host.Real()
			f := Scan(h, []string{ws}, nil, nil, Limits{})
			stop := cpu(b)
			for b.Loop() {
				if v := Check(h, f); len(v) > 0 {
					b.Fatal(v)
				}
			}
			stop()
		})
	}
}

func BenchmarkJournal(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprintf("folders=%d", n), func(b *testing.B) {
			ws, h, state := benchTree(b, n), host.Real(), b.TempDir()
			f := Scan(h, []string{ws}, nil, nil, Limits{})
			stop := cpu(b)
			for b.Loop() {
				j, err := Begin(h, state, f, Meta{RunID: "r", Workspace: ws})
				if err != nil {
					b.Fatal(err)
				}
				_ = j.End()
			}
			stop()
		})
	}
}
