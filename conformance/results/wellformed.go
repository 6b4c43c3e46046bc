package results

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
)

// wellFormed refuses a file that is no single JSON value, or in which a key is there
// twice: two readers would see two reports. The error beside says where the value has
// not the form of a Report: package json alone takes any case of a name, what is
// missing, and null.
func wellFormed(data []byte) (misfit, err error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	f := &form{d: d, data: data}
	if err := f.value("", reflect.TypeFor[Report]()); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("line %d: something follows the report", f.line())
	}
	return f.misfit, nil
}

// form reads a file and holds what does not fit first.
type form struct {
	d      *json.Decoder
	data   []byte
	misfit error
}

func (f *form) line() int { return line(f.data, f.d.InputOffset()) }

func (f *form) say(format string, args ...any) {
	if f.misfit == nil {
		f.misfit = fmt.Errorf("line %d: "+format, append([]any{f.line()}, args...)...)
	}
}

// value reads one value whole. path names its field, t is what it must be: nil when
// its field is unknown.
func (f *form) value(path string, t reflect.Type) error {
	token, err := f.d.Token()
	if err != nil {
		return placed(f.data, f.d.InputOffset(), err)
	}
	switch token {
	case json.Delim('{'):
		err = f.object(path, t)
	case json.Delim('['):
		err = f.list(path, t)
	case nil:
		if t != nil && t.Kind() != reflect.Pointer {
			f.say("field %q is null, which it cannot be", path)
		}
		return nil
	default:
		return nil // package json looks at the kind
	}
	if err != nil {
		return err
	}
	_, err = f.d.Token() // the bracket
	return placed(f.data, f.d.InputOffset(), err)
}

func (f *form) list(path string, t reflect.Type) error {
	var of reflect.Type
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Array) {
		of = t.Elem()
	}
	n := 0
	for ; f.d.More(); n++ {
		if err := f.value(fmt.Sprintf("%s[%d]", path, n), of); err != nil {
			return err
		}
	}
	if t != nil && t.Kind() == reflect.Array && n != t.Len() {
		f.say("field %q has %d values, not %d", path, n, t.Len())
	}
	return nil
}

func (f *form) object(path string, t reflect.Type) error {
	known := fields(t)
	seen := map[string]bool{}
	for f.d.More() {
		token, err := f.d.Token()
		if err != nil {
			return placed(f.data, f.d.InputOffset(), err)
		}
		k, _ := token.(string)
		at := within(path, k)
		if seen[k] {
			return fmt.Errorf("line %d: field %q is there twice", f.line(), at)
		}
		seen[k] = true
		i := slices.IndexFunc(known, func(x member) bool { return x.name == k })
		var of reflect.Type
		switch {
		case i >= 0:
			of = known[i].of
		case known != nil:
			f.say("field %q is not known", at)
		}
		if err := f.value(at, of); err != nil {
			return err
		}
	}
	for _, x := range known {
		if x.must && !seen[x.name] {
			f.say("field %q is missing", within(path, x.name))
		}
	}
	return nil
}

func within(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// placed says where a JSON error is. offset counts where the error itself has none.
func placed(data []byte, offset int64, err error) error {
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: it is broken: %w", line(data, syntax.Offset), err)
	case errors.As(err, &wrong):
		return fmt.Errorf("line %d: field %q is a %s, which it cannot be", line(data, wrong.Offset), wrong.Field, wrong.Value)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("line %d: it is cut: the file ends in the middle", line(data, int64(len(data))))
	}
	return fmt.Errorf("line %d: it is broken: %w", line(data, offset), err)
}

func line(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(max(offset, 0), int64(len(data)))], []byte{'\n'})
}

// checkMachines looks at what belongs to which machine. A record is there once for
// each machine of its platform at most.
func (r *Report) checkMachines() error {
	platform, of, runs := map[string]string{}, map[string]int{}, map[string]bool{}
	for i, m := range r.Machines {
		if _, twice := platform[m.Name]; m.Name == "" || twice {
			return fmt.Errorf("field \"machines[%d].name\" is empty or there twice", i)
		}
		if m.Run == "" || runs[m.Run] {
			return fmt.Errorf("field \"machines[%d].run\" is empty or there twice", i)
		}
		platform[m.Name], runs[m.Run] = m.Platform, true
		of[m.Platform]++
	}
	count := map[key]int{}
	for i, rec := range r.Records {
		if count[rec.key()]++; count[rec.key()] > of[rec.Platform] {
			return fmt.Errorf("field \"records[%d]\": %s on %s in %s is there %d times for %d machines of %s", i, rec.CaseID, rec.Backend, rec.Mode, count[rec.key()], of[rec.Platform], rec.Platform)
		}
	}
	return r.checkEvidence(platform, count)
}

func (r *Report) checkEvidence(platform map[string]string, records map[key]int) error {
	type one struct {
		machine string
		key     key
	}
	seen := map[one]bool{}
	for i, e := range r.Evidence {
		k := key{e.Platform, e.Backend, e.Mode, e.CaseID}
		switch p, ok := platform[e.Machine]; {
		case !ok || p != e.Platform:
			return fmt.Errorf("field \"evidence[%d].machine\" is %q, which is no machine of %s", i, e.Machine, e.Platform)
		case records[k] == 0:
			return fmt.Errorf("field \"evidence[%d]\" is about %s on %s in %s, of which there is no record", i, e.CaseID, e.Backend, e.Mode)
		case seen[one{e.Machine, k}]:
			return fmt.Errorf("field \"evidence[%d]\" is there twice", i)
		}
		seen[one{e.Machine, k}] = true
		for j, run := range e.Runs {
			if !slices.Contains(Statuses(), run.Status) {
				return fmt.Errorf("field \"evidence[%d].runs[%d].status\" is %q", i, j, run.Status)
			}
			if !slices.Contains(Leaks(), run.Leak) {
				return fmt.Errorf("field \"evidence[%d].runs[%d].leak\" is %q", i, j, run.Leak)
			}
		}
	}
	return nil
}

// sameFigures compares what a file says of itself with what its records give.
func sameFigures(said, computed any, field string) error {
	if reflect.DeepEqual(said, computed) {
		return nil
	}
	a, _ := json.Marshal(said)
	b, _ := json.Marshal(computed)
	return fmt.Errorf("field %q does not fit the records: it says %s, they give %s", field, cut(a), cut(b))
}

func cut(b []byte) string {
	const most = 200
	if len(b) > most {
		return string(b[:most]) + "…"
	}
	return string(b)
}
