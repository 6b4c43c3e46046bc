package acpproxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	acp "github.com/coder/acp-go-sdk"
)

func init() {
	agents = map[string]func([]string){"-sdk-agent": sdkAgent, "-hostile-agent": hostileAgent, "-proxy": proxyProcess}
}

// scripted is an agent made with the Go library of the protocol. A prompt is what it
// does; its answer comes as a message.
type scripted struct {
	acp.Agent // what the tests do not call
	conn      *acp.AgentSideConnection
	caps      acp.ClientCapabilities
	n         int
}

func sdkAgent([]string) {
	a := &scripted{}
	a.conn = acp.NewAgentSideConnection(a, os.Stdout, os.Stdin)
	a.conn.SetLogger(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	<-a.conn.Done()
}

func (a *scripted) Initialize(_ context.Context, p acp.InitializeRequest) (acp.InitializeResponse, error) {
	a.caps = p.ClientCapabilities
	return acp.InitializeResponse{ProtocolVersion: acp.ProtocolVersionNumber}, nil
}

func (a *scripted) NewSession(context.Context, acp.NewSessionRequest) (acp.NewSessionResponse, error) {
	a.n++
	return acp.NewSessionResponse{SessionId: acp.SessionId(fmt.Sprint("session-", a.n))}, nil
}

func (a *scripted) CloseSession(context.Context, acp.CloseSessionRequest) (acp.CloseSessionResponse, error) {
	return acp.CloseSessionResponse{}, nil
}

func (a *scripted) Cancel(context.Context, acp.CancelNotification) error { return nil }

func (a *scripted) Prompt(ctx context.Context, p acp.PromptRequest) (acp.PromptResponse, error) {
	text, err := a.do(ctx, p.SessionId, p.Prompt[0].Text.Text)
	if err != nil {
		text = "error: " + err.Error()
		var e *acp.RequestError
		if errors.As(err, &e) {
			text = fmt.Sprint("error ", e.Code, ": ", e.Message)
		}
	}
	err = a.conn.SessionUpdate(ctx, acp.SessionNotification{SessionId: p.SessionId, Update: acp.UpdateAgentMessageText(text)})
	return acp.PromptResponse{StopReason: acp.StopReasonEndTurn}, err
}

func (a *scripted) do(ctx context.Context, s acp.SessionId, what string) (string, error) {
	verb, rest, _ := strings.Cut(what, " ")
	switch verb {
	case "caps":
		return fmt.Sprint(a.caps.Terminal), nil
	case "read":
		r, err := a.conn.ReadTextFile(ctx, acp.ReadTextFileRequest{SessionId: s, Path: rest})
		return r.Content, err
	case "write":
		_, err := a.conn.WriteTextFile(ctx, acp.WriteTextFileRequest{SessionId: s, Path: rest, Content: "x"})
		return "written", err
	case "env":
		return os.Getenv(rest), nil
	case "own-write": // by itself, in its own sandbox
		return "", os.WriteFile(rest, []byte("x"), 0o644)
	}
	return a.terminal(ctx, s, verb, rest)
}

func (a *scripted) terminal(ctx context.Context, s acp.SessionId, verb, script string) (string, error) {
	t, err := a.conn.CreateTerminal(ctx, acp.CreateTerminalRequest{SessionId: s, Command: "sh", Args: []string{"-c", script}, Env: []acp.EnvVariable{{Name: "GIVEN", Value: "yes"}}})
	if err != nil {
		return "", err
	}
	id := t.TerminalId
	switch verb {
	case "leave":
		return string(id), nil
	case "cancel": // the library sends $/cancel_request
		soon, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		_, err := a.conn.WaitForTerminalExit(soon, acp.WaitForTerminalExitRequest{SessionId: s, TerminalId: id})
		cancel()
		if err == nil {
			return "", errors.New("the wait was not cancelled")
		}
		if _, err := a.conn.KillTerminal(ctx, acp.KillTerminalRequest{SessionId: s, TerminalId: id}); err != nil {
			return "", err
		}
	}
	end, err := a.conn.WaitForTerminalExit(ctx, acp.WaitForTerminalExitRequest{SessionId: s, TerminalId: id})
	if err != nil {
		return "", err
	}
	out, err := a.conn.TerminalOutput(ctx, acp.TerminalOutputRequest{SessionId: s, TerminalId: id})
	if err != nil {
		return "", err
	}
	if _, err := a.conn.ReleaseTerminal(ctx, acp.ReleaseTerminalRequest{SessionId: s, TerminalId: id}); err != nil {
		return "", err
	}
	code, signal := "-", "-"
	if end.ExitCode != nil {
		code = fmt.Sprint(*end.ExitCode)
	}
	if end.Signal != nil {
		signal = *end.Signal
	}
	return fmt.Sprintf("%s %s %q", code, signal, out.Output), nil
}

// editor is a client made with the same library. It must never be asked for a terminal.
type editor struct {
	acp.Client
	t    testing.TB
	conn *acp.ClientSideConnection
	mu   sync.Mutex
	said map[acp.SessionId]string
	fs   []string
}

func (e *editor) SessionUpdate(_ context.Context, n acp.SessionNotification) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if c := n.Update.AgentMessageChunk; c != nil {
		e.said[n.SessionId] += c.Content.Text.Text
	}
	return nil
}

