package acpproxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"
)

// buffer is one side that reads everything.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// pair is a proxy with both sides in the test's hands, and no process.
type pair struct {
	*proxy
	toClient, toAgent buffer
	remarks           []string
}

func newPair(t testing.TB, in io.Reader) *pair {
	x := &pair{}
	x.proxy = newProxy(Options{In: in, Out: &x.toClient, Remark: func(s string) { x.remarks = append(x.remarks, s) }}, &x.toAgent, func(error) {})
	t.Cleanup(func() {
		x.calls.close()
		x.terms.Close()
		x.calls.wait()
		x.client.abandon(errGone)
		x.agent.abandon(errGone)
	})
	return x
}

// agentSays lets the agent write text, in pieces of a size.
func (x *pair) agentSays(text string, piece int) {
	s := &splitter{max: maxLine, line: x.fromAgent, tooLong: x.overlong}
	for len(text) > 0 {
		n := min(piece, len(text))
		_, _ = s.Write([]byte(text[:n]))
		text = text[n:]
	}
	s.end()
}

// What nobody has to change passes byte for byte, in both directions.
func TestByteForByte(t *testing.T) {
	lines := []string{
		`{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"content":{"type":"text","text":"terminal\/create \u0000 é € 𝄞"}}}}`,
		` {  "id" : 1.0e0 , "result" : { "x" : [ 1 , 2 ] , "terminal/create" : true } } ` + "\r",
		`{"id":"x","method":"_zed/anything","params":[1,{"method":"terminal/create"}]}`,
		``, `  `, "\r",
		`{"jsonrpc":"2.0","id":7,"error":{"code":-32000,"message":"m","data":null}}`,
		`{"method":"$/cancel_request","params":{"requestId":99}}`,
		`{"method":"$/cancel_request"}`,
		`{"id":8,"result":{"authMethods":[{"id":"a","name":"b","type":"agent"},{"id":"c","_meta":{"x":1}}]}}`,
		`{"id":1e400,"result":{},"x":1,"x":2}`,
		`{"jsonrpc":"2.0"}`,
	}
	text := strings.Join(lines, "\n") + "\n" + lines[0] // the last without a newline
	for _, piece := range []int{1, 7, 1 << 20} {
		x := newPair(t, nil)
		x.agentSays(text, piece)
		if got := x.toClient.String(); got != text {
			t.Errorf("to the client:\n%q\nwant\n%q", got, text)
		}
		if got := x.toAgent.String(); got != "" {
			t.Errorf("answers to the agent: %s", got)
		}
	}
	text += "\n[1,2]\nnot json\n{\"method\":\"terminal/create\",\"id\":1}\n\xff\x00\n{\"id\":1,\"id\":2}\n\n{\"id\":3,\"method\":\"session/new\",\"params\":{\"cwd\":\"/x\"}}\nrest"
	for _, r := range []io.Reader{strings.NewReader(text), iotest.OneByteReader(strings.NewReader(text))} {
		x := newPair(t, r)
		if err := x.passClient(); err != nil {
			t.Fatal(err)
		}
		if got := x.toAgent.String(); got != text {
			t.Errorf("to the agent:\n%q\nwant\n%q", got, text)
		}
	}
}

