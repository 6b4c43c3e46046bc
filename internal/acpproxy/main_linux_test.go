package acpproxy

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/acpterm"
	"github.com/qiming-sandbox/qsandbox/internal/backend/backendtest"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// TestMain: the binary also plays the agents that tests ask for.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if play := agents[os.Args[1]]; play != nil {
			play(os.Args[2:])
			return
		}
	}
	patience = time.Second
	os.Exit(backendtest.Main(m, backendtest.Options{}))
}

// agents are what the binary plays, by its first argument.
var agents map[string]func(args []string)

// binary is a copy of this binary where a sandbox shows it; go test's own lies in /tmp.
var binary = sync.OnceValues(func() (string, error) {
	to := filepath.Join(backendtest.Base(), "agent.test")
	data, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		return "", err
	}
	return to, os.WriteFile(to, data, 0o755)
})

func self(t testing.TB) string {
	t.Helper()
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// bridge is a proxy with a real agent in its sandbox, and the client's two ends.
type bridge struct {
	place *backendtest.Place
	in    io.WriteCloser // what the client writes to
	out   *io.PipeReader // what the client reads from
	stop  context.CancelFunc
	done  chan struct{}
	rep   *report.Report
	err   error

	mu      sync.Mutex
	remarks []string
	stderr  buffer
}

func needSandbox(t testing.TB) {
	t.Helper()
	if (backendtest.Setup{Backend: policy.Auto, Mode: policy.Compat}).Unusable() != "" {
		backendtest.NeedBackend(t, policy.LinuxNative)
	}
}

// start starts an agent behind the proxy.
func start(t testing.TB, change func(*Options), command ...string) *bridge {
	t.Helper()
	needSandbox(t)
	b := &bridge{place: backendtest.NewPlace(t), done: make(chan struct{})}
	grace := 300 * time.Millisecond
	l := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags}, Workspace: &b.place.WS}
	l.Limits.Grace = &grace
	fromClient, toProxy := io.Pipe()
	fromProxy, toClient := io.Pipe()
	b.in, b.out = toProxy, fromProxy
	o := Options{
		Agent:     qsandbox.Request{Layers: []policy.Layer{l}, Command: command},
		Terminals: acpterm.Options{Layers: []policy.Layer{l}},
		In:        fromClient, Out: toClient, Stderr: &b.stderr,
		Remark: func(s string) { b.mu.Lock(); b.remarks = append(b.remarks, s); b.mu.Unlock() },
	}
	if change != nil {
		change(&o)
	}
	var ctx context.Context
	ctx, b.stop = context.WithCancel(context.Background())
	go func() {
		b.rep, b.err = Run(ctx, o)
		toClient.Close()
		close(b.done)
	}()
	t.Cleanup(func() {
		b.in.Close()
		b.out.Close()
		b.stop()
		<-b.done
		if t.Failed() {
			t.Logf("agent's stderr: %s\nremarks: %q\nerror: %v", b.stderr.String(), b.remarks, b.err)
		}
	})
	return b
}
