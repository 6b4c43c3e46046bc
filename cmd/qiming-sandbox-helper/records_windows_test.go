package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/windows"
)

// TestJournalOfEntries: WN-09, LEAK-02.
func TestJournalOfEntries(t *testing.T) {
	r := newRig(t)
	os.MkdirAll(filepath.Join(r.ws, ".git", "hooks"), 0o755)
	r.run(nil, "role:exit", "0")
	list := r.acl("list").Entries
	denied := false
	for _, e := range list {
		denied = denied || e.Type == "deny" && strings.HasSuffix(e.Path, `\.git`)
	}
	if len(list) < 4 || !denied {
		t.Errorf("journal: %+v", list)
	}
	r.run(nil, "role:exit", "0")
	if again := r.acl("list").Entries; len(again) != len(list) {
		t.Errorf("a second run: %d entries, were %d", len(again), len(list))
	}
	if done := r.acl("revoke").Entries; len(done) != len(list) {
		t.Errorf("revoked %d of %d", len(done), len(list))
	}
	if left := r.acl("list").Entries; len(left) != 0 {
		t.Errorf("left: %+v", left)
	}
	r.sub, r.json = "read-only", `{"type":"read-only"}`
	r.run(nil, "role:exit", "0")
	if left := r.acl("list").Entries; len(left) != 0 {
		t.Errorf("read-only leaves %+v", left)
	}
	data, err := os.ReadFile(filepath.Join(r.home, "capabilities.json"))
	if err != nil || !strings.Contains(string(data), "|read-only") || strings.Count(string(data), "S-1-5-21-") != 2 {
		t.Errorf("read-only has no capability of its own: %v %s", err, data)
	}
}

// TestOpenFileBelowGit: what anybody may write below .git gets a denial of its own. The twin
// has the list that it inherits.
func TestOpenFileBelowGit(t *testing.T) {
	r := newRig(t)
	open, shut := filepath.Join(r.ws, ".git", "hooks", "open"), filepath.Join(r.ws, ".git", "hooks", "shut")
	if plant([]string{open, shut}) != 0 {
		t.Fatal("no repository")
	}
	sd, err := windows.SecurityDescriptorFromString("D:(A;;FA;;;WD)")
	if err != nil {
		t.Fatal(err)
	}
	acl, _, err := sd.DACL()
	if err == nil {
		err = windows.SetNamedSecurityInfo(open, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION, nil, nil, acl, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	r.run(nil, "role:exit", "0")
	denied := map[string]bool{}
	for _, e := range r.acl("list").Entries {
		denied[e.Path] = denied[e.Path] || e.Type == "deny"
	}
	if !denied[open] || denied[shut] {
		t.Errorf("open %v, shut %v", denied[open], denied[shut])
	}
}

// TestCrashRecovery: an entry of a helper that was killed is removed at the next run,
// and a journal cut off in the middle is read.
func TestCrashRecovery(t *testing.T) {
	r := newRig(t)
	r.run(nil, "role:exit", "0")
	r.acl("revoke")
	p, _ := json.Marshal(r.ws)
	dead := fmt.Sprintf(`{"path":%s,"type":"deny","sid":"S-1-5-21-1-2-3-4","mask":2,"flags":3,"pid":4294967,"start":1}`+"\n", p)
	if err := os.WriteFile(filepath.Join(r.home, "journal.jsonl"), []byte(dead+`{"path":"C:\\x`), 0o600); err != nil {
		t.Fatal(err)
	}
	if n := len(r.acl("list").Entries); n != 1 {
		t.Fatalf("control: %d records", n)
	}
	r.run(nil, "role:exit", "0")
	for _, e := range r.acl("list").Entries {
		if e.PID == 4294967 {
			t.Errorf("still there: %+v", e)
		}
	}
	os.WriteFile(filepath.Join(r.home, "journal.jsonl"), []byte("nonsense\n"+dead), 0o600)
	if got := r.run(nil, "role:touch", "made2"); got.Error == nil || got.Error.Code != "INTERNAL" {
		t.Errorf("a damaged journal: %+v", got)
	}
	os.Remove(filepath.Join(r.home, "journal.jsonl"))
}

// TestAuditOfManyDirectories: WN-08 with real directories.
func TestAuditOfManyDirectories(t *testing.T) {
	r := newRig(t)
	for i := range 250 {
		if err := os.Mkdir(filepath.Join(r.ws, fmt.Sprintf("d%03d", i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	line := ""
	got := r.run(nil, "role:exit", "0")
	for _, n := range got.Notices {
		if n.Kind == "audit" {
			line = n.Text
		}
	}
	if !strings.Contains(line, "200 of 250") || !strings.Contains(line, "stopped at 200") {
		if !strings.Contains(line, "stopped at 1s") { // a slow machine
			t.Errorf("%q in %+v", line, got)
		}
	}
	if got := r.run([]string{"--audit", "enforce"}, "role:touch", "made"); got.Error == nil || got.Error.Code != "POLICY_UNENFORCEABLE" {
		t.Errorf("enforce: %+v", got)
	}
	if _, err := os.Stat(filepath.Join(r.ws, "made")); err == nil {
		t.Error("the command ran")
	}
}
