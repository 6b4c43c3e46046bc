package jsonrpc

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		line   string
		kind   Kind
		method string
		key    string
	}{
		{`{"jsonrpc":"2.0","id":1,"method":"a/b","params":{}}` + "\n", Request, "a/b", "n1"},
		{` {"jsonrpc":"2.0" , "method" : "a\/b"}` + "\r\n", Notification, "a/b", "null"},
		{`{"id":"1","result":null}`, Response, "", "s1"},
		{`{"id":1.0,"error":{}}`, Response, "", "n1"},
		{`{"id":1e2,"result":{}}`, Response, "", "n100"},
		{`{"id":null,"method":"m"}`, Request, "m", "null"},
		{`{"id":123456789012345678901234567890,"method":"m"}`, Request, "m", "n123456789012345678901234567890"},
		{`{"m\u0065thod":"terminal\/create","id":"\u0031"}`, Request, "terminal/create", "s1"},
		{`{}`, Other, "", "null"},
	} {
		m, err := Parse([]byte(c.line))
		if err != nil {
			t.Errorf("%s: %v", c.line, err)
			continue
		}
		if m.Kind() != c.kind || m.Method != c.method || m.Key() != c.key {
			t.Errorf("%s: kind %d method %q key %q", c.line, m.Kind(), m.Method, m.Key())
		}
	}
	for _, blank := range []string{"\n", "", " \t\r\n"} {
		if m, err := Parse([]byte(blank)); m != nil || err != nil {
			t.Errorf("%q: %v %v", blank, m, err)
		}
	}
}

