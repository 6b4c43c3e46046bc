package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/internal/mcpserver"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// shellNoop is what a call of the MCP server runs, as the library sees it.
var shellNoop = []string{"bash", "-c", "true"}

// mcp measures what the server adds to a call of the library.
func (b *bench) mcp() error {
	const group = "one call of the MCP server, bash -c true"
	backend := policy.LinuxNative
	layers := []policy.Layer{{Origin: policy.Origin{Kind: policy.OriginFlags}, Backend: &backend, Workspace: &b.workspace}}
	library := func() error {
		rep, err := qsandbox.Run(context.Background(), qsandbox.Request{Layers: layers, Command: shellNoop, Stdout: io.Discard, Stderr: io.Discard})
		if err == nil && rep.Exit.Code != 0 {
			err = fmt.Errorf("exit code %d", rep.Exit.Code)
		}
		return err
	}
	if err := library(); err != nil {
		b.skip(group, err)
		return nil
	}
	peer, err := newMCPPeer(layers)
	if err != nil {
		b.skip(group, err)
		return nil
	}
	do := []func() error{library, peer.call, peer.ping}
	times, err := rounds(max(20, b.n), b.budget(30*time.Second), len(do), func(i int) error { return do[i]() })
	if err != nil {
		return err
	}
	over := ratios(times[1], times[0])
	for i, name := range []string{"library", "MCP server", "MCP server, ping"} {
		b.add(row(group, name, "ms", append([]float64(nil), times[i]...)))
	}
	r := row(group+": × library", "MCP server", "x", over)
	r.Bar = 1.15
	b.add(r)
	return peer.close()
}

// mcpPeer is a client in this process.
type mcpPeer struct {
	to    *io.PipeWriter
	from  *bufio.Reader
	ended chan error
	next  int
}

func newMCPPeer(layers []policy.Layer) (*mcpPeer, error) {
	srv, err := mcpserver.New(context.Background(), mcpserver.Options{Layers: layers})
	if err != nil {
		return nil, err
	}
	in, to := io.Pipe()
	from, out := io.Pipe()
	p := &mcpPeer{to: to, from: bufio.NewReader(from), ended: make(chan error, 1)}
	go func() { p.ended <- srv.Serve(context.Background(), in, out) }()
	if _, err := p.ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{}}`); err != nil {
		return nil, err
	}
	return p, p.call()
}

// ask sends one request and waits for its answer.
func (p *mcpPeer) ask(method, params string) (json.RawMessage, error) {
	p.next++
	if _, err := fmt.Fprintf(p.to, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", p.next, method, params); err != nil {
		return nil, err
	}
	line, err := p.from.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	var a struct{ Result, Error json.RawMessage }
	if err := json.Unmarshal(line, &a); err != nil {
		return nil, err
	}
	if a.Error != nil {
		return nil, fmt.Errorf("%s: %s", method, a.Error)
	}
	return a.Result, nil
}

func (p *mcpPeer) call() error {
	res, err := p.ask("tools/call", `{"name":"Bash","arguments":{"command":"true"}}`)
	if err != nil {
		return err
	}
	var r struct{ IsError bool }
	if err := json.Unmarshal(res, &r); err != nil || r.IsError {
		return fmt.Errorf("a call failed: %s", res)
	}
	return nil
}

func (p *mcpPeer) ping() error {
	_, err := p.ask("ping", "{}")
	return err
}

func (p *mcpPeer) close() error {
	p.to.Close()
	return <-p.ended
}
