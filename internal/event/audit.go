package event

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Bounds of an audit log.
const (
	DefaultSize = 10 << 20 // of one file
	DefaultKeep = 5        // older files: audit.jsonl.1 is the newest of them

	maxField  = 4 << 10 // bytes of one value
	maxFields = 32
)

// Log is an audit log: one event a line, in JSON. Many processes may write to the same
// file at once: every line is one write to a file opened for appending. Nothing is
// flushed to the disk: a log must outlive its program, not the power.
//
// SECURITY: the file may lie where a sandboxed command can write. No link is followed
// as its last part, a FIFO does not block, and the type and owner are checked on the
// descriptor (FS-10).
type Log struct {
	path string
	size int64 // at which a file is set aside
	keep int

	mu   sync.Mutex
	file *os.File
	buf  []byte
	torn bool // the last line was cut by an error: begin a new one
}

// logs are the logs of this process, by path: they are opened once, by the first event.
var logs sync.Map

// Audit gives the log at a path. Nothing is opened before the first event.
func Audit(path string) *Log {
	if l, ok := logs.Load(path); ok {
		return l.(*Log)
	}
	l, _ := logs.LoadOrStore(path, &Log{path: path, size: DefaultSize, keep: DefaultKeep})
	return l.(*Log)
}

// AuditLog gives a sink that writes to the log at a path, whose directory is made when
// it is missing, for its owner alone. What cannot be written later is lost: who must
// know uses Audit.
func AuditLog(path string) (Sink, error) {
	l := Audit(path)
	if err := l.Open(); err != nil {
		return nil, err
	}
	return func(e Event) { _ = l.Write(e) }, nil
}

// Open makes sure that the log can be written, and makes it when it is missing.
func (l *Log) Open() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open()
}

// Write writes one event.
func (l *Log) Write(e Event) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	l.buf = l.buf[:0]
	if l.torn {
		l.buf = append(l.buf, '\n')
	}
	if l.buf, err = appendLine(l.buf, e); err != nil {
		return err
	}
	if err := l.open(); err != nil {
		return err
	}
	n, err := l.file.Write(l.buf)
	l.torn = err != nil && (l.torn || n > 0)
	if err != nil {
		l.close()
		return fmt.Errorf("write audit log %q: %w", l.path, err)
	}
	return nil
}

// open makes sure that file is the one at path, and that it has room.
func (l *Log) open() error {
	if l.file != nil {
		size, same, err := l.look()
		switch {
		case err == nil && same && size < l.size:
			return nil
		case err == nil && same:
			l.rotate()
		}
		l.close()
	}
	f, err := openLog(l.path)
	if err != nil {
		return fmt.Errorf("open audit log %q: %w", l.path, err)
	}
	l.file = f
	if size, same, err := l.look(); err == nil && same && size >= l.size {
		l.rotate()
		l.close()
		if l.file, err = openLog(l.path); err != nil {
			l.file = nil
			return fmt.Errorf("open audit log %q: %w", l.path, err)
		}
	}
	return nil
}

// look gives the size of the file at path, and whether it is the one that is open:
// another process may have set that one aside.
func (l *Log) look() (size int64, same bool, err error) {
	at, err := os.Lstat(l.path)
	if err != nil {
		return 0, false, err
	}
	own, err := l.file.Stat()
	if err != nil {
		return 0, false, err
	}
	return at.Size(), os.SameFile(at, own), nil
}

// rotate sets the file aside. Only one process does: the others find out by look. When
// it does not work the file grows on: a lost line is worse than a long file.
func (l *Log) rotate() {
	unlock, err := lockLog(l.file)
	if err != nil {
		return // somebody else is at it
	}
	defer unlock()
	if _, same, err := l.look(); err != nil || !same {
		return
	}
	for n := l.keep; n > 0; n-- {
		from := l.path
		if n > 1 {
			from = fmt.Sprintf("%s.%d", l.path, n-1)
		}
		_ = os.Rename(from, fmt.Sprintf("%s.%d", l.path, n)) // a link there is replaced, not followed
	}
	if l.keep == 0 {
		_ = os.Remove(l.path)
	}
}

func (l *Log) close() {
	if l.file != nil {
		l.file.Close()
		l.file = nil
	}
}

// privateDir makes the directory of a log when it is missing.
func privateDir(path string) error {
	dir := filepath.Dir(path)
	if _, err := os.Lstat(dir); err == nil || !os.IsNotExist(err) {
		return err
	}
	return os.MkdirAll(dir, 0o700)
}

// appendEscaped writes a character the way JSON does, as UTF-16.
func appendEscaped(b []byte, r rune) []byte {
	if r > 0xffff {
		r -= 0x10000
		return fmt.Appendf(b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
	}
	return fmt.Appendf(b, `\u%04x`, r)
}

// cutFields shortens long values, in a copy.
func cutFields(fields map[string]string) map[string]string {
	out := make(map[string]string, len(fields))
	for k, v := range fields {
		if len(v) > maxField {
			v = strings.ToValidUTF8(v[:maxField], "") + " …"
		}
		out[k] = v
	}
	return out
}
