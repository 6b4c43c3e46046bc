package acpterm

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

func TestReadCreate(t *testing.T) {
	r, err := readCreate(json.RawMessage(`{"sessionId":"s","command":"c","args":["a","\u0062"],"env":[{"name":"N","value":"v","_meta":{}},{"name":"E","value":""}],
		"cwd":"/w","outputByteLimit":18446744073709551615,"_meta":{"x":1},"unknown":true}`))
	if err != nil {
		t.Fatal(err)
	}
	if r.Session != "s" || r.Command != "c" || strings.Join(r.Args, " ") != "a b" || r.Cwd != "/w" || *r.Limit != 1<<64-1 || r.env()["N"] != "v" || len(r.Env) != 2 {
		t.Errorf("%+v", r)
	}
	r, err = readCreate(json.RawMessage(`{"sessionId":"s","command":"c","args":null,"env":null,"cwd":null,"outputByteLimit":null,"_meta":null}`))
	if err != nil || r.Args != nil || r.Env != nil || r.Cwd != "" || r.Limit != nil {
		t.Errorf("nulls: %+v, %v", r, err)
	}
}

// TestBadRequests: each is an error that names the field; nothing is started.
func TestBadRequests(t *testing.T) {
	terms := New(Options{})
	defer terms.Close()
	for _, c := range []struct{ params, names string }{
		{``, "JSON"}, {`[]`, "object"}, {`"x"`, "object"},
		{`{"command":"c"}`, "sessionId"},
		{`{"sessionId":7,"command":"c"}`, "sessionId"},
		{`{"sessionId":"s"}`, "command"},
		{`{"sessionId":"s","command":""}`, "command"},
		{`{"sessionId":"s","command":["ls"]}`, "command"},
		{`{"sessionId":"s","command":"c","command":"d"}`, "command"},
		{`{"sessionId":"s","command":"c","Command":"d"}`, "command"},
		{`{"sessionId":"s","command":"c","args":"x"}`, "args"},
		{`{"sessionId":"s","command":"c","args":[1]}`, "args"},
		{`{"sessionId":"s","command":"c","args":["a\u0000b"]}`, "args"},
		{`{"sessionId":"s","command":"c","env":{"A":"b"}}`, "env"},
		{`{"sessionId":"s","command":"c","env":[{"name":"A"}]}`, "env"},
		{`{"sessionId":"s","command":"c","env":[{"value":"A"}]}`, "env"},
		{`{"sessionId":"s","command":"c","env":[{"name":"A=B","value":""}]}`, "env"},
		{`{"sessionId":"s","command":"c","env":[["A","b"]]}`, "env"},
		{`{"sessionId":"s","command":"c","cwd":"sub"}`, "cwd"},
		{`{"sessionId":"s","command":"c","cwd":5}`, "cwd"},
		{`{"sessionId":"s","command":"c","outputByteLimit":-1}`, "outputByteLimit"},
		{`{"sessionId":"s","command":"c","outputByteLimit":1.5}`, "outputByteLimit"},
		{`{"sessionId":"s","command":"c","outputByteLimit":"9"}`, "outputByteLimit"},
		{`{"sessionId":"s","command":"c","outputByteLimit":18446744073709551616}`, "outputByteLimit"},
	} {
		_, err := terms.Call(context.Background(), MethodCreate, json.RawMessage(c.params))
		var e *Error
		if !errors.As(err, &e) || e.Code != CodeParams || !strings.Contains(e.Message, c.names) {
			t.Errorf("%s: %v", c.params, err)
		}
	}
	if n := terms.Len(); n != 0 {
		t.Errorf("%d terminals after bad requests", n)
	}
	for method, code := range map[string]int{MethodOutput: CodeNotFound, MethodWait: CodeNotFound, MethodKill: CodeNotFound, MethodRelease: CodeNotFound, "terminal/other": CodeMethod} {
		_, err := terms.Call(context.Background(), method, json.RawMessage(`{"sessionId":"s","terminalId":"t"}`))
		var e *Error
		if !errors.As(err, &e) || e.Code != code {
			t.Errorf("%s: %v, want code %d", method, err, code)
		}
	}
}
