package qsandbox_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/snapshot"
)

// keepSnapshot puts a database in the user's place, and the snapshot of a policy in it.
func keepSnapshot(t testing.TB, policy string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "qsandbox")
	t.Setenv("XDG_DATA_HOME", filepath.Dir(dir))
	t.Setenv("LOCALAPPDATA", filepath.Dir(dir)) // Windows
	path := filepath.Join(dir, "policy.db")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte("stands for a database"), 0o600); err != nil {
		t.Fatal(err)
	}
	files, err := snapshot.Look(host.Real(), path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := snapshot.Encode(snapshot.Snapshot{Path: path, Files: files, Policy: []byte(policy)})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+snapshot.Ending, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// What a run pays for a stored policy, and for none.
func BenchmarkStoredLayer(b *testing.B) {
	for name, there := range map[string]bool{"stored": true, "none": false} {
		b.Run(name, func(b *testing.B) {
			if there {
				keepSnapshot(b, `{"version":1,"mode":"strict","autoFallback":"manual","filesystem":{"denyRead":["**/.env"]},"limits":{"timeout":"10m0s","processes":512}}`)
			} else {
				b.Setenv("XDG_DATA_HOME", b.TempDir())
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, found, err := qsandbox.StoredLayer(); err != nil || found != there {
					b.Fatal(found, err)
				}
			}
		})
	}
}

// The snapshot is read, and only while it is of the database as it is.
func TestStoredLayerIsReadFromTheSnapshot(t *testing.T) {
	path := keepSnapshot(t, `{"version":1,"mode":"strict","autoFallback":"manual"}`)
	l, found, err := qsandbox.StoredLayer()
	if err != nil || !found || l.Origin.Name != path || l.Mode.String() != "strict" || len(l.Remarks) != 0 {
		t.Errorf("%+v %v %v", l, found, err)
	}
	// A database that changed is asked for, and this test's program has no store next to it.
	if err := os.WriteFile(path, []byte("another"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, found, err := qsandbox.StoredLayer(); err == nil || found {
		t.Errorf("a stale snapshot was used: %v", err)
	}
}
