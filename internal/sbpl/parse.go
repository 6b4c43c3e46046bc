package sbpl

import (
	"slices"
	"strings"
)

// Options are what a profile is read with.
type Options struct {
	Params     map[string]string                 // of -D NAME=VALUE
	Import     func(name string) (string, error) // gives the text of (import "name"); nil: that is an error
	keepParams bool                              // a parameter stays a name
}

// Parse reads a profile. An error is an *Error with the line. What is not
// supported is an error: procedures, quoting, and filters that cannot be judged.
func Parse(text string, opt Options) (*Profile, error) {
	p := &parser{opt: opt, names: map[string]value{}}
	if err := p.text(text, 0); err != nil {
		return nil, err
	}
	if !p.version {
		return nil, badf(1, "no (version 1)")
	}
	return &p.out, nil
}

type parser struct {
	opt     Options
	out     Profile
	names   map[string]value // of (define …)
	version bool
}

// value is what an expression stands for: a text, or nothing (#f).
type value struct {
	text string
	ok   bool
}

func (p *parser) text(in string, depth int) error {
	forms, err := read(in)
	if err != nil {
		return err
	}
	for _, f := range forms {
		if err := p.form(f, depth); err != nil {
			return err
		}
	}
	return nil
}

// form takes one form of the top level, or of the body of a when or if.
func (p *parser) form(n node, depth int) error {
	if n.kind != list || len(n.list) == 0 || n.list[0].kind != word {
		return badf(n.line, "a rule is a list that begins with a word")
	}
	if depth > maxDepth {
		return badf(n.line, "nested too deeply")
	}
	switch head := n.list[0].text; head {
	case "version":
		if len(n.list) != 2 || !slices.Contains([]string{"1", "2", "3"}, n.list[1].text) {
			return badf(n.line, "only versions 1 to 3 are known")
		}
		p.version = true
	case "allow", "deny":
		return p.rule(n)
	case "debug", "trace", "disable-full-symbolication": // says what is logged
	case "define":
		return p.define(n)
	case "when", "if", "unless":
		return p.conditional(n, depth)
	case "begin":
		return p.forms(n.list[1:], depth)
	case "import":
		return p.include(n, depth)
	default:
		return badf(n.line, "%q is not supported", head)
	}
	return nil
}

