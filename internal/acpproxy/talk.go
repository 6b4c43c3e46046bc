package acpproxy

import (
	"encoding/json"
	"strconv"
	"sync"

	"github.com/qiming-sandbox/qsandbox/internal/jsonrpc"
)

// talk is what we must remember of the conversation.
type talk struct {
	mu    sync.Mutex
	asked map[string]question // requests of the client, by key of the id, until the answer
	dirs  map[string]string   // of sessions
	tools bool                // the agent starts MCP servers by their command
}

// question is a request of the client that the answer to matters to us.
type question struct{ method, session, cwd string }

// mostAsked bounds what is remembered for answers that never come.
const mostAsked = 1024

func newTalk() *talk { return &talk{asked: map[string]question{}, dirs: map[string]string{}} }

// dir is where a session's commands start when they name no directory.
func (t *talk) dir(session string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.dirs[session]
}

// outbound looks at a line of the client, and changes it where it must be changed.
// What we cannot read passes: the agent is confined whatever it is told.
func (t *talk) outbound(line []byte, p *proxy) []byte {
	m, bad := jsonrpc.Parse(line)
	if bad != nil || m == nil || m.Kind() != jsonrpc.Request {
		return line
	}
	switch m.Method {
	case "initialize":
		t.ask(m)
		return advertise(m)
	case "session/new", "session/load", "session/resume", "session/fork":
		t.ask(m)
		if t.hasTools() && p.other.Load() && p.opt.Server != nil {
			return p.opt.Server.offer(m)
		}
	case "session/close", "session/delete":
		t.ask(m)
	}
	return line
}

func (t *talk) ask(m *jsonrpc.Message) {
	q := question{method: m.Method}
	list, _ := jsonrpc.Members(m.Line, m.Params)
	for key, to := range map[string]*string{"sessionId": &q.session, "cwd": &q.cwd} {
		if v, found, clear := jsonrpc.Single(list, key); found && clear {
			*to, _ = jsonrpc.String(m.Line, v)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.asked) < mostAsked {
		t.asked[m.Key()] = q
	}
}

// inbound looks at an answer of the agent.
func (t *talk) inbound(m *jsonrpc.Message, p *proxy) {
	if m.Kind() != jsonrpc.Response {
		return
	}
	t.mu.Lock()
	q, found := t.asked[m.Key()]
	delete(t.asked, m.Key())
	t.mu.Unlock()
	if !found || (m.Result == jsonrpc.Span{}) {
		return
	}
	switch q.method {
	case "initialize":
		t.settle(m, p)
	case "session/close", "session/delete":
		t.mu.Lock()
		delete(t.dirs, q.session)
		t.mu.Unlock()
		p.terms.EndSession(q.session)
	default:
		t.opened(m, q)
	}
}

// settle learns from the answer to initialize which version is spoken. Whatever the
// agent answers, no terminal request of its gets to the client.
func (t *talk) settle(m *jsonrpc.Message, p *proxy) {
	raw, _ := at(m.Line, m.Result, "protocolVersion")
	version, err := strconv.Atoi(string(raw.Of(m.Line)))
	p.other.Store(err == nil && version >= 2)
	_, tools := at(m.Line, m.Result, "capabilities", "session", "mcp", "stdio")
	t.mu.Lock()
	t.tools = tools
	t.mu.Unlock()
	if p.other.Load() && !tools && p.opt.Server != nil {
		p.told.once("the agent speaks version 2 of the protocol and takes no MCP server by command: its commands run in its own sandbox, under its own policy")
	}
}

func (t *talk) hasTools() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.tools
}

// opened remembers the directory of a session; it is the client's word.
func (t *talk) opened(m *jsonrpc.Message, q question) {
	session := q.session
	if v, found := at(m.Line, m.Result, "sessionId"); found && session == "" {
		session, _ = jsonrpc.String(m.Line, v)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if session != "" && q.cwd != "" {
		t.dirs[session] = q.cwd
	}
}

// at finds a value in objects within objects; null counts as not there.
func at(line []byte, v jsonrpc.Span, path ...string) (jsonrpc.Span, bool) {
	for _, key := range path {
		list, _ := jsonrpc.Members(line, v)
		var found, clear bool
		if v, found, clear = jsonrpc.Single(list, key); !found || !clear {
			return jsonrpc.Span{}, false
		}
	}
	return v, string(v.Of(line)) != "null"
}

// advertise tells the agent that there are terminals, and no logging in through a
// program that the client starts. A line that says so already stays as it is.
func advertise(m *jsonrpc.Message) []byte {
	params, isObject := jsonrpc.Members(m.Line, m.Params)
	if !isObject {
		return m.Line
	}
	caps, found, _ := jsonrpc.Single(params, "clientCapabilities")
	if !found {
		return jsonrpc.Apply(m.Line, []jsonrpc.Edit{jsonrpc.Insert(m.Params, params, "clientCapabilities", `{"terminal":true}`)})
	}
	list, isObject := jsonrpc.Members(m.Line, caps)
	if !isObject {
		return jsonrpc.Apply(m.Line, []jsonrpc.Edit{{Span: caps, With: `{"terminal":true}`}})
	}
	var edits []jsonrpc.Edit
	switch v, found, _ := jsonrpc.Single(list, "terminal"); {
	case !found:
		edits = append(edits, jsonrpc.Insert(caps, list, "terminal", "true"))
	case string(v.Of(m.Line)) != "true":
		edits = append(edits, jsonrpc.Edit{Span: v, With: "true"})
	}
	for _, path := range [][]string{{"auth", "terminal"}, {"_meta", "terminal-auth"}} {
		if v, found := at(m.Line, caps, path...); found && string(v.Of(m.Line)) != "false" {
			edits = append(edits, jsonrpc.Edit{Span: v, With: "false"})
		}
	}
	if edits == nil {
		return m.Line
	}
	return jsonrpc.Apply(m.Line, edits)
}

// ToolServer is an MCP server that an agent starts by its command.
type ToolServer struct {
	Name    string
	Command string // absolute
	Args    []string
}

// offer adds the server to the list in session/new and its like.
func (s *ToolServer) offer(m *jsonrpc.Message) []byte {
	params, isObject := jsonrpc.Members(m.Line, m.Params)
	if !isObject {
		return m.Line
	}
	entry, err := json.Marshal(struct {
		Type    string   `json:"type"`
		Name    string   `json:"name"`
		Command string   `json:"command"`
		Args    []string `json:"args"`
		Env     []string `json:"env"`
	}{"stdio", s.Name, s.Command, s.Args, []string{}})
	if err != nil {
		return m.Line
	}
	list, found, _ := jsonrpc.Single(params, "mcpServers")
	elements, isList := jsonrpc.Elements(m.Line, list)
	var e jsonrpc.Edit
	switch {
	case !found:
		e = jsonrpc.Insert(m.Params, params, "mcpServers", "["+string(entry)+"]")
	case !isList:
		e = jsonrpc.Edit{Span: list, With: "[" + string(entry) + "]"}
	case len(elements) == 0:
		e = jsonrpc.Edit{Span: list, With: "[" + string(entry) + "]"}
	default:
		at := elements[len(elements)-1].End
		e = jsonrpc.Edit{Span: jsonrpc.Span{Start: at, End: at}, With: "," + string(entry)}
	}
	return jsonrpc.Apply(m.Line, []jsonrpc.Edit{e})
}
