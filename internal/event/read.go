package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
)

// maxLine is above every line that a Log writes; longer ones are skipped.
const maxLine = 256 << 10

// Names lists every event there is.
func Names() []Name {
	return []Name{Unavailable, Recovered, ExecuteStart, ExecuteComplete, ExecuteError, PolicyChanged, PolicyViolation, PermissiveUsed}
}

// Line writes an event as the log does: it shows nothing on a terminal but itself.
func Line(e Event) (string, error) {
	b, err := appendLine(nil, e)
	return string(b), err
}

// Position is a place in a log: which file, by the hash of its first line, which no other
// has, and how far. The zero value is before everything.
type Position struct {
	First  uint64 `json:"first"`
	Offset int64  `json:"offset"`
}

// Reader reads a log from the oldest file to the newest, and goes on in the files that
// come later. Lines that are no events, such as a torn one, are skipped.
type Reader struct {
	path string
	list []*os.File // oldest first; the first one is being read
	name uint64     // of that
	buf  []byte
	off  int64
	at   Position
	long bool // in a line that is too long
	lost bool
}

// Read opens a log after a position. A log that is not there is empty. Errors are of a
// place that cannot be read.
func Read(path string, after Position) (*Reader, error) {
	r := &Reader{path: path, at: after}
	var err error
	if r.list, err = openAll(path, nil); err != nil || after == (Position{}) {
		return r, err
	}
	for i, f := range r.list {
		if nameOf(f) == after.First {
			closeAll(r.list[:i])
			r.list, r.off = r.list[i:], after.Offset
			_, err = f.Seek(after.Offset, io.SeekStart)
			return r, err
		}
	}
	r.lost = true // it was set aside too often: some lines may never have been read
	return r, nil
}

// Lost tells whether lines may be missing after the position.
func (r *Reader) Lost() bool { return r.lost }

// Position is where the reading has come to.
func (r *Reader) Position() Position { return r.at }

// Close gives the files back.
func (r *Reader) Close() { closeAll(r.list); r.list = nil }

// Next gives the next event; io.EOF when there is none now. It may be called again.
func (r *Reader) Next() (Event, error) {
	for {
		line, err := r.line()
		if err != nil {
			return Event{}, err
		}
		var e Event
		if json.Unmarshal(line, &e) == nil && e.Name != "" {
			return e, nil
		}
	}
}

func (r *Reader) line() ([]byte, error) {
	for {
		if i := bytes.IndexByte(r.buf, '\n'); i >= 0 {
			line := r.buf[:i]
			r.buf, r.off = r.buf[i+1:], r.off+int64(i)+1
			if r.name == 0 {
				r.name = nameOf(r.list[0])
			}
			r.at = Position{r.name, r.off}
			if r.long {
				r.long = false
				continue
			}
			return line, nil
		}
		if len(r.buf) > maxLine {
			r.off, r.buf, r.long = r.off+int64(len(r.buf)), nil, true
		}
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
}

// fill reads more, and goes on to the next file at the end of one.
func (r *Reader) fill() error {
	for len(r.list) > 0 {
		chunk := make([]byte, 64<<10)
		n, err := r.list[0].Read(chunk)
		if n > 0 {
			r.buf = append(slices.Clip(r.buf), chunk[:n]...)
			return nil
		}
		if err != nil && err != io.EOF {
			return fmt.Errorf("read audit log %q: %w", r.path, err)
		}
		if len(r.list) == 1 {
			if !r.more() {
				return io.EOF
			}
			continue // once more: lines may have come between its end and its being set aside
		}
		r.list[0].Close()
		r.list, r.buf, r.off, r.name, r.long = r.list[1:], nil, 0, 0, false
	}
	if r.more() {
		return nil
	}
	return io.EOF
}

// more looks for files that came after the newest one that is open.
func (r *Reader) more() bool {
	var last *os.File
	if len(r.list) > 0 {
		last = r.list[len(r.list)-1]
		own, err := last.Stat()
		if at, aerr := os.Lstat(r.path); err != nil || aerr != nil || os.SameFile(own, at) {
			return false
		}
	}
	newer, err := openAll(r.path, last)
	if err != nil {
		return false
	}
	r.list = append(r.list, newer...)
	return len(newer) > 0
}

// openAll opens the files of a log that are newer than one, oldest first. It begins at
// the newest: when they are set aside meanwhile one is met twice, and none is missed.
func openAll(path string, after *os.File) ([]*os.File, error) {
	var out []*os.File
	for n := 0; n <= 1000; n++ {
		name := path
		if n > 0 {
			name = fmt.Sprintf("%s.%d", path, n)
		}
		f, err := OpenToRead(name)
		if os.IsNotExist(err) {
			if n == 0 { // it may just have been set aside
				continue
			}
			break
		}
		if err != nil {
			closeAll(out)
			return nil, fmt.Errorf("read audit log %q: %w", name, err)
		}
		if after != nil && same(f, after) {
			f.Close()
			break
		}
		if len(out) > 0 && same(f, out[len(out)-1]) {
			f.Close()
			continue
		}
		out = append(out, f)
	}
	slices.Reverse(out)
	return out, nil
}

func same(a, b *os.File) bool {
	x, err := a.Stat()
	y, yerr := b.Stat()
	return err == nil && yerr == nil && os.SameFile(x, y)
}

func closeAll(list []*os.File) {
	for _, f := range list {
		f.Close()
	}
}

// nameOf tells a file by its first line, which has a time and a run; 0 before it has one.
func nameOf(f *os.File) uint64 {
	head := make([]byte, 4<<10)
	n, _ := f.ReadAt(head, 0)
	line, _, ok := bytes.Cut(head[:n], []byte("\n"))
	if !ok && n < len(head) {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write(line)
	return h.Sum64()
}
