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
// twice: two readers would see two reports.
func wellFormed(data []byte) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := value(d, data, ""); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("line %d: something follows the report", line(data, d.InputOffset()))
	}
	return nil
}

// value reads one value whole; path names its field.
func value(d *json.Decoder, data []byte, path string) error {
	t, err := d.Token()
	if err != nil {
		return placed(data, d.InputOffset(), err)
	}
	switch t {
	case json.Delim('{'):
		err = object(d, data, path)
	case json.Delim('['):
		for i := 0; err == nil && d.More(); i++ {
			err = value(d, data, fmt.Sprintf("%s[%d]", path, i))
		}
	default:
		return nil
	}
	if err != nil {
		return err
	}
	_, err = d.Token() // the bracket
	return placed(data, d.InputOffset(), err)
}

func object(d *json.Decoder, data []byte, path string) error {
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return placed(data, d.InputOffset(), err)
		}
		k, _ := t.(string)
		at := k
		if path != "" {
			at = path + "." + k
		}
		if seen[k] {
			return fmt.Errorf("line %d: field %q is there twice", line(data, d.InputOffset()), at)
		}
		seen[k] = true
		if err := value(d, data, at); err != nil {
			return err
		}
	}
	return nil
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
