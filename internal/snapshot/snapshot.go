package snapshot

import (
	"bytes"
	"encoding/json"
	"errors"
	"hash/fnv"
	"io/fs"
	"strconv"
	"time"

	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// Ending of a snapshot's name, after the name of its database.
const Ending = ".snapshot"

// maxSnapshot bounds a snapshot: a policy and what is around it.
const maxSnapshot = policy.MaxFile + 64<<10

// first is the line that a snapshot starts with; the sum of the rest follows.
const first = "qsandbox-policy-snapshot 1 "

// Identity says which file something was, and in which state. A file that is missing or
// empty is the zero value: SQLite makes and removes empty ones while it only reads.
type Identity struct {
	Dev      uint64 `json:"dev"`
	Ino      uint64 `json:"ino"`
	Size     int64  `json:"size"`
	Modified int64  `json:"modified"`
	Changed  int64  `json:"changed"`
}

// Files are the identities of a database's files: itself, its write-ahead log, its
// rollback journal. Whoever changes the database changes one of them.
type Files [3]Identity

// Snapshot is a policy and the state of the database that it was read from.
type Snapshot struct {
	Path   string          `json:"path"`
	Files  Files           `json:"files"`
	Policy json.RawMessage `json:"policy,omitempty"` // as the store has it; absent when none is stored
}

// Look gives the identities of a database's files.
func Look(h host.Host, path string) (Files, error) {
	var out Files
	for i, end := range []string{"", "-wal", "-journal"} {
		st, err := h.Lstat(path + end)
		switch {
		case err == nil && (st.Size > 0 || i == 0):
			out[i] = Identity{st.Dev, st.Ino, st.Size, nanos(st.Modified), nanos(st.Changed)}
		case err != nil && (i == 0 || !isMissing(err)):
			return Files{}, err
		}
	}
	return out, nil
}

// nanos gives a time in nanoseconds since 1970, 0 for none.
func nanos(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixNano()
}

// settleFine and settleCoarse are how long a file must have been left alone before its
// times tell it from a later state: the kernel stamps with the time of its last tick
// (10 ms at most), and file systems such as FAT keep 2 s.
const (
	settleFine   = 20 * time.Millisecond
	settleCoarse = 2100 * time.Millisecond
)

// Settled gives how long files must still be left alone before their identities can be
// trusted; 0 when they can. A time in the future is never settled.
//
// SECURITY: without it a second write within one tick of the clock would go unseen.
func (f Files) Settled(now time.Time) time.Duration {
	var wait time.Duration
	for _, id := range f {
		if id == (Identity{}) {
			continue
		}
		need := settleFine
		if id.Modified%int64(time.Second) == 0 && id.Changed%int64(time.Second) == 0 {
			need = settleCoarse
		}
		last := time.Unix(0, max(id.Modified, id.Changed))
		wait = max(wait, need-now.Sub(last))
	}
	return wait
}

// Encode writes a snapshot.
func Encode(s Snapshot) ([]byte, error) {
	body, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return append([]byte(first+sum(body)+"\n"), body...), nil
}

// decode reads a snapshot; false for one that is damaged.
func decode(data []byte) (Snapshot, bool) {
	rest, ok := bytes.CutPrefix(data, []byte(first))
	if !ok {
		return Snapshot{}, false
	}
	line, body, ok := bytes.Cut(rest, []byte("\n"))
	if !ok || string(line) != sum(body) {
		return Snapshot{}, false
	}
	var s Snapshot
	return s, json.Unmarshal(body, &s) == nil
}

// sum tells damage, not malice: that is kept out by owner and mode. A cryptographic hash
// would cost each start more than the reading.
func sum(body []byte) string {
	h := fnv.New64a()
	_, _ = h.Write(body)
	return strconv.FormatUint(h.Sum64(), 16)
}

func isMissing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