// Only what must change changes, and only there.
func TestInitializeIsRewritten(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"id":0,"method":"initialize","params":{"protocolVersion":1}}`, `{"id":0,"method":"initialize","params":{"clientCapabilities":{"terminal":true},"protocolVersion":1}}`},
		{`{"id":0,"method":"initialize","params":{ }}`, `{"id":0,"method":"initialize","params":{"clientCapabilities":{"terminal":true} }}`},
		{`{"id":0,"method":"initialize","params":{"clientCapabilities":null}}`, `{"id":0,"method":"initialize","params":{"clientCapabilities":{"terminal":true}}}`},
		{`{"id":0,"method":"initialize","params":{"clientCapabilities":{ }}}`, `{"id":0,"method":"initialize","params":{"clientCapabilities":{"terminal":true }}}`},
		{`{ "id":0, "method":"initialize", "params":{"clientCapabilities" : {"fs":{"readTextFile":true}, "terminal" : false }, "x":1.50}}`, `{ "id":0, "method":"initialize", "params":{"clientCapabilities" : {"fs":{"readTextFile":true}, "terminal" : true }, "x":1.50}}`},
		{`{"id":0,"method":"initialize","params":{"clientCapabilities":{"terminal":true}}}`, ``},
		{`{"id":0,"method":"initialize","params":{"clientCapabilities":{"terminal":true,"auth":{"terminal":false}}}}`, ``},
		{`{"id":0,"method":"initialize","params":{"clientCapabilities":{"terminal":true,"auth":{"terminal":true},"_meta":{"terminal-auth":true,"y":1}}}}`, `{"id":0,"method":"initialize","params":{"clientCapabilities":{"terminal":true,"auth":{"terminal":false},"_meta":{"terminal-auth":false,"y":1}}}}`},
		{`{"id":0,"method":"initialize"}`, ``},
		{`{"method":"initialize","params":{}}`, ``},
		{`{"id":0,"method":"initialize","params":[]}`, ``},
	} {
		x := newPair(t, strings.NewReader(c.in+"\n"))
		_ = x.passClient()
		want := c.want
		if want == "" {
			want = c.in
		}
		if got := x.toAgent.String(); got != want+"\n" {
			t.Errorf("got  %swant %s", got, want)
		}
	}
}

// What makes the client start a program outside is taken out of the answer; the
// rest of the line stays as it was.
func TestTerminalLoginIsTakenOut(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"id":0, "result":{"authMethods": [ {"id":"a"} , {"id":"t","type":"terminal","args":["x"]}, {"id":"b"}], "x": 1.0}}`, `{"id":0, "result":{"authMethods": [{"id":"a"},{"id":"b"}], "x": 1.0}}`},
		{`{"id":0,"result":{"authMethods":[{"id":"t","_meta":{"terminal-auth":{"command":"/bin/sh"}}}]}}`, `{"id":0,"result":{"authMethods":[]}}`},
		{`{"id":0,"result":{"AUTHMethods":[{"Type":"Terminal"}],"authMethods":[{"ty\u0070e":"term\u0069nal"}]}}`, `{"id":0,"result":{"AUTHMethods":[],"authMethods":[]}}`},
		{`{"id":true,"result":{"authMethods":[{"type":"terminal"}]}}`, ``}, // refused as a whole
	} {
		x := newPair(t, nil)
		x.agentSays(c.in+"\n", 100)
		want := c.want
		if want != "" {
			want += "\n"
		}
		if got := x.toClient.String(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if len(x.remarks) == 0 {
			t.Error("nobody was told")
		}
	}
}

