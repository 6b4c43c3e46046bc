package winacl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Record is one entry that we are about to add to a list, or have added. It is
// written before the list is touched, so that a crash leaves nothing unknown.
type Record struct {
	Path      string    `json:"path"` // real path
	Type      string    `json:"type"` // allow | deny
	SID       SID       `json:"sid"`
	Mask      Mask      `json:"mask"`
	Flags     Flags     `json:"flags"`
	Workspace string    `json:"workspace"` // the run's first root
	PID       int       `json:"pid"`       // of the helper that wrote it
	Start     int64     `json:"start"`     // when that process began (100 ns since 1601, or 0)
	Added     time.Time `json:"added"`
	Keep      bool      `json:"keep"` // stays after the run: workspace-write
}

// ACE gives the entry.
func (r Record) ACE() ACE {
	a := ACE{Type: Allow, Flags: r.Flags, Mask: r.Mask, SID: r.SID}
	if r.Type == "deny" {
		a.Type = Deny
	}
	return a
}

// NewRecord describes an entry.
func NewRecord(path string, a ACE) Record {
	kind := "allow"
	if a.Type == Deny {
		kind = "deny"
	}
	return Record{Path: path, Type: kind, SID: a.SID, Mask: a.Mask, Flags: a.Flags}
}

// Journal is the set of all entries that we have made on this machine.
type Journal struct{ Records []Record }

// maxJournal bounds what is read: a journal of that size is not ours.
const maxJournal = 16 << 20

// ParseJournal reads a journal: one JSON object a line. A last line that was cut off
// by a crash is left out: its entry was not made yet. Any other bad line is an error.
func ParseJournal(data []byte) (Journal, error) {
	var j Journal
	if len(data) > maxJournal {
		return j, fmt.Errorf("journal of %d bytes", len(data))
	}
	for n := 1; len(data) > 0; n++ {
		line, rest, whole := bytes.Cut(data, []byte{'\n'})
		data = rest
		if len(line) == 0 {
			continue
		}
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			if !whole {
				break
			}
			return j, fmt.Errorf("journal line %d: %w", n, err)
		}
		if r.Path == "" || r.SID.IsZero() || r.Type != "allow" && r.Type != "deny" {
			return j, fmt.Errorf("journal line %d: a record without path, type or identifier", n)
		}
		j.Records = append(j.Records, r)
	}
	return j, nil
}

// Encode gives the form that ParseJournal reads.
func (j Journal) Encode() []byte {
	var b bytes.Buffer
	for _, r := range j.Records {
		line, err := json.Marshal(r)
		if err != nil {
			panic(err) // plain data
		}
		b.Write(append(line, '\n'))
	}
	return b.Bytes()
}

// entry is what two records of the same entry have in common.
type entry struct {
	path, kind string
	sid        SID
	mask       Mask
	flags      Flags
}

func (r Record) entry() entry { return entry{r.Path, r.Type, r.SID, r.Mask, r.Flags} }

// holding is an entry and the helper that needs it. Two runs at once can need the same one.
type holding struct {
	entry
	pid   int
	start int64
}

func (r Record) holding() holding { return holding{r.entry(), r.PID, r.Start} }

// Add gives the journal with more records; those of the same helper for the same entries
// are replaced.
func (j Journal) Add(more ...Record) Journal {
	out := j.Remove(more...)
	at := map[holding]int{}
	for _, r := range more {
		if i, twice := at[r.holding()]; twice {
			out.Records[i] = r
			continue
		}
		at[r.holding()] = len(out.Records)
		out.Records = append(out.Records, r)
	}
	return out
}

// Remove gives the journal without some records.
func (j Journal) Remove(list ...Record) Journal {
	gone := map[holding]bool{}
	for _, r := range list {
		gone[r.holding()] = true
	}
	out := Journal{Records: make([]Record, 0, len(j.Records)+len(list))}
	for _, o := range j.Records {
		if !gone[o.holding()] {
			out.Records = append(out.Records, o)
		}
	}
	return out
}

// Join gives the journal with the records of a new run. They take the place of those that
// ended runs have left for the same entries; a run that goes on keeps its own, so that the
// end of one takes nothing from the other. What was to stay is not made to go.
func (j Journal) Join(running func(Record) bool, mine ...Record) Journal {
	keep := map[entry]bool{}
	for _, r := range mine {
		keep[r.entry()] = r.Keep
	}
	var over []Record
	for _, o := range j.Records {
		if stays, same := keep[o.entry()]; same && (stays || !o.Keep) && !running(o) {
			over = append(over, o)
		}
	}
	return j.Remove(over...).Add(mine...)
}

// Without gives what to do when some records go: the journal that is left, and which of
// the gone ones were the last to need their entry. Only those entries are taken out.
func (j Journal) Without(goes func(Record) bool) (left Journal, last, others []Record) {
	held := map[entry]bool{}
	var gone []Record
	for _, r := range j.Records {
		if goes(r) {
			gone = append(gone, r)
		} else {
			held[r.entry()] = true
			left.Records = append(left.Records, r)
		}
	}
	for _, r := range gone {
		if held[r.entry()] {
			others = append(others, r)
			continue
		}
		last = append(last, r)
	}
	return left, last, others
}
