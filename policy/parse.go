package policy

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"
)

// MaxFile is the largest policy file that is read, in bytes.
const MaxFile = 1 << 20

// maxDepth is far above what a policy needs (3) and far below what the recursive
// parser could not stand.
const maxDepth = 32

const opParse = "parse policy"

// Parse reads a policy file that a person wrote: JSON with comments and trailing
// commas. name is what errors call the file. The layer's origin is OriginFile with
// that name; callers change it for a workspace file.
//
// Anything unexpected is an error of code POLICY_INVALID with line and column: an
// unknown key, a key given twice in whatever spelling, null, a wrong type, an
// illegal value, a version other than 1. Keys are compared exactly.
func Parse(name string, data []byte) (Layer, error) {
	d := document{name: name, data: data}
	root, err := d.root()
	if err != nil {
		return Layer{}, err
	}
	l := Layer{Origin: Origin{Kind: OriginFile, Name: name}}
	if err := d.object(&l, "", root); err != nil {
		return Layer{}, err
	}
	return l, nil
}

// document is one file while it is read.
type document struct {
	name string
	data []byte
}

// fail makes the error for a problem at a field; field is "" for the file as a whole.
func (d *document) fail(field string, bad *problem) error {
	if bad.at >= 0 && bad.at <= len(d.data) {
		line := 1 + bytes.Count(d.data[:bad.at], []byte("\n"))
		column := bad.at - bytes.LastIndexByte(d.data[:bad.at], '\n')
		bad.msg = fmt.Sprintf("line %d, column %d: %s", line, column, bad.msg)
	}
	subject := d.name
	if field != "" {
		subject = strings.TrimPrefix(d.name+":"+field, ":")
	}
	return bad.fault(opParse, subject)
}

// root parses the text into a tree and checks what holds for any tree.
func (d *document) root() (*hujson.Object, error) {
	if len(d.data) > MaxFile {
		return nil, d.fail("", badf("the file has %d bytes, more than %d", len(d.data), MaxFile))
	}
	d.data = bytes.TrimPrefix(d.data, []byte("\xef\xbb\xbf")) // some editors start a file with this mark
	if !utf8.Valid(d.data) {
		return nil, d.fail("", badf("the file is not UTF-8").located(firstInvalid(d.data)))
	}
	if at := tooDeep(d.data); at >= 0 {
		return nil, d.fail("", badf("more than %d levels of brackets", maxDepth).located(at))
	}
	v, err := hujson.Parse(bytes.Clone(d.data)) // the tree aliases its input
	if err != nil {
		msg := strings.TrimPrefix(err.Error(), "hujson: ")
		return nil, d.fail("", badf("%s", msg).hinted("a policy is JSON; comments and a comma after the last entry are allowed"))
	}
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return nil, d.fail("", wanted("an object", &v).hinted("a policy starts with { and ends with }"))
	}
	return obj, nil
}

func firstInvalid(b []byte) int {
	for i := 0; i < len(b); {
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(b)
}

// object reads the members of the object at prefix, "" for the whole file.
func (d *document) object(l *Layer, prefix string, obj *hujson.Object) error {
	seen := map[string]bool{}
	for i := range obj.Members {
		m := &obj.Members[i]
		key, bad := text(&m.Name)
		field := prefix + key
		if bad == nil && seen[key] {
			bad = badf("the key is there twice").located(m.Name.StartOffset).hinted("keep one of them; two spellings of a key, such as \\u0061 for a, are the same key")
		}
		if bad != nil {
			return d.fail(field, bad)
		}
		seen[key] = true
		if prefix == "" && key == "$schema" {
			if _, bad := text(&m.Value); bad != nil {
				return d.fail(field, bad)
			}
			continue
		}
		if strings.Contains(key, ".") { // it would look like the path of a field
			return d.fail(field, badf("unknown key").located(m.Name.StartOffset).hinted(`write groups as objects: "filesystem": { "writable": [ … ] }`))
		}
		if err := d.member(l, field, m); err != nil {
			return err
		}
	}
	return nil
}

func (d *document) member(l *Layer, field string, m *hujson.ObjectMember) error {
	if isGroup(field) {
		obj, ok := m.Value.Value.(*hujson.Object)
		if !ok {
			return d.fail(field, wanted("an object", &m.Value))
		}
		return d.object(l, field+".", obj)
	}
	f, ok := FieldNamed(field)
	if !ok {
		return d.fail(field, badf("unknown key").located(m.Name.StartOffset).hinted(keyHint(field)))
	}
	if bad := f.ops.parse(l, &m.Value); bad != nil {
		return d.fail(field, bad)
	}
	if at, key := repeated(&m.Value); key != "" { // env.set
		return d.fail(field+"."+key, badf("the key is there twice").located(at))
	}
	return nil
}

// repeated finds a key that is in an object, a field's value, twice.
func repeated(v *hujson.Value) (int, string) {
	obj, ok := v.Value.(*hujson.Object)
	if !ok {
		return 0, ""
	}
	seen := map[string]bool{}
	for i := range obj.Members {
		key, _ := text(&obj.Members[i].Name)
		if seen[key] {
			return obj.Members[i].Name.StartOffset, key
		}
		seen[key] = true
	}
	return 0, ""
}

// keyHint finds what an unknown key may have been meant to be.
func keyHint(field string) string {
	var names []string
	leaf := field[strings.LastIndexByte(field, '.')+1:]
	for _, f := range Fields() {
		if strings.HasSuffix(f.Name, "."+leaf) {
			return `did you mean "` + f.Name + `"?`
		}
		names = append(names, f.Name)
		if group, _, ok := strings.Cut(f.Name, "."); ok {
			names = append(names, group)
		}
	}
	group, _, nested := strings.Cut(field, ".")
	if nested {
		names = siblings(group)
	}
	if s := didYouMean(field, names); s != "" {
		return strings.TrimSpace(s)
	}
	return "docs/policy.md lists the keys"
}

func siblings(group string) []string {
	var names []string
	for _, f := range Fields() {
		if strings.HasPrefix(f.Name, group+".") {
			names = append(names, f.Name)
		}
	}
	return names
}

// tooDeep gives the offset of the first bracket that opens one level too many, or
// -1. It goes over the bytes without recursion, as the parser must not see such a file.
func tooDeep(b []byte) int {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '"':
			i = stringEnd(b, i)
		case '/':
			i = commentEnd(b, i)
		case '{', '[':
			if depth++; depth > maxDepth {
				return i
			}
		case '}', ']':
			depth--
		}
	}
	return -1
}

func stringEnd(b []byte, i int) int {
	for i++; i < len(b) && b[i] != '"'; i++ {
		if b[i] == '\\' {
			i++
		}
	}
	return i
}

func commentEnd(b []byte, i int) int {
	end := ""
	switch {
	case bytes.HasPrefix(b[i:], []byte("//")):
		end = "\n"
	case bytes.HasPrefix(b[i:], []byte("/*")):
		end = "*/"
	default:
		return i
	}
	n := bytes.Index(b[i+2:], []byte(end))
	if n < 0 {
		return len(b)
	}
	return i + 2 + n + len(end) - 1
}
