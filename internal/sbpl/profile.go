package sbpl

import (
	"fmt"
	"strings"
)

// Action is what a rule says. The zero value is the strictest.
type Action uint8

// The actions.
const (
	Deny Action = iota
	Allow
)

// String gives the word of the language.
func (a Action) String() string { return [...]string{"deny", "allow"}[a] }

// Profile is a list of rules.
type Profile struct {
	Default Action
	Rules   []Rule
}

// Rule is one rule. Without filters it counts for every object; with several, for
// each that one of them matches.
type Rule struct {
	Action    Action
	Ops       []string
	Filters   []Filter
	Modifiers []string // of (with …), for example "no-log"
	Why       string   // for people; written as a comment
	Origin    string   // the rule of the policy behind it
	Line      int      // where it was read
}

// Filter is one condition. Make filters with the functions of this package.
type Filter struct {
	Name   string
	Values []string
	Sub    []Filter // of require-any, require-all, require-not, and of remote and local with unix-socket
	res    []*pattern
}

// Literal matches exactly these paths.
func Literal(paths ...string) Filter { return Filter{Name: "literal", Values: paths} }

// Subpath matches these paths and all below them.
func Subpath(paths ...string) Filter { return Filter{Name: "subpath", Values: paths} }

// Regex matches paths in which the expression is found.
func Regex(exprs ...string) Filter { return mustCompile(Filter{Name: "regex", Values: exprs}) }

// Named makes a filter on a name: global-name, sysctl-name, target …
func Named(filter string, values ...string) Filter { return Filter{Name: filter, Values: values} }

// SubpathParam is Subpath of a parameter that is given at the start (-D).
func SubpathParam(name string) Filter {
	return Filter{Name: "subpath", Values: []string{paramMark + name}}
}

// LiteralParam is Literal of a parameter.
func LiteralParam(name string) Filter {
	return Filter{Name: "literal", Values: []string{paramMark + name}}
}

// All matches when all of them do.
func All(f ...Filter) Filter { return Filter{Name: "require-all", Sub: f} }

// Not matches when the other does not.
func Not(f Filter) Filter { return Filter{Name: "require-not", Sub: []Filter{f}} }

// Remote and Local match an address: proto is ip, tcp or udp, address "*:*",
// "localhost:80" …
func Remote(proto, address string) Filter {
	return Filter{Name: "remote", Values: []string{proto, address}}
}

// Local is Remote for the own side.
func Local(proto, address string) Filter {
	return Filter{Name: "local", Values: []string{proto, address}}
}

// RemoteSocket and LocalSocket match the path of a unix socket.
func RemoteSocket(f Filter) Filter {
	return Filter{Name: "remote", Values: []string{"unix-socket"}, Sub: []Filter{f}}
}

// LocalSocket is RemoteSocket for a socket that is made.
func LocalSocket(f Filter) Filter {
	return Filter{Name: "local", Values: []string{"unix-socket"}, Sub: []Filter{f}}
}

func mustCompile(f Filter) Filter {
	if err := f.compile(0); err != nil {
		panic("sbpl: " + err.Error())
	}
	return f
}

// paramMark marks a value that is a parameter's name. A NUL is in no path.
const paramMark = "\x00param "

// Unescapable is the fault of a value that the language cannot hold.
type Unescapable struct{ Value string }

// Error says which.
func (e *Unescapable) Error() string {
	return fmt.Sprintf("%q cannot be written in a profile", e.Value)
}

// Text writes the profile. An error is an *Unescapable.
//
// SECURITY: every value goes through quote; nothing else of a rule comes from
// outside of this program. What was written is read again and compared, so that a
// fault in quoting is an error and not a hole (MAC-04).
func (p *Profile) Text() (string, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "(version 1)\n(%s default)\n", p.Default)
	why := ""
	for _, r := range p.Rules {
		if r.Why != why {
			why = r.Why
			fmt.Fprintf(&b, "\n; %s\n", comment(why))
		}
		line, err := r.Text()
		if err != nil {
			return "", err
		}
		b.WriteString(line + "\n")
	}
	out := b.String()
	again, err := Parse(out, Options{keepParams: true})
	if err != nil || !same(p, again) {
		return "", fmt.Errorf("the profile does not read back as it was written: %v", err)
	}
	return out, nil
}

// comment keeps a remark on its line.
func comment(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, s)
}

// Text writes one rule on one line.
func (r Rule) Text() (string, error) {
	var b strings.Builder
	b.WriteString("(" + r.Action.String())
	for _, op := range r.Ops {
		if _, ok := known(op); !ok {
			return "", &Unescapable{op}
		}
		b.WriteString(" " + op)
	}
	for _, f := range r.Filters {
		b.WriteByte(' ')
		if err := f.write(&b); err != nil {
			return "", err
		}
	}
	for _, m := range r.Modifiers {
		b.WriteString(" (with " + m + ")")
	}
	b.WriteByte(')')
	return b.String(), nil
}

func (f Filter) write(b *strings.Builder) error {
	kind, ok := filters()[f.Name]
	if !ok {
		return &Unescapable{f.Name}
	}
	b.WriteString("(" + f.Name)
	for i, v := range f.Values {
		b.WriteByte(' ')
		if kind == byWord || (kind == byAddress && i == 0) {
			if !isWord(v) {
				return &Unescapable{v}
			}
			b.WriteString(v)
			continue
		}
		q, err := quote(v)
		if err != nil {
			return err
		}
		b.WriteString(q)
	}
	for _, s := range f.Sub {
		b.WriteByte(' ')
		if err := s.write(b); err != nil {
			return err
		}
	}
	b.WriteByte(')')
	return nil
}

func isWord(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' && i > 0 || c == '-' || c == '_') {
			return false
		}
	}
	return s != ""
}

// quote writes a string. Only the quote and the backslash are escaped, which every
// reader of the language agrees on; all other bytes stand for themselves, a newline
// too. A byte that could end the reading early (0xff is the end of input in a
// reader that uses signed characters) is in no UTF-8 and so in no name that a file
// system of macOS takes: it is an error, not a guess.
//
// SECURITY: the one place where a path becomes part of a profile's text.
func quote(s string) (string, error) {
	if name, ok := strings.CutPrefix(s, paramMark); ok {
		if !isWord(name) {
			return "", &Unescapable{name}
		}
		return `(param "` + name + `")`, nil
	}
	if strings.IndexByte(s, 0) >= 0 || !validUTF8(s) {
		return "", &Unescapable{s}
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`, nil
}
