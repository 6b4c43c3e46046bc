package winacl

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// recording is what a real Windows said about one token (TestWriteVectors of package
// internal/winsandbox writes it).
type recording struct {
	System      string   `json:"system"`
	User        SID      `json:"user"`
	Enabled     []SID    `json:"enabled"`
	DenyOnly    []SID    `json:"deny_only"`
	Restricting []SID    `json:"restricting"`
	Vectors     []vector `json:"vectors"`
}

type vector struct {
	SDDL    string `json:"sddl"`
	Mask    Mask   `json:"mask"`
	Granted bool   `json:"granted"`
}

// TestRecordedVectors replays recordings of real machines against the model. There is
// none yet: until there is, what rests on the model is called modelled.
func TestRecordedVectors(t *testing.T) {
	files, err := filepath.Glob("testdata/recorded/*.json")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("no recording of a real Windows is in the tree yet; sandbox-integration-windows.yml makes one")
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rec, wrong := replay(t, data)
		t.Logf("%s (%s): %d vectors; %d differ from the wide reading, %d from the narrow one", file, rec.System, len(rec.Vectors), wrong[Wide], wrong[Narrow])
		if len(rec.Vectors) == 0 || wrong[Wide] > 0 && wrong[Narrow] > 0 {
			t.Errorf("%s agrees with neither reading", file)
		}
	}
}

// replay counts the vectors of a recording that differ from each reading of the model.
func replay(t *testing.T, data []byte) (recording, map[Reading]int) {
	t.Helper()
	var rec recording
	if err := json.Unmarshal(data, &rec); err != nil {
		t.Fatal(err)
	}
	tok := rec.token()
	wrong := map[Reading]int{}
	for _, v := range rec.Vectors {
		for _, r := range Readings() {
			if Check(sddl(t, v.SDDL), tok, v.Mask, File, r) != v.Granted {
				wrong[r]++
			}
		}
	}
	return rec, wrong
}

func (rec recording) token() *Token {
	tok := &Token{User: rec.User, Restricting: rec.Restricting, WriteRestricted: len(rec.Restricting) > 0}
	for _, s := range rec.Enabled {
		tok.Groups = append(tok.Groups, Group{s, Enabled})
	}
	for _, s := range rec.DenyOnly {
		tok.Groups = append(tok.Groups, Group{s, DenyOnly})
	}
	return tok
}

// TestReplay: a recording in the form of a real one, made by each reading, agrees with
// that one; the readings can be told apart, and one wrong vector is noticed.
func TestReplay(t *testing.T) {
	user, capability := NewSID(5, 21, 1, 2, 3, 1001), NewSID(5, 21, 7, 7, 7, 7)
	for _, made := range Readings() {
		rec := recording{System: "model", User: user, Enabled: []SID{Everyone, Users}, DenyOnly: []SID{Admins}, Restricting: []SID{capability, Everyone}}
		for _, text := range []string{"O:BAG:BAD:(A;;FA;;;BU)", "O:BAG:BAD:(A;;FA;;;WD)", "O:BAG:BAD:(D;;FW;;;BA)(A;;FA;;;WD)", "O:BAG:BAD:(A;;FA;;;BU)(A;;FW;;;" + capability.String() + ")"} {
			for bit := range 21 {
				if m := Mask(1 << bit); m&File.All != 0 {
					rec.Vectors = append(rec.Vectors, vector{text, m, Check(sddl(t, text), rec.token(), m, File, made)})
				}
			}
		}
		data, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		_, wrong := replay(t, data)
		for _, r := range Readings() {
			if (wrong[r] == 0) != (r == made) {
				t.Errorf("made by reading %v: %d differ from reading %v", made, wrong[r], r)
			}
		}
		rec.Vectors[5].Granted = !rec.Vectors[5].Granted
		data, _ = json.Marshal(rec)
		if _, wrong := replay(t, data); wrong[made] != 1 {
			t.Errorf("one wrong vector: %v", wrong)
		}
	}
}
