package conformance

import (
	"slices"
	"testing"
)

// TestQuickCases: every critical case is in it, every kind of case is, and nothing that
// takes long.
func TestQuickCases(t *testing.T) {
	all, err := Embedded()
	if err != nil {
		t.Fatal(err)
	}
	quick := QuickCases(all)
	if len(quick) >= len(all)*4/5 {
		t.Errorf("%d of %d cases are not few", len(quick), len(all))
	}
	for _, c := range all {
		in := slices.Contains(quick, c)
		switch long := c.Driver != "" && !c.own(); {
		case long && in:
			t.Errorf("%s takes long", c.ID)
		case c.Severity == Critical && !long && !in:
			t.Errorf("%s is critical, and is not in it", c.ID)
		}
	}
	for modes, want := range map[string]string{"strict compat": "compat", "strict": "strict", "permissive": "permissive"} {
		if got := quickMode(words(modes)); !slices.Equal(got, []string{want}) {
			t.Errorf("%s: %v", modes, got)
		}
	}
}
