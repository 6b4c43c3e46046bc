package backendtest

import (
	"strings"
	"testing"
)

// What a command does to the workspace must not open anything for the next run
// (FS-02, FS-03, FS-09).

// TestHiddenFileStaysHiddenForTheNextRun moves the directory above a hidden
// file; the next run looks for the file at its new place.
func TestHiddenFileStaysHiddenForTheNextRun(t *testing.T) {
	each(t, both, func(t *testing.T, s Setup) {
		p := NewPlace(t)
		pol := Policy{DenyRead: []string{"sub/deep/file.txt"}}
		s.Run(t, p, Call{Policy: pol, Script: `mv sub moved`})
		if out := s.Run(t, p, Call{Policy: pol, Script: `cat moved/deep/file.txt`}); strings.Contains(out.Out, "deep") {
			t.Errorf("FS-03: the first run moved the directory of a hidden file, the second run read it")
		}
	})
}

// TestLinkPlantedForReadableGrantsNothing puts a link to a credential where a
// readable entry of the workspace is missing.
func TestLinkPlantedForReadableGrantsNothing(t *testing.T) {
	for name, pol := range map[string]Policy{
		"literal": {Readable: []string{"docs/api"}},
		"pattern": {Readable: []string{"docs/*"}},
		"outside": {DenyRead: []string{"$OUT"}, Readable: []string{"docs/api"}},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, both, func(t *testing.T, s Setup) {
				p := NewPlace(t)
				target := p.Home + "/.ssh"
				if name == "outside" {
					target = p.Out
				}
				s.Must(t, p, Call{Policy: pol, Script: `mkdir -p docs && ln -s ` + target + ` docs/api`})
				for _, f := range []string{target + "/deep/decoy", target + "/secret.txt"} {
					if r := s.Run(t, p, Call{Policy: pol, Script: `cat ` + f}); strings.Contains(r.Out, Secret) {
						t.Errorf("FS-09: a link planted at a readable entry opened %s", f)
					}
				}
			})
		})
	}
}

// TestLinkPlantedForWritableGrantsNothing is the same for a writable entry.
func TestLinkPlantedForWritableGrantsNothing(t *testing.T) {
	each(t, both, func(t *testing.T, s Setup) {
		p := NewPlace(t)
		pol := Policy{Writable: []string{"sub"}}
		s.Must(t, p, Call{Policy: pol, Script: `mv sub moved && ln -s ` + p.Out + ` sub`})
		r := s.Run(t, p, Call{Policy: pol, Script: `echo x > ` + p.Out + `/x`})
		if r.OK() || p.Host(t, `ls "$OUT"`) != "dir\nsecret.txt" {
			t.Errorf("FS-09: a link planted at a writable entry opened %s\n%s", p.Out, r.Describe())
		}
	})
}

// TestLinkPlantedForTheCacheGrantsNothing has the home directory as workspace:
// the command may change what the next run's cache path leads to (VAR-04).
func TestLinkPlantedForTheCacheGrantsNothing(t *testing.T) {
	for _, s := range both {
		t.Run(s.String(), func(t *testing.T) {
			NeedBackend(t, s.Backend)
			p := NewPlace(t)
			t.Setenv("HOME", p.WS)
			r := s.Run(t, p, Call{Script: `echo "$XDG_CACHE_HOME"`})
			if !r.OK() {
				t.Skipf("the home directory cannot be the workspace: %v", r.Err)
			}
			cache := strings.TrimSpace(r.Out)
			s.Run(t, p, Call{Script: `mv .cache old; mkdir -p "$(dirname ` + cache + `)" && ln -s ` + p.Out + ` ` + cache})
			s.Run(t, p, Call{Script: `echo x > ` + p.Out + `/x`})
			if got := p.Host(t, `ls "$OUT"`); got != "dir\nsecret.txt" {
				t.Errorf("VAR-04: the first run replaced the cache by a link, the second run wrote to its target: %q", got)
			}
		})
	}
}
