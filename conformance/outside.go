package conformance

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// maxOutput is what is kept of one stream, in bytes.
const maxOutput = 16 << 10

// bounded keeps the beginning of what is written to it.
type bounded struct {
	buf  bytes.Buffer
	lost bool
}

func (b *bounded) Write(p []byte) (int, error) {
	if room := maxOutput - b.buf.Len(); len(p) > room {
		b.lost = true
		b.buf.Write(p[:room])
		return len(p), nil
	}
	return b.buf.Write(p)
}

// String gives valid UTF-8: what comes from inside is escaped where it is shown.
func (b *bounded) String() string {
	s := string(bytes.ToValidUTF8(b.buf.Bytes(), []byte("\uFFFD")))
	if b.lost {
		s += "\n[cut]"
	}
	return s
}

// trace is what came of a script.
type trace struct {
	exit int
	out  string
}

// outside runs a script on the host, with the place's variables. The whole group
// ends with the time limit.
func (p *place) outside(ctx context.Context, script string, limit time.Duration) trace {
	return p.outsideArgv(ctx, []string{"/bin/sh", "-c", script}, "", limit)
}

func (p *place) outsideArgv(ctx context.Context, argv []string, stdin string, limit time.Duration) trace {
	var out bounded
	t := p.outsideTo(ctx, argv, stdin, limit, &out)
	t.out = out.String() + t.out
	return t
}

// outsideTo writes the output to out; the trace has only what is to be said beside it.
func (p *place) outsideTo(ctx context.Context, argv []string, stdin string, limit time.Duration, out io.Writer) (t trace) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	if cmd.Dir = p.ws; !isDir(p.ws) { // the attempt has moved or removed it
		cmd.Dir = p.root
	}
	cmd.Env = os.Environ()
	for k, v := range p.vars() {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	cmd.Stdout, cmd.Stderr = out, out
	if stdin != "" {
		cmd.Stdin = bytes.NewReader([]byte(stdin))
	}
	ownGroup(cmd)
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		t.exit, t.out = 124, "\n[time limit]"
	case err == nil, errors.Is(err, exec.ErrWaitDelay):
	case errors.As(err, &exit):
		if t.exit = exit.ExitCode(); t.exit < 0 {
			t.exit = 128
		}
	default:
		t.exit, t.out = 126, err.Error()
	}
	return t
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
