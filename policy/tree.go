package policy

import (
	"bytes"
	"encoding/json"
)

// tree is a JSON object under construction. Members keep the order in which they
// were put, and raw values keep their bytes, which a Go map would not do.
type tree struct {
	members []member
}

type member struct {
	name string
	raw  []byte // the value, or nil for an object
	sub  *tree
}

// put sets the value at a path of one or more names. What was put first stays: a
// name is never written twice.
func (t *tree) put(path []string, raw []byte) {
	for _, m := range t.members {
		if m.name != path[0] {
			continue
		}
		if m.sub != nil && len(path) > 1 {
			m.sub.put(path[1:], raw)
		}
		return
	}
	if len(path) == 1 {
		t.members = append(t.members, member{name: path[0], raw: raw})
		return
	}
	sub := &tree{}
	sub.put(path[1:], raw)
	t.members = append(t.members, member{name: path[0], sub: sub})
}

// bytes gives the object as compact JSON, apart from the raw values, which are as they were put.
func (t *tree) bytes() []byte {
	var b bytes.Buffer
	t.write(&b)
	return b.Bytes()
}

func (t *tree) write(b *bytes.Buffer) {
	b.WriteByte('{')
	for i, m := range t.members {
		if i > 0 {
			b.WriteByte(',')
		}
		name, _ := json.Marshal(m.name) // a string always marshals
		b.Write(name)
		b.WriteByte(':')
		if m.sub != nil {
			m.sub.write(b)
			continue
		}
		b.Write(m.raw)
	}
	b.WriteByte('}')
}