// Lines that two programs may read differently are refused, each beside a twin that is fine.
func TestParseRefuses(t *testing.T) {
	for _, c := range []struct {
		line string
		code int
	}{
		{`{"id":1,"method":"x"`, CodeParse},
		{`log: hello`, CodeParse},
		{`{"id":1,"method":"x"}{"id":2,"method":"terminal/create"}`, CodeParse},
		{`{"id":1,"method":"x"} {"id":2}`, CodeParse},
		{"{\"k\":\r{\"method\":\"terminal/create\"}\r}\n", CodeParse},
		{"\xef\xbb\xbf{}", CodeParse},
		{"{\"a\":\"\xff\"}", CodeParse},
		{"{\"a\":\"\x00\"}", CodeParse},
		{`{'id':1}`, CodeParse},
		{`[{"id":1,"method":"x"}]`, CodeRequest},
		{`"x"`, CodeRequest},
		{`1`, CodeRequest},
		{`{"method":"a","method":"terminal/create","id":1}`, CodeRequest},
		{`{"method":"a","Method":"terminal/create","id":1}`, CodeRequest},
		{`{"METHOD":"terminal/create","id":1}`, CodeRequest},
		{`{"method":"a","m\u0065thod":"b","id":1}`, CodeRequest},
		{`{"id":1,"ID":2,"method":"a"}`, CodeRequest},
		{`{"id":1,"method":"a","params":{},"param\u017f":{}}`, CodeRequest},
		{`{"id":{},"method":"a"}`, CodeRequest},
		{`{"id":true,"method":"a"}`, CodeRequest},
		{`{"id":[1],"method":"a"}`, CodeRequest},
		{`{"id":1,"method":5}`, CodeRequest},
		{`{"id":1,"method":null}`, CodeRequest},
		{strings.Repeat("[", 20000) + strings.Repeat("]", 20000), CodeParse},
	} {
		if m, err := Parse([]byte(c.line)); err == nil || err.Code != c.code || m != nil {
			t.Errorf("%.80q: %v, %v; want code %d", c.line, m, err, c.code)
		}
	}
	// members of no meaning to us may be there twice
	for _, fine := range []string{`{"id":1,"method":"a","x":1,"x":2}`, `{"id":1,"method":"a","params":{"method":1,"method":2}}`} {
		if _, err := Parse([]byte(fine)); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
}

func TestApply(t *testing.T) {
	line := []byte(`{"a": {"b" :1 } ,"c":[ 1, {"x":"]}\"" },"y" ] }`)
	top, _ := Members(line, Whole(line))
	in, _ := Members(line, top[0].Value)
	out := Apply(line, []Edit{{in[0].Value, "true"}, Insert(top[0].Value, in, "n", "0")})
	if want := `{"a": {"n":0,"b" :true } ,"c":[ 1, {"x":"]}\"" },"y" ] }`; string(out) != want {
		t.Errorf("got  %s\nwant %s", out, want)
	}
	list, ok := Elements(line, top[1].Value)
	if !ok || len(list) != 3 || string(list[1].Of(line)) != `{"x":"]}\"" }` {
		t.Errorf("elements: %v %v", list, ok)
	}
	empty := []byte(`{"a":{ }}`)
	top, _ = Members(empty, Whole(empty))
	in, _ = Members(empty, top[0].Value)
	if got := Apply(empty, []Edit{Insert(top[0].Value, in, "t", "1")}); string(got) != `{"a":{"t":1 }}` {
		t.Errorf("insert into an empty object: %s", got)
	}
}

func TestAnswer(t *testing.T) {
	for _, c := range []struct {
		result any
		err    *Error
		want   string
	}{
		{map[string]string{"a": "<&>\u2028"}, nil, `{"jsonrpc":"2.0","id":"x","result":{"a":"<&>\u2028"}}` + "\n"},
		{struct{}{}, nil, `{"jsonrpc":"2.0","id":"x","result":{}}` + "\n"},
		{nil, &Error{Code: -1, Message: "m"}, `{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"m"}}` + "\n"},
		{make(chan int), nil, `{"jsonrpc":"2.0","id":"x","error":{"code":-32603,"message":"the answer cannot be written as JSON"}}` + "\n"},
	} {
		if got := Answer([]byte(`"x"`), c.result, c.err); string(got) != c.want {
			t.Errorf("got %s want %s", got, c.want)
		}
	}
}

// FuzzMembers: the spans say the same as encoding/json.
func FuzzMembers(f *testing.F) {
	for _, s := range []string{`{}`, `{"a":1}`, ` { "a\"" : [1,{"b":"]"}] , "c":{"d":"}"}, "e":-1.5e3,"f":null}`, `[]`, `[1,"]",[2]]`, `"x"`, `{"\u0061":true}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if !json.Valid(data) {
			return
		}
		if list, ok := Members(data, Whole(data)); ok {
			var want map[string]json.RawMessage
			if err := json.Unmarshal(data, &want); err != nil {
				t.Fatalf("%q is no object for encoding/json: %v", data, err)
			}
			got := map[string]json.RawMessage{}
			for _, m := range list {
				got[m.Key] = m.Value.Of(data)
			}
			if len(got) != len(want) && bytes.IndexByte(data, 0xff) < 0 && json.Valid(bytes.ToValidUTF8(data, nil)) && bytes.Equal(data, bytes.ToValidUTF8(data, nil)) {
				t.Fatalf("%q: %d members, want %d", data, len(got), len(want))
			}
			for k, v := range got {
				if w, found := want[k]; found && !bytes.Equal(bytes.TrimSpace(w), v) {
					t.Fatalf("%q: %q is %q, want %q", data, k, v, w)
				}
			}
			if !bytes.Equal(Apply(data, nil), data) {
				t.Fatal("no edit changed something")
			}
		}
		if list, ok := Elements(data, Whole(data)); ok {
			var want []json.RawMessage
			if err := json.Unmarshal(data, &want); err != nil || len(want) != len(list) {
				t.Fatalf("%q: %d elements, want %d (%v)", data, len(list), len(want), err)
			}
			for i, s := range list {
				if !bytes.Equal(s.Of(data), want[i]) {
					t.Fatalf("%q: element %d is %q, want %q", data, i, s.Of(data), want[i])
				}
			}
		}
	})
}
