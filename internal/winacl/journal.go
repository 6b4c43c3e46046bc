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

// Same tells whether two records speak of the same entry.
func (r Record) Same(o Record) bool {
	return r.entry() == o.entry()
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

// Add gives the journal with more records; those of the same entries are replaced.
func (j Journal) Add(more ...Record) Journal {
	out := j.Remove(more...)
	at := map[entry]int{}
	for _, r := range more {
		if i, twice := at[r.entry()]; twice {
			out.Records[i] = r
			continue
		}
		at[r.entry()] = len(out.Records)
		out.Records = append(out.Records, r)
	}
	return out
}

// Remove gives the journal without the entries of some records.
func (j Journal) Remove(list ...Record) Journal {
	gone := map[entry]bool{}
	for _, r := range list {
		gone[r.entry()] = true
	}
	out := Journal{Records: make([]Record, 0, len(j.Records)+len(list))}
	for _, o := range j.Records {
		if !gone[o.entry()] {
			out.Records = append(out.Records, o)
		}
	}
	return out
}
