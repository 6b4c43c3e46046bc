package guard

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// playBench makes n calls of a kind and prints nanoseconds for each: the best of
// short stretches, since others use the machine too.
func playBench(kind string) error {
	const n, stretch = 4000, 25
	best, start := time.Hour, time.Now()
	for i := range n {
		if i%stretch == 0 && i > 0 {
			best, start = min(best, time.Since(start)), time.Now()
		}
		var err error
		switch kind {
		case "open":
			var fd int
			if fd, err = unix.Open("bench", unix.O_CREAT|unix.O_RDWR, 0o644); err == nil {
				err = unix.Close(fd)
			}
		case "create":
			var fd int
			if fd, err = unix.Open(fmt.Sprintf("%s/c%d", os.Getenv("BENCH_DIR"), i), unix.O_CREAT|unix.O_WRONLY|unix.O_EXCL, 0o644); err == nil {
				err = unix.Close(fd)
			}
		case "mkdir":
			err = unix.Mkdir(fmt.Sprintf("m%d", i), 0o755)
		case "rename":
			err = unix.Rename(fmt.Sprintf("r%d", i&1), fmt.Sprintf("r%d", i&1^1))
		}
		if err != nil {
			return err
		}
	}
	_, err := fmt.Println(best.Nanoseconds() / stretch)
	return err
}

func BenchmarkCalls(b *testing.B) {
	for _, kind := range []string{"open", "create", "mkdir", "rename"} {
		for _, notify := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/guard=%v", kind, notify), func(b *testing.B) {
				best := 1e18
				for range 5 {
					best = min(best, oneBench(b, kind, notify))
				}
				b.ReportMetric(best/1e3, "µs/call")
			})
		}
	}
}

func oneBench(b *testing.B, kind string, notify bool) float64 {
	t := &testing.T{}
	dir := b.TempDir()
	r := &rig{t: t, root: dir + "/ws"}
	os.MkdirAll(r.root+"/sub/dir", 0o755)
	os.WriteFile(r.root+"/r0", nil, 0o644)
	os.Setenv("BENCH_DIR", r.root+"/sub/dir")
	out, err := r.order(order{Notify: notify, Bench: kind})
	var ns float64
	if _, e := fmt.Sscan(out, &ns); err != nil || e != nil {
		b.Fatal(out, err, e)
	}
	return ns
}

// BenchmarkLoads times whole programs: an archive of 5,000 small files, and the
// files and renames that a package manager makes.
func BenchmarkLoads(b *testing.B) {
	src := b.TempDir()
	make := exec.Command("sh", "-ec", `mkdir t; cd t; for d in $(seq 50); do mkdir $d; for f in $(seq 100); do echo $f > $d/$f; done; done; cd ..; tar cf t.tar t`)
	make.Dir = src
	if out, err := make.CombinedOutput(); err != nil {
		b.Fatal(err, string(out))
	}
	for name, script := range map[string]string{
		"tar":  "tar xf " + src + "/t.tar",
		"cp":   "cp -a " + src + "/t t",
		"git":  "cp -a " + src + "/t t; cd t; git init -q; git add .; git commit -qm x",
		"node": `node -e 'const fs=require("fs");for(let i=0;i<3000;i++){const d="n"+(i%60);fs.mkdirSync(d,{recursive:true});fs.writeFileSync(d+"/.f"+i,"x".repeat(500));fs.renameSync(d+"/.f"+i,d+"/f"+i)}'`,
	} {
		for _, notify := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/guard=%v", name, notify), func(b *testing.B) {
				best := time.Hour
				for range 3 {
					r := &rig{t: &testing.T{}, root: b.TempDir() + "/ws"}
					os.MkdirAll(r.root, 0o755)
					start := time.Now()
					if out, err := r.run(notify, "sh", "-ec", script); err != nil {
						b.Fatal(out, err)
					}
					best = min(best, time.Since(start))
				}
				b.ReportMetric(float64(best.Milliseconds()), "ms/run")
			})
		}
	}
}
