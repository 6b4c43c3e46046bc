package conformance

import (
	"context"
	"io"
	"os"
	"strings"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/conformance/results"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

// call is one command that a sandbox is asked to run.
type call struct {
	c       *Case
	p       *place
	backend string
	mode    string
	argv    []string
	limit   time.Duration
	out     io.Writer // takes all of the output; nil: the beginning is kept
}

// inside is what a sandbox made of a call.
type inside struct {
	run      string // the id of the run
	code     int
	signal   string
	out      string
	err      error // the sandbox could not be had
	errCode  string
	backend  string
	degraded bool
	reason   string
	late     bool // the time of the case was over
	events   []results.Event
	took     time.Duration
}

// sandbox runs calls: this product, or the one that a template names.
type sandbox interface {
	// cannot says why a case means nothing for this sandbox, "" when it does.
	cannot(c *Case) string
	run(ctx context.Context, call call) inside
}

// product is qsandbox itself.
type product struct{}

func (product) cannot(*Case) string { return "" }

func (product) run(ctx context.Context, k call) inside {
	if k.c.Runs == onTheHost {
		return k.onHost(ctx)
	}
	var out bounded
	var in inside
	ctx, cancel := context.WithTimeout(ctx, k.limit)
	defer cancel()
	req, err := k.request(&in, &out)
	if err != nil {
		return inside{err: err, errCode: string(fault.CodeOf(err))}
	}
	if k.c.Stdin != "" {
		req.Stdin = strings.NewReader(k.c.Stdin)
	}
	if k.c.Terminal {
		req.Terminal, req.Stderr = &qsandbox.Terminal{Rows: 24, Cols: 80}, nil
		if req.Stdin == nil {
			req.Stdin = silent(ctx)
		}
	}
	began := time.Now()
	rep, err := qsandbox.Run(ctx, req)
	in.took, in.out = time.Since(began), out.String()
	in.ended(rep, err)
	return in
}

// request is what package qsandbox is asked for. Events go to in, output to out unless
// the call takes it itself.
func (k call) request(in *inside, out io.Writer) (qsandbox.Request, error) {
	layers, err := k.layers()
	if k.out != nil {
		out = k.out
	}
	return qsandbox.Request{
		Layers: layers, Command: k.argv, Cwd: k.expand(k.c.Cwd), Env: k.p.vars(), Stdout: out, Stderr: out,
		Events: func(e qsandbox.Event) {
			in.events = append(in.events, results.Event{Name: string(e.Name), Reason: e.Fields["reason"]})
		},
	}, err
}

// ended takes what the report says.
func (in *inside) ended(rep *report.Report, err error) {
	in.run, in.backend, in.degraded, in.reason, in.err = rep.ID, rep.Backend, rep.Degraded, rep.Reason, err
	if err != nil {
		in.errCode = string(fault.CodeOf(err))
		return
	}
	in.code, in.signal = rep.Exit.Code, rep.Exit.Signal
	if rep.Exit.Cause == report.Cancelled {
		in.late, in.out = true, in.out+"\n[time limit]"
	}
}

// silent is an input that stays open and says nothing until the call is over.
func silent(ctx context.Context) *os.File {
	r, w, err := os.Pipe()
	if err != nil {
		return nil
	}
	context.AfterFunc(ctx, func() { w.Close() })
	return r
}

// layers makes the policy of a call: the case's own, then what the matrix says.
func (k call) layers() ([]policy.Layer, error) {
	var out []policy.Layer
	if k.c.Policy != "" {
		l, err := policy.Parse(k.c.File+" section policy", []byte(k.expand(k.c.Policy)))
		if err != nil {
			return nil, err
		}
		out = append(out, l)
	}
	l := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags}, Workspace: &k.p.ws}
	if k.backend != "policy" {
		b, err := policy.ParseBackend(k.backend)
		if err != nil {
			return nil, err
		}
		l.Backend = &b
	}
	m, err := policy.ParseMode(k.mode)
	if err != nil {
		return nil, err
	}
	l.Mode = &m
	net, err := policy.ParseNetworkMode(orOff(k.c.Network))
	if err != nil {
		return nil, err
	}
	l.Network.Mode = &net
	l.Filesystem.Readable = &[]string{k.p.g.bin}
	if len(out) > 0 && out[0].Filesystem.Readable != nil {
		*l.Filesystem.Readable = append(*l.Filesystem.Readable, *out[0].Filesystem.Readable...)
	}
	if len(out) > 0 && out[0].Workspace != nil {
		l.Workspace = out[0].Workspace
	}
	return append(out, l), nil
}

func orOff(mode string) string {
	if mode == "" {
		return "off"
	}
	return mode
}

// expand puts the place's paths into policy text. They have no character that JSON
// or a pattern would read as something else.
func (k call) expand(text string) string {
	v := k.p.vars()
	return os.Expand(text, func(name string) string {
		if name == "HOME" {
			return k.p.g.home
		}
		return v[name]
	})
}
