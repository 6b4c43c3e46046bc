package conformance

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// maxCase is the largest case file, in bytes.
const maxCase = 64 << 10

var (
	caseID  = regexpOnce(`^[A-Z]{2,5}(-[A-Z0-9]+)*-[0-9]{2,3}$`)
	rowID   = regexpOnce(`^[A-Z]{2,4}-[0-9]{2}$`)
	oneName = regexpOnce(`^[A-Za-z0-9._+-]+$`)
)

// regexpOnce compiles at the first use: nothing of this is paid by a run.
func regexpOnce(expr string) func(string) bool {
	re := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
	return func(s string) bool { return re().MatchString(s) }
}

// parsing is one file while it is read.
type parsing struct {
	name string
	line int
	c    *Case
	seen map[string]bool
}

// fail makes an error that names file, line and field.
func (p *parsing) fail(field, format string, args ...any) error {
	where := fmt.Sprintf("%s:%d", p.name, p.line)
	return fault.Wrap(fault.UsageInvalid, "read case", strings.TrimSuffix(where+" "+field, " "), fmt.Errorf(format, args...)).WithHint("docs/conformance.md describes the form")
}

// Parse reads one case: "key: value" lines, then sections that begin with a line
// "-- name --" and hold text as it is. name is what errors call the file.
func Parse(name string, data []byte) (*Case, error) {
	p := &parsing{name: name, c: &Case{File: name}, seen: map[string]bool{}}
	switch {
	case len(data) > maxCase:
		return nil, p.fail("", "the file has %d bytes, more than %d", len(data), maxCase)
	case !utf8.Valid(data):
		return nil, p.fail("", "the file is not UTF-8")
	case bytes.ContainsAny(data, "\x00\r"):
		return nil, p.fail("", "the file has a NUL byte or a carriage return")
	}
	head, sections, err := p.split(string(data))
	if err != nil {
		return nil, err
	}
	for _, h := range head {
		p.line = h.line
		if err := p.header(h.key, h.value); err != nil {
			return nil, err
		}
	}
	for _, s := range sections {
		p.line = s.line
		if err := p.section(s.key, s.value); err != nil {
			return nil, err
		}
	}
	return p.c, p.check()
}

// part is one header line or one section.
type part struct {
	key, value string
	line       int
}

// split cuts a file into its parts. A header line that starts with blanks goes on
// with the value above.
func (p *parsing) split(text string) (head, sections []part, err error) {
	for raw := range strings.Lines(text) {
		p.line++
		line := strings.TrimSuffix(raw, "\n")
		if name, ok := marker(line); ok {
			sections = append(sections, part{key: name, line: p.line})
			continue
		}
		if len(sections) > 0 {
			sections[len(sections)-1].value += raw
			continue
		}
		switch {
		case strings.TrimSpace(line) == "" || line[0] == '#':
		case line[0] == ' ' || line[0] == '\t':
			if len(head) == 0 {
				return nil, nil, p.fail("", "a line that goes on, and nothing above it")
			}
			head[len(head)-1].value += " " + strings.TrimSpace(line)
		default:
			key, value, ok := strings.Cut(line, ":")
			if !ok {
				return nil, nil, p.fail("", "wanted \"key: value\" or \"-- section --\"")
			}
			head = append(head, part{strings.TrimSpace(key), strings.TrimSpace(value), p.line})
		}
	}
	return head, sections, nil
}

// marker reads "-- name --".
func marker(line string) (string, bool) {
	s, ok := strings.CutPrefix(line, "-- ")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(s, " --")
}

func (p *parsing) once(kind, key string) error {
	if p.seen[kind+key] {
		return p.fail(key, "it is there twice")
	}
	p.seen[kind+key] = true
	return nil
}