func (p *parser) forms(list []node, depth int) error {
	for _, f := range list {
		if err := p.form(f, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (p *parser) define(n node) error {
	if len(n.list) != 3 || n.list[1].kind != word {
		return badf(n.line, "of define only (define name value) is supported")
	}
	v, err := p.value(n.list[2])
	p.names[n.list[1].text] = v
	return err
}

func (p *parser) conditional(n node, depth int) error {
	if len(n.list) < 3 || n.list[0].text == "if" && len(n.list) > 4 {
		return badf(n.line, "%s needs a condition and what to do", n.list[0].text)
	}
	c, err := p.value(n.list[1])
	if err != nil {
		return err
	}
	switch {
	case n.list[0].text == "if" && c.ok:
		return p.form(n.list[2], depth+1)
	case n.list[0].text == "if" && len(n.list) == 4:
		return p.form(n.list[3], depth+1)
	case n.list[0].text == "when" && c.ok, n.list[0].text == "unless" && !c.ok:
		return p.forms(n.list[2:], depth)
	}
	return nil
}

func (p *parser) include(n node, depth int) error {
	if len(n.list) != 2 || n.list[1].kind != text || p.opt.Import == nil {
		return badf(n.line, "import is not supported here")
	}
	body, err := p.opt.Import(n.list[1].text)
	if err != nil {
		return badf(n.line, "import %q: %v", n.list[1].text, err)
	}
	if depth > 8 {
		return badf(n.line, "imports import each other")
	}
	return p.text(body, depth+1)
}

// value works an expression out.
func (p *parser) value(n node) (value, error) {
	switch {
	case n.kind == text:
		return value{n.text, true}, nil
	case n.kind == word && n.text == "#f":
		return value{}, nil
	case n.kind == word && n.text == "#t":
		return value{"#t", true}, nil
	case n.kind == word:
		v, ok := p.names[n.text]
		if !ok {
			return value{}, badf(n.line, "unbound variable %q", n.text)
		}
		return v, nil
	case len(n.list) == 0 || n.list[0].kind != word:
		return value{}, badf(n.line, "an expression that is not supported")
	}
	args := make([]value, 0, len(n.list)-1)
	for _, a := range n.list[1:] {
		v, err := p.value(a)
		if err != nil {
			return value{}, err
		}
		args = append(args, v)
	}
	return p.call(n, args)
}

func (p *parser) call(n node, args []value) (value, error) {
	switch head := n.list[0].text; {
	case head == "param" && len(args) == 1 && args[0].ok:
		if p.opt.keepParams {
			return value{paramMark + args[0].text, true}, nil
		}
		v, ok := p.opt.Params[args[0].text]
		return value{v, ok}, nil
	case head == "string-append":
		var b strings.Builder
		for _, a := range args {
			if !a.ok || strings.HasPrefix(a.text, paramMark) {
				return value{}, badf(n.line, "string-append of something that is no text")
			}
			b.WriteString(a.text)
		}
		return value{b.String(), true}, nil
	case head == "not" && len(args) == 1:
		return value{"#t", !args[0].ok}, nil
	case (head == "equal?" || head == "string=?") && len(args) == 2:
		return value{"#t", args[0] == args[1]}, nil
	}
	return value{}, badf(n.line, "%q is not supported in an expression", n.list[0].text)
}

// rule takes (allow …) and (deny …).
func (p *parser) rule(n node) error {
	r := Rule{Line: n.line}
	if n.list[0].text == "allow" {
		r.Action = Allow
	}
	for _, c := range n.list[1:] {
		switch {
		case c.kind == word:
			op, ok := known(c.text)
			if !ok {
				return badf(c.line, "there is no operation %q", c.text)
			}
			if len(r.Filters) > 0 {
				return badf(c.line, "the operation %q stands behind a filter", c.text)
			}
			r.Ops = append(r.Ops, op)
		case c.kind == list && len(c.list) > 1 && c.list[0].text == "with" && c.list[0].kind == word:
			r.Modifiers = append(r.Modifiers, c.list[1].text)
		default:
			f, err := p.filter(c, 0)
			if err != nil {
				return err
			}
			r.Filters = append(r.Filters, f)
		}
	}
	if len(r.Ops) == 0 {
		return badf(n.line, "a rule without an operation")
	}
	if slices.Contains(r.Ops, "default") {
		if len(r.Ops) > 1 || len(r.Filters) > 0 {
			return badf(n.line, "default stands alone")
		}
		p.out.Default = r.Action
		return nil
	}
	p.out.Rules = append(p.out.Rules, r)
	return nil
}

func (p *parser) filter(n node, depth int) (Filter, error) {
	if n.kind != list || len(n.list) == 0 || n.list[0].kind != word {
		return Filter{}, badf(n.line, "a filter is a list that begins with a word")
	}
	f := Filter{Name: n.list[0].text}
	kind := filters()[f.Name]
	for i, c := range n.list[1:] {
		switch {
		case c.kind == list && (kind == byOthers || kind == byAddress && i == 1) && depth < maxDepth:
			s, err := p.filter(c, depth+1)
			if err != nil {
				return f, err
			}
			f.Sub = append(f.Sub, s)
		case c.kind == word && (kind == byWord || kind == byAddress && i == 0):
			f.Values = append(f.Values, c.text)
		case kind == byOthers || kind == byWord || kind == byAddress && i == 0:
			return f, badf(c.line, "%s cannot take that", f.Name)
		default:
			v, err := p.value(c)
			if err != nil {
				return f, err
			}
			if !v.ok {
				return f, badf(c.line, "a parameter that was not given")
			}
			f.Values = append(f.Values, v.text)
		}
	}
	f = p.atHome(f)
	if err := f.compile(n.line); err != nil || p.opt.keepParams {
		return f, err
	}
	for _, re := range f.res {
		if _, err := re.compiled(); err != nil {
			return f, badf(n.line, "%v", err)
		}
	}
	return f, nil
}

// atHome turns home-subpath and its like into what they stand for: the parameter
// HOME before the path.
func (p *parser) atHome(f Filter) Filter {
	rest, ok := strings.CutPrefix(f.Name, "home-")
	if home := p.opt.Params["HOME"]; ok && rest != "regex" && home != "" {
		f.Name = rest
		for i, v := range f.Values {
			f.Values[i] = home + v
		}
	}
	return f
}
