package winsandbox

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// TestWriteVectors records what this Windows says about a token of ours, when
// QSANDBOX_VECTORS names a file: internal/winacl replays it on every system.
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
	w := TokenWish{User: user, Logon: logon, Caps: []winacl.SID{capability(1), capability(2)}}
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
	sids := []winacl.SID{user, winacl.Everyone, winacl.Users, winacl.Admins, winacl.System, logon, capability(1), capability(2), capability(3), winacl.OwnerRights}
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
	if err := os.WriteFile(file, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