func (e *editor) ReadTextFile(_ context.Context, p acp.ReadTextFileRequest) (acp.ReadTextFileResponse, error) {
	e.mu.Lock()
	e.fs = append(e.fs, "read "+p.Path)
	e.mu.Unlock()
	return acp.ReadTextFileResponse{Content: "from the editor"}, nil
}

func (e *editor) WriteTextFile(_ context.Context, p acp.WriteTextFileRequest) (acp.WriteTextFileResponse, error) {
	e.mu.Lock()
	e.fs = append(e.fs, "write "+p.Path)
	e.mu.Unlock()
	return acp.WriteTextFileResponse{}, nil
}

func (e *editor) CreateTerminal(context.Context, acp.CreateTerminalRequest) (acp.CreateTerminalResponse, error) {
	e.t.Error("the client was asked for a terminal")
	return acp.CreateTerminalResponse{}, errors.New("no")
}

// connect makes an editor and opens the connection.
func connect(t testing.TB, b *bridge) *editor {
	t.Helper()
	e := &editor{t: t, said: map[acp.SessionId]string{}}
	e.conn = acp.NewClientSideConnection(e, b.in, b.out)
	e.conn.SetLogger(slog.New(slog.NewTextHandler(io.Discard, nil)))
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := e.conn.Initialize(ctx, acp.InitializeRequest{ProtocolVersion: acp.ProtocolVersionNumber, ClientCapabilities: acp.ClientCapabilities{Fs: acp.FileSystemCapabilities{ReadTextFile: true, WriteTextFile: true}}})
	if err != nil || r.ProtocolVersion != 1 {
		t.Fatalf("initialize: %+v, %v", r, err)
	}
	return e
}

func (e *editor) session(cwd string) acp.SessionId {
	e.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := e.conn.NewSession(ctx, acp.NewSessionRequest{Cwd: cwd, McpServers: []acp.McpServer{}})
	if err != nil {
		e.t.Fatal(err)
	}
	return r.SessionId
}

