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
		var rec recording
		if err := json.Unmarshal(data, &rec); err != nil {
			t.Fatal(file, err)
		}
		tok := &Token{User: rec.User, Restricting: rec.Restricting, WriteRestricted: true}
		for _, s := range rec.Enabled {
			tok.Groups = append(tok.Groups, Group{s, Enabled})
		}
		for _, s := range rec.DenyOnly {
			tok.Groups = append(tok.Groups, Group{s, DenyOnly})
		}
		wrong := map[Reading]int{}
		for _, v := range rec.Vectors {
			for _, r := range Readings() {
				if Check(sddl(t, v.SDDL), tok, v.Mask, File, r) != v.Granted {
					wrong[r]++
				}
			}
		}
		t.Logf("%s (%s): %d vectors; %d differ from the wide reading, %d from the narrow one", file, rec.System, len(rec.Vectors), wrong[Wide], wrong[Narrow])
		if wrong[Wide] > 0 && wrong[Narrow] > 0 {
			t.Errorf("%s agrees with neither reading", file)
		}
	}
}
