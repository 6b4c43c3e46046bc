package e2e

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
)

func TestPythonMultiprocessing(t *testing.T) {
	job{needs: []string{"/usr/bin/python3"}, modes: all, setup: `cat > m.py <<'X'
import multiprocessing as mp, tempfile, sqlite3, threading, subprocess, mmap
from multiprocessing import shared_memory
def f(x): return x * x
if __name__ == "__main__":
    for how in ("fork", "spawn", "forkserver"):
        with mp.get_context(how).Pool(3) as p: assert p.map(f, range(10))[-1] == 81
    s = shared_memory.SharedMemory(create=True, size=100); s.buf[0] = 1; s.close(); s.unlink()
    l = mp.Lock(); l.acquire(); l.release()
    with tempfile.NamedTemporaryFile() as t: t.write(b"x")
    c = sqlite3.connect("db"); c.execute("pragma journal_mode=wal"); c.execute("create table t(x)"); c.commit(); c.close()
    assert subprocess.check_output(["echo", "x"]) == b"x\n"
X`, script: `/usr/bin/python3 m.py`}.run(t)
}

func TestPipIntoAVirtualEnvironment(t *testing.T) {
	usable(t, "/usr/bin/python3", "-c", "import ensurepip, venv")
	job{needs: []string{"/usr/bin/python3"}, modes: compat, setup: `
cat > wheel.py <<'X'
import zipfile
w = zipfile.ZipFile("lib-1.0-py3-none-any.whl", "w")
w.writestr("lib.py", "x = 42\n"); w.writestr("lib-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: lib\nVersion: 1.0\n")
w.writestr("lib-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"); w.writestr("lib-1.0.dist-info/RECORD", "lib.py,,\n")
w.close()
X
/usr/bin/python3 wheel.py`, script: `/usr/bin/python3 -m venv v && v/bin/pip install -q --no-index --disable-pip-version-check ./lib-1.0-py3-none-any.whl && [ "$(v/bin/python -c 'import lib; print(lib.x)')" = 42 ]`,
		after: `ls v/lib/*/site-packages/lib.py`}.run(t)
}

func TestShellFeatures(t *testing.T) {
	job{needs: []string{"bash"}, modes: all, script: `
[ "$(cat <<X
here $((1+1))
X
)" = "here 2" ]
diff <(echo a) <(echo a); echo x > >(cat > out); sleep .2; [ "$(cat out)" = x ]
coproc C { cat; }; echo hi >&"${C[1]}"; read -r l <&"${C[0]}"; [ "$l" = hi ]; exec {C[1]}>&-
mkfifo p; (echo f > p) & [ "$(cat p)" = f ]; wait
ulimit -n; trap 'echo exit > trapped' EXIT; umask 077; touch private; [ "$(stat -c %a private)" = 600 ]
seq 100000 | sort -rn | head -1 | grep -q 100000
[ "$(echo abc | tee >(cat >/dev/null) | tr a-c A-C)" = ABC ]; flock lock true; printf x | xargs -P4 -n1 echo >/dev/null`}.run(t)
}

func TestTarAndFind(t *testing.T) {
	job{needs: []string{"tar", "find"}, modes: all, setup: `mkdir -p a/b; for i in $(seq 50); do echo $i > a/b/$i; done; ln -s b a/l; chmod 750 a/b`,
		script: `tar cf t.tar a; mkdir x; tar xf t.tar -C x; diff -r a x/a; [ "$(find x -type f | wc -l)" = 50 ]; rm -rf x; cp -a a y; rm -r y`}.run(t)
}

// TestInteractiveShell types into bash on a terminal.
func TestInteractiveShell(t *testing.T) {
	for _, s := range all {
		t.Run(s.String(), func(t *testing.T) {
			backendtest.NeedBackend(t, s.Backend)
			r, w := io.Pipe()
			scr := &typist{in: w, lines: []string{"stty -echo; echo $((40+2)); tty", "history | head -1; set -o | grep -c monitor", "exit 3"}}
			res := s.Run(t, backendtest.NewPlace(t), backendtest.Call{Command: []string{"/bin/bash", "--norc", "--noprofile", "-i"}, Env: map[string]string{"PS1": "PROMPT>"}, Stdin: r, Stdout: scr, Terminal: &qsandbox.Terminal{Rows: 24, Cols: 80}})
			if res.Err != nil || res.Exit.Code != 3 || !strings.Contains(scr.shown(), "42") || !strings.Contains(scr.shown(), "/dev/pts/0") {
				t.Errorf("%q\n%s", scr.shown(), res.Describe())
			}
		})
	}
}

// typist types the next line at each prompt.
type typist struct {
	mu    sync.Mutex
	text  strings.Builder
	seen  int
	in    *io.PipeWriter
	lines []string
}

func (y *typist) Write(b []byte) (int, error) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.text.Write(b)
	for n := strings.Count(y.text.String(), "PROMPT>"); y.seen < n && len(y.lines) > 0; y.seen++ {
		line := y.lines[0]
		y.lines = y.lines[1:]
		go func() { _, _ = io.WriteString(y.in, line+"\r") }()
	}
	return len(b), nil
}

func (y *typist) shown() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	return y.text.String()
}
