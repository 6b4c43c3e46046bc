package host

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestRealPathStaysHere: no look at another machine, which would get the user's
// credentials. It would also take seconds; a refusal takes none.
func TestRealPathStaysHere(t *testing.T) {
	began := time.Now()
	for _, p := range []string{`\\192.0.2.1\share\x`, `//192.0.2.1/share/x`, `\\?\UNC\192.0.2.1\share`, `\\.\C:\x`, `\??\UNC\192.0.2.1\x`, `x`, `\x`, `C:x`, ``} {
		if got, err := realPath(p); !errors.Is(err, errRemote) {
			t.Errorf("%q: %q %v", p, got, err)
		}
	}
	for _, target := range []string{`\\192.0.2.1\share`, `//192.0.2.1/share`, `\\?\UNC\192.0.2.1\x`, `\\?\Volume{1}\x`} {
		if _, _, ok := follow(`C:\ws`, target, nil); ok {
			t.Errorf("a link to %q is followed", target)
		}
	}
	if time.Since(began) > 2*time.Second {
		t.Errorf("it took %s: somebody was asked", time.Since(began))
	}
}

func TestFollow(t *testing.T) {
	for target, want := range map[string]string{
		`D:\a\b`: `D:\ a b rest`, `..\x`: `C:\ x rest`, `x\.\y`: `C:\ ws x y rest`, `\x`: `C:\ x rest`, `/x`: `C:\ x rest`, `\\?\D:\z`: `D:\ z rest`,
	} {
		done, rest, ok := follow(`C:\ws`, target, []string{"rest"})
		if got := done + " " + strings.Join(rest, " "); !ok || got != want {
			t.Errorf("%s: %q %v, want %q", target, got, ok, want)
		}
	}
}

func TestRealPathOfWhatIsThere(t *testing.T) {
	dir, err := realPath(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	sub := filepath.Join(dir, "Mixed é")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, p := range []string{sub, strings.ToUpper(sub), sub + `\.`, `\\?\` + sub} {
		if got, err := realPath(p); err != nil || got != sub {
			t.Errorf("%q: %q %v", p, got, err)
		}
	}
	if _, err := realPath(sub + `\none`); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v", err)
	}
	if got, err := realPath(`C:\`); err != nil || got != `C:\` {
		t.Errorf("%q %v", got, err)
	}
}

// TestReadFileReadsFiles: no folder, no device, nothing too large.
func TestReadFileReadsFiles(t *testing.T) {
	dir := t.TempDir()
	f := filepath.Join(dir, "f")
	if err := os.WriteFile(f, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := readFile(f, 5); err != nil || string(data) != "12345" {
		t.Errorf("%q %v", data, err)
	}
	for _, c := range []struct {
		path string
		want error
	}{{f, errTooLarge}, {dir, errNotRegular}, {`\\.\NUL`, errNotRegular}, {dir + `\none`, os.ErrNotExist}} {
		if data, err := readFile(c.path, 4); !errors.Is(err, c.want) {
			t.Errorf("%s: %q %v", c.path, data, err)
		}
	}
}