// header takes one "key: value".
func (p *parsing) header(key, value string) error {
	if err := p.once("header ", key); err != nil {
		return err
	}
	if value == "" {
		return p.fail(key, "it has no value")
	}
	c := p.c
	if dst := c.plain(key); dst != nil {
		*dst = value
		return nil
	}
	if dst := c.list(key); dst != nil {
		*dst = words(value)
		return nil
	}
	switch key {
	case "severity":
		i := slices.Index(severityNames, value)
		if i < 0 {
			return p.fail(key, "%q is none of %s", value, strings.Join(severityNames, ", "))
		}
		c.Severity = Severity(i)
	case "as":
		for _, w := range words(value) {
			c.As = append(c.As, Identity(w))
		}
	case "expect":
		return p.expect(value)
	case "limit":
		backend, reason, ok := strings.Cut(value, ":")
		if !ok || strings.TrimSpace(reason) == "" {
			return p.fail(key, "wanted \"backend: reason\", with * for any backend")
		}
		c.Limits = append(c.Limits, Limit{strings.TrimSpace(backend), strings.TrimSpace(reason)})
	case "terminal":
		if value != "yes" {
			return p.fail(key, "the only value is yes")
		}
		c.Terminal = true
	case "workspace":
		name, err := strconv.Unquote(value)
		if err != nil || name == "" || strings.ContainsAny(name, "/\x00") || name == "." || name == ".." {
			return p.fail(key, "wanted one name in double quotes, with Go's escapes")
		}
		c.Workspace = name
	case "timeout":
		d, err := time.ParseDuration(value)
		if err != nil || d <= 0 || d > 10*time.Minute {
			return p.fail(key, "%q is no time between 1ms and 10m", value)
		}
		c.Timeout = d
	case "count", "full":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 || n > 100000 {
			return p.fail(key, "%q is no number from 1 to 100000", value)
		}
		*map[string]*int{"count": &c.Count, "full": &c.Full}[key] = n
	default:
		return p.fail(key, "there is no such key")
	}
	return nil
}

// plain are the keys whose value is text.
func (c *Case) plain(key string) *string {
	return map[string]*string{
		"id": &c.ID, "title": &c.Title, "why": &c.Why, "source": &c.Source, "assumes": &c.Assumes, "skip": &c.Skip,
		"expect-backend": &c.Backend, "expect-event": &c.Event, "cwd": &c.Cwd, "network": &c.Network, "driver": &c.Driver, "shown": &c.Shown, "judges": &c.Judges, "judged": &c.Judged, "runs": &c.Runs,
	}[key]
}

// list are the keys whose value is a list of words.
func (c *Case) list(key string) *[]string {
	return map[string]*[]string{
		"rows": &c.Rows, "platforms": &c.Platforms, "backends": &c.Backends, "modes": &c.Modes, "needs": &c.Needs, "with": &c.With,
	}[key]
}

func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// expect reads denied, works, exit N, signal NAME or refused CODE.
func (p *parsing) expect(value string) error {
	word, arg, _ := strings.Cut(value, " ")
	c := p.c
	switch {
	case value == "denied":
		c.Want = Denied
	case value == "works":
		c.Want = Works
	case word == "exit":
		n, err := strconv.Atoi(arg)
		if err != nil || n < 0 || n > 255 {
			return p.fail("expect", "%q is no exit code", arg)
		}
		c.Want, c.Exit = Ends, n
	case word == "signal" && strings.HasPrefix(arg, "SIG"):
		c.Want, c.Signal = Ends, arg
	case word == "refused" && slices.Contains(fault.Codes(), fault.Code(arg)):
		c.Want, c.Code = Refused, arg
	default:
		return p.fail("expect", "%q is none of denied, works, exit N, signal SIGNAME, refused CODE", value)
	}
	return nil
}

// section takes one "-- name --" with its text.
func (p *parsing) section(key, value string) error {
	c := p.c
	dst := map[string]*string{
		"policy": &c.Policy, "setup": &c.Setup, "requires": &c.Requires, "command": &c.Command, "twin": &c.Twin,
		"control": &c.Control, "effect": &c.Effect, "after": &c.After, "cleanup": &c.Cleanup, "available": &c.Available, "stdin": &c.Stdin,
	}[key]
	if dst == nil {
		return p.fail(key, "there is no such section")
	}
	if err := p.once("section ", key); err != nil {
		return err
	}
	if strings.TrimSpace(value) == "" {
		return p.fail(key, "the section is empty")
	}
	*dst = strings.Trim(value, "\n") + "\n"
	return nil
}