// The agent's terminal requests never reach the client, however they are written.
func TestNoTerminalRequestReachesTheClient(t *testing.T) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"sessionId":"s","command":""}}`,
		`{"id":1,"method":"term\u0069nal\/create"}`,
		`{"id":1,"method":"terminal/unknown"}`, `{"id":1,"method":"Terminal/Create"}`, `{"id":1,"method":" terminal/create"}`, `{"id":1,"method":"fs/read_text_file\t"}`,
		`{"method":"terminal/create","params":{"sessionId":"s","command":"true"}}`,
		`{"id":1,"method":"terminal/create","result":{}}`,
		`{"id":1,"method":"a","method":"terminal/create"}`, `{"id":1,"METHOD":"terminal/create"}`,
		`[{"id":1,"method":"terminal/create"}]`, `{}{"id":1,"method":"terminal/create"}`,
		"{\"x\":\r{\"id\":1,\"method\":\"terminal/create\"}\r}",
		"{\"id\":1,", "\"method\":\"terminal/create\"}", // one message in two lines
		"\xef\xbb\xbf{\"id\":1,\"method\":\"terminal/create\"}", "x {\"id\":1,\"method\":\"terminal/create\"}",
	} {
		for _, other := range []bool{false, true} { // whatever version the agent says it speaks
			x := newPair(t, nil)
			x.other.Store(other)
			x.agentSays(line+"\n", 1000)
			x.calls.wait()
			if got := x.toClient.String(); got != "" {
				t.Errorf("%s passed as %s", line, got)
			}
			for answer := range strings.Lines(x.toAgent.String()) {
				var a struct{ Error struct{ Code int } }
				if json.Unmarshal([]byte(answer), &a) != nil || a.Error.Code >= 0 {
					t.Errorf("%s: answer %s", line, answer)
				}
			}
		}
	}
}

// What is wrong is answered in the way of JSON-RPC, under the right id.
func TestErrorsToTheAgent(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`garbage`, `"id":null,"error":{"code":-32700,`},
		{`[]`, `"id":null,"error":{"code":-32600,`},
		{`5`, `"id":null,"error":{"code":-32600,`},
		{`{"id":{},"method":"x"}`, `"id":null,"error":{"code":-32600,`},
		{`{"id":"\u0041","method":"terminal/nope"}`, `"id":"\u0041","error":{"code":-32602,`},
		{`{"id":1.50,"method":"terminal/nope","params":{"sessionId":"s","terminalId":"t"}}`, `"id":1.50,"error":{"code":-32601,`},
		{`{"id":null,"method":"terminal/output","params":{"sessionId":"s","terminalId":"t"}}`, `"id":null,"error":{"code":-32002,`},
	} {
		x := newPair(t, nil)
		x.agentSays(c.in+"\n", 1000)
		x.calls.wait()
		if got := x.toAgent.String(); !strings.HasPrefix(got, `{"jsonrpc":"2.0",`+c.want) || !strings.HasSuffix(got, "}}\n") {
			t.Errorf("%s: %s", c.in, got)
		}
	}
}

// A line of 100 MB from the agent is refused without being kept; one from the client
// passes.
func TestLongLines(t *testing.T) {
	x := newPair(t, nil)
	s := &splitter{max: maxLine, line: x.fromAgent, tooLong: x.overlong}
	part := bytes.Repeat([]byte("x"), 1<<20)
	for range 100 {
		_, _ = s.Write(part)
		if len(s.buf) > maxLine+1 {
			t.Fatalf("%d bytes are kept", len(s.buf))
		}
	}
	_, _ = s.Write([]byte("\n{\"id\":1,\"result\":{}}\n"))
	if got := x.toClient.String(); got != "{\"id\":1,\"result\":{}}\n" {
		t.Errorf("after it: %.100q", got)
	}
	if got := x.toAgent.String(); !strings.Contains(got, "32 MiB") {
		t.Errorf("answer: %s", got)
	}
	long := `{"id":1,"method":"session/prompt","params":"` + strings.Repeat("y", 100<<20) + `"}` + "\n"
	x = newPair(t, strings.NewReader(long+"{}\n"))
	_ = x.passClient()
	if got := x.toAgent.String(); got != long+"{}\n" {
		t.Errorf("the client's long line: %d bytes, want %d", len(got), len(long)+3)
	}
}

// Whoever does not read holds up nobody but itself, and not for ever.
func TestOutletOfSomebodyWhoDoesNotRead(t *testing.T) {
	r, w := io.Pipe()
	o := newOutlet(w)
	errs := make(chan error, 5)
	for range 5 {
		go func() { errs <- o.write([]byte("line\n")) }()
	}
	time.Sleep(20 * time.Millisecond)
	o.abandon(errGone)
	for range 5 {
		if err := <-errs; !errors.Is(err, errGone) {
			t.Error(err)
		}
	}
	if err := o.write(nil); !errors.Is(err, errGone) {
		t.Error(err)
	}
	r.Close()
	o = newOutlet(&failing{})
	if err := o.write([]byte("x")); err == nil || o.write([]byte("y")) == nil {
		t.Error("a failed write is no error")
	}
}

type failing struct{}

func (*failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// Lines of many writers do not mix.
func TestOutletKeepsLinesWhole(t *testing.T) {
	var b buffer
	o := newOutlet(&b)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			line := strings.Repeat(string(rune('a'+i)), 100)
			if i%2 == 0 {
				_ = o.write([]byte(line + "\n"))
				return
			}
			_ = o.lock()
			for _, c := range line {
				_ = o.put([]byte(string(c)))
			}
			_ = o.put([]byte("\n"))
			o.unlock()
		})
	}
	wg.Wait()
	for line := range strings.Lines(b.String()) {
		if strings.Trim(line[:100], line[:1]) != "" {
			t.Errorf("mixed: %q", line)
		}
	}
	o.finish(time.Second)
}

// FuzzFromAgent: what passes is what was said, and no reader finds a terminal
// request in it; not one that takes keys in any letters, nor one that reads values
// without regard to lines.
func FuzzFromAgent(f *testing.F) {
	for _, s := range []string{
		"{\"id\":1,\"method\":\"terminal/create\"}\n", "{\"id\":1,\"result\":{}}\n\n{}", "{\"Method\":\"terminal/kill\"}\n", "{\"id\":1,\n\"method\":\"terminal/create\"}\n",
		"[{\"method\":\"terminal/create\"}]\n", "{\"a\":\r{\"method\":\"terminal/create\"}\r}\n", "{\"id\":0,\"result\":{\"authMethods\":[{\"type\":\"terminal\"}]}}\n",
	} {
		f.Add([]byte(s), uint8(3))
	}
	f.Fuzz(func(t *testing.T, data []byte, piece uint8) {
		if bytes.Contains(data, []byte("fs/")) { // judged by the sandbox's rules, elsewhere
			return
		}
		x := newPair(t, nil)
		x.agentSays(string(data), int(piece)+1)
		x.calls.wait()
		out := x.toClient.String()
		for line := range strings.Lines(out) {
			if !bytes.Contains(data, []byte(line)) && !strings.Contains(line, "authMethods") {
				t.Fatalf("%q was never said", line)
			}
		}
		for _, text := range []string{out, strings.ReplaceAll(out, "\r", "\n"), strings.ReplaceAll(out, "\n", "")} {
			dec := json.NewDecoder(strings.NewReader(text))
			for {
				var m struct{ Method any }
				if err := dec.Decode(&m); err != nil {
					if _, wrong := errors.AsType[*json.UnmarshalTypeError](err); wrong {
						continue
					}
					break
				}
				if s, _ := m.Method.(string); strings.HasPrefix(strings.ToLower(s), "terminal/") {
					t.Fatalf("%q: a reader finds %q", data, s)
				}
			}
		}
		// A second time through: what has passed once passes unchanged.
		y := newPair(t, nil)
		y.agentSays(out, 1<<20)
		if again := y.toClient.String(); again != out {
			t.Fatalf("%q, then %q", out, again)
		}
	})
}

// FuzzFromClient: what the client says passes byte for byte, but for initialize.
func FuzzFromClient(f *testing.F) {
	f.Add([]byte("{\"id\":1,\"method\":\"session/new\",\"params\":{\"cwd\":\"/\"}}\nx\n\n"), uint8(1))
	f.Add([]byte("{\"id\":1,\"method\":\"initialize\",\"params\":{\"clientCapabilities\":{\"a\":1}}}"), uint8(9))
	f.Fuzz(func(t *testing.T, data []byte, _ uint8) {
		x := newPair(t, bytes.NewReader(data))
		if err := x.passClient(); err != nil {
			t.Fatal(err)
		}
		in, out := strings.SplitAfter(string(data), "\n"), strings.SplitAfter(x.toAgent.String(), "\n")
		if len(in) != len(out) {
			t.Fatalf("%d lines became %d", len(in), len(out))
		}
		for i := range in {
			if in[i] == out[i] {
				continue
			}
			var was, is struct {
				Method string
				ID     any
				Params map[string]any
			}
			if json.Unmarshal([]byte(in[i]), &was) != nil || was.Method != "initialize" {
				t.Fatalf("%q became %q", in[i], out[i])
			}
			if err := json.Unmarshal([]byte(out[i]), &is); err != nil || is.Params["clientCapabilities"].(map[string]any)["terminal"] != true {
				t.Fatalf("%q became %q (%v)", in[i], out[i], err)
			}
		}
	})
}
