package metrics

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/qiming-sandbox/qsandbox/internal/event"
)

// File is the name of the file with the counts, next to the audit log.
const File = "metrics.json"

// maxState bounds it.
const maxState = 4 << 20

// Update counts what the audit log at a path has more than the last time. The counts are
// good also when they could not be kept, which is what unkept says: the next one counts
// from where this one did.
func Update(log string) (c *Counts, unkept, err error) {
	state := filepath.Join(filepath.Dir(log), File)
	c, unkept = load(state)
	r, err := event.Read(log, c.At)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	if r.Lost() {
		c.Gaps++
	}
	for {
		e, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, nil, err
		}
		c.Add(e)
	}
	if r.Position() == c.At {
		return c, unkept, nil
	}
	c.At = r.Position()
	data, err := json.Marshal(c)
	if err != nil {
		return nil, nil, err
	}
	return c, errors.Join(unkept, WriteFile(state, data, 0o600)), nil
}

// load reads the counts; those that cannot be read begin anew, which Prometheus takes
// for the restart that it is.
func load(path string) (*Counts, error) {
	c := fresh()
	f, err := event.OpenToRead(path)
	if errors.Is(err, os.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return c, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxState))
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(data, c); err != nil || c.Version != version || !c.whole() {
		return fresh(), errors.New("the counts so far cannot be read, and begin anew: " + path)
	}
	return c, nil
}

func (c *Counts) whole() bool {
	return len(c.Durations.Buckets) == len(bounds)+1 && c.Started != nil && c.Ended != nil && c.Failed != nil && c.Open != nil
}

// WriteFile replaces a file as a whole, so that a reader sees the old one or the new one.
// A link in its place is replaced, not followed.
func WriteFile(path string, data []byte, mode os.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(mode), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
