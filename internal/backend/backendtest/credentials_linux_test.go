package backendtest

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// readable runs cat on every decoy and gives the credentials whose decoy was read.
func readable(t *testing.T, s Setup, pol Policy) []string {
	t.Helper()
	p := NewPlace(t)
	var script strings.Builder
	decoys := Decoys()
	for _, c := range slices.Sorted(maps.Keys(decoys)) {
		script.WriteString("if grep -q " + Secret + " \"$HOME/" + decoys[c] + "\" 2>/dev/null; then echo '" + c + "'; fi\n")
	}
	out := s.Must(t, p, Call{Policy: pol, Script: script.String() + "true"})
	return strings.Fields(strings.ReplaceAll(out, " ", "\x00"))
}

// decoyHome makes a home with every decoy the one of this test.
func decoyHome(t *testing.T) []string {
	t.Helper()
	home := t.Name()
	home = Base() + "/home-" + home
	if err := makeHome(home); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	return slices.Sorted(maps.Keys(Decoys()))
}

func names(list []string) []string {
	for i, s := range list {
		list[i] = strings.ReplaceAll(s, "\x00", " ")
	}
	return list
}

// TestCredentialsAreHidden tries every entry of the default list that lies in
// the home directory (FS-03), with the control that all of them can be read
// without a sandbox.
func TestCredentialsAreHidden(t *testing.T) {
	all := decoyHome(t)
	if got := names(readable(t, None, Policy{})); !slices.Equal(got, all) {
		t.Fatalf("INVALID: without the sandbox %d of %d decoys can be read", len(got), len(all))
	}
	each(t, setups, func(t *testing.T, s Setup) {
		if got := names(readable(t, s, Policy{})); len(got) != 0 {
			t.Errorf("can be read: %q", got)
		}
	})
}

// TestCredentialsCanBeShownAgain names every entry in filesystem.readable.
func TestCredentialsCanBeShownAgain(t *testing.T) {
	all := decoyHome(t)
	each(t, both, func(t *testing.T, s Setup) {
		if got := names(readable(t, s, Policy{Readable: all})); !slices.Equal(got, all) {
			t.Errorf("%d of %d can be read; missing: %q", len(got), len(all), without(all, got))
		}
	})
}

// TestEachCredentialCanBeShownAlone shows one entry and no other (long).
func TestEachCredentialCanBeShownAlone(t *testing.T) {
	all := decoyHome(t)
	if !Long() {
		all = []string{"~/.ssh", "~/.netrc", "~/.config/gcloud", "~/*.kdbx"}
	}
	each(t, both, func(t *testing.T, s Setup) {
		for _, c := range all {
			got := names(readable(t, s, Policy{Readable: []string{c}}))
			for _, g := range got {
				if g != c && !inside(c, g) && !inside(g, c) {
					t.Errorf("showing %s shows %s too", c, g)
				}
			}
			if !slices.Contains(got, c) {
				t.Errorf("%s is in readable and cannot be read", c)
			}
		}
	})
}

func inside(dir, p string) bool { return strings.HasPrefix(p, dir+"/") }

func without(all, got []string) (out []string) {
	for _, a := range all {
		if !slices.Contains(got, a) {
			out = append(out, a)
		}
	}
	return out
}