// ask prompts the agent and gives what it said.
func (e *editor) ask(s acp.SessionId, what string) string {
	e.t.Helper()
	e.mu.Lock()
	e.said[s] = ""
	e.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := e.conn.Prompt(ctx, acp.PromptRequest{SessionId: s, Prompt: []acp.ContentBlock{acp.TextBlock(what)}}); err != nil {
		e.t.Fatalf("%s: %v", what, err)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.said[s]
}

// TRM-05 with the Go library on both sides.
func TestGoLibraryOnBothSides(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "leak_test")
	t.Setenv("MODEL_KEY", "agents-own")
	b := start(t, func(o *Options) { o.Agent.Env = map[string]string{"MODEL_KEY": "agents-own"} }, self(t), "-sdk-agent")
	e := connect(t, b)
	ws := b.place.WS
	s, deep := e.session(ws), e.session(ws+"/sub/deep")
	for _, c := range []struct{ what, want string }{
		{"caps", "true"},
		{"run echo hi; exit 3", `3 - "hi\n"`},
		{"run kill -KILL $$", `- SIGKILL ""`},
		{"run echo $GIVEN; pwd", fmt.Sprintf("0 - %q", "yes\n"+ws+"\n")},
		{"cancel echo up; exec sleep 600", `- SIGTERM "up\n"`},
		{"run env | grep -c leak_test", `1 - "0\n"`}, // ENV-01
		{"env MODEL_KEY", "agents-own"},
		{"env ANTHROPIC_API_KEY", ""},
		{"run echo \"[$MODEL_KEY]\"", `0 - "[]\n"`}, // the agent's keys are not its terminals'
		{"run cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n' | grep -c agents-own", `1 - "0\n"`},
	} {
		if got := e.ask(s, c.what); got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
	if got := e.ask(deep, "run pwd"); got != fmt.Sprintf("0 - %q", ws+"/sub/deep\n") {
		t.Errorf("the session's directory: %s", got)
	}
	if got := e.ask(s, "own-write "+ws+"/by-agent"); got != "" {
		t.Errorf("the agent in its workspace: %s", got)
	}
	if got := e.ask(s, "own-write "+b.place.Out+"/by-agent"); !strings.Contains(got, "read-only") {
		t.Errorf("the agent outside its workspace: %s", got)
	}
	b.place.Host(t, `echo x > "$OUT/by-agent"`) // the control
}

// What the agent's sandbox keeps from it, it does not get through the client either.
func TestFilesThroughTheClient(t *testing.T) {
	b := start(t, nil, self(t), "-sdk-agent")
	e := connect(t, b)
	s := e.session(b.place.WS)
	ws := b.place.WS
	b.place.Host(t, `mkdir -p .git/hooks && ln -s "$OUT" link`)
	for _, c := range []struct{ what, want string }{
		{"read " + ws + "/own.txt", "from the editor"},
		{"write " + ws + "/new.txt", "written"},
		{"read /etc/hostname", "from the editor"},
		{"write /etc/hostname", "error -32603"},
		{"write " + b.place.Out + "/x", "error -32603"},
		{"write " + ws + "/link/x", "error -32603"},
		{"write " + ws + "/.git/hooks/post-checkout", "error -32603"},
		{"write " + ws + "/../out/x", "error -32603"},
		{"write /tmp/x", "error -32603"}, // the client's /tmp is another one
		{"write /dev/shm/x", "error -32603"},
		{"write /proc/self/mem", "error -32603"},
		{"read /proc/self/environ", "error -32603"},
		{"read " + ws + "/none/../../out/secret.txt", "from the editor"}, // compat shows it
		{"read " + os.Getenv("HOME") + "/.ssh/id_rsa", "error -32603"},
	} {
		if got := e.ask(s, c.what); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
	want := []string{"read " + ws + "/own.txt", "write " + ws + "/new.txt", "read /etc/hostname", "read " + ws + "/none/../../out/secret.txt"}
	if strings.Join(e.fs, "\n") != strings.Join(want, "\n") {
		t.Errorf("the client was asked for %q", e.fs)
	}
}

// Closing a session ends its terminals, and no others.
func TestClosedSession(t *testing.T) {
	b := start(t, nil, self(t), "-sdk-agent")
	e := connect(t, b)
	one, two := e.session(b.place.WS), e.session(b.place.WS)
	e.ask(one, "leave exec -a closed-session-one sleep 601")
	e.ask(one, "leave exec sleep 601")
	e.ask(two, "leave exec sleep 602")
	if _, err := e.conn.CloseSession(context.Background(), acp.CloseSessionRequest{SessionId: one}); err != nil {
		t.Fatal(err)
	}
	if !eventually(func() bool { return running(b.place.Root, "sleep\x00601") == 0 }) {
		t.Error("a closed session's command is running")
	}
	if running(b.place.Root, "sleep\x00602") == 0 {
		t.Error("the other session's command was ended")
	}
	if got := e.ask(one, "run echo again"); got != `0 - "again\n"` {
		t.Errorf("%s", got)
	}
}

// Many sessions at once: no answer is mixed up, waiting blocks nobody (CONC-03).
func TestAnswersAreNotMixedUp(t *testing.T) {
	b := start(t, nil, self(t), "-sdk-agent")
	e := connect(t, b)
	slow := e.session(b.place.WS)
	blocked := make(chan string, 1)
	go func() { blocked <- e.ask(slow, "run sleep 3; echo slow") }()
	sessions := make([]acp.SessionId, 16)
	for i := range sessions {
		sessions[i] = e.session(b.place.WS)
	}
	var wg sync.WaitGroup
	for i, s := range sessions {
		wg.Go(func() {
			for n := range 4 {
				want := fmt.Sprintf("%d - %q", i, fmt.Sprintf("%d/%d\n", i, n))
				if got := e.ask(s, fmt.Sprintf("run echo %d/%d; exit %d", i, n, i)); got != want {
					t.Errorf("%s, want %s", got, want)
				}
			}
		})
	}
	wg.Wait()
	if got := <-blocked; got != `0 - "slow\n"` {
		t.Error(got)
	}
}
