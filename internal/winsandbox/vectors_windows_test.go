package winsandbox

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// TestWriteVectors records what this Windows says about each kind of token of ours, when
// QSANDBOX_VECTORS names a file (name.json; the others become name-KIND.json):
// internal/winacl replays them on every system, from testdata/recorded.
func TestWriteVectors(t *testing.T) {
	file := os.Getenv("QSANDBOX_VECTORS")
	switch {
	case file == "":
		t.Skip("set QSANDBOX_VECTORS=FILE to record")
	case wine():
		t.Skip("Wine restricts no token: a recording of it would be wrong")
	}
	user, logon, err := whoAmI()
	if err != nil {
		t.Fatal(err)
	}
	plain := TokenWish{User: user, Logon: logon, Caps: []winacl.SID{capability(1), capability(2)}}
	free := plain
	free.Restriction = Unrestricted
	for kind, w := range map[string]TokenWish{"": plain, "-offline": plain.Offline(), "-unrestricted": free} {
		data := record(t, w)
		if err := os.WriteFile(strings.TrimSuffix(file, ".json")+kind+".json", data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// record asks the system's own access check about a token, right by right.
func record(t *testing.T, w TokenWish) []byte {
	t.Helper()
	user, logon := w.User, w.Logon
	tok, facts, err := makeToken(w)
	if err != nil {
		t.Fatal(err)
	}
	defer tok.Close()
	var imp windows.Token
	if err := windows.DuplicateTokenEx(tok, windows.TOKEN_QUERY|windows.TOKEN_IMPERSONATE, nil, windows.SecurityIdentification, windows.TokenImpersonation, &imp); err != nil {
		t.Fatal(err)
	}
	defer imp.Close()
	model := tokenModel(t, tok)
	var enabled, denyOnly []winacl.SID
	for _, g := range model.Groups {
		switch g.Standing {
		case winacl.Enabled:
			enabled = append(enabled, g.SID)
		case winacl.DenyOnly:
			denyOnly = append(denyOnly, g.SID)
		}
	}
	type vector struct {
		SDDL    string      `json:"sddl"`
		Mask    winacl.Mask `json:"mask"`
		Granted bool        `json:"granted"`
	}
	var vectors []vector
	r := rand.New(rand.NewPCG(3, 3))
	sids := []winacl.SID{user, winacl.Everyone, winacl.Users, winacl.Admins, winacl.System, logon, capability(1), capability(2), capability(3), winacl.OwnerRights, organization}
	for range 800 {
		d := &winacl.Descriptor{Owner: []winacl.SID{user, winacl.System}[r.IntN(2)], Group: user, DACL: &winacl.ACL{}}
		for range r.IntN(6) {
			d.DACL.Entries = append(d.DACL.Entries, winacl.ACE{Type: winacl.Type(r.IntN(2)), Flags: winacl.Flags(r.IntN(16)), Mask: winacl.Mask(r.Uint32()) & 0x1f01ff, SID: sids[r.IntN(len(sids))]})
		}
		for bit := range 21 {
			if m := winacl.Mask(1 << bit); m&winacl.File.All != 0 {
				ok, err := accessCheck(d, imp, m)
				if err != nil {
					t.Fatal(err)
				}
				vectors = append(vectors, vector{d.SDDL(), m, ok})
			}
		}
	}
	v := windows.RtlGetVersion()
	data, err := json.MarshalIndent(map[string]any{
		"system": fmt.Sprintf("Windows %d.%d.%d", v.MajorVersion, v.MinorVersion, v.BuildNumber), "user": user, "enabled": enabled, "deny_only": denyOnly,
		"restricting": facts.Restricting, "vectors": vectors,
	}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestFormOfARecording: it is what internal/winacl reads, also where the answers are of
// no use (Wine).
func TestFormOfARecording(t *testing.T) {
	user, logon, err := whoAmI()
	if err != nil {
		t.Fatal(err)
	}
	data := record(t, TokenWish{User: user, Logon: logon, Caps: []winacl.SID{capability(1)}, Restriction: Unrestricted})
	var rec struct {
		System  string
		User    winacl.SID
		Enabled []winacl.SID
		Vectors []struct {
			SDDL    string
			Granted bool
		}
	}
	if err := json.Unmarshal(data, &rec); err != nil || rec.User != user || len(rec.Enabled) == 0 || len(rec.Vectors) < 1000 || rec.System == "" {
		t.Fatalf("%v %+v", err, rec.User)
	}
	yes := 0
	for _, v := range rec.Vectors {
		if v.Granted {
			yes++
		}
	}
	if yes == 0 || yes == len(rec.Vectors) {
		t.Errorf("%d of %d granted", yes, len(rec.Vectors))
	}
}
