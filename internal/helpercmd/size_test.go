package helpercmd

import (
	"slices"
	"strings"
	"testing"
)

func TestSizes(t *testing.T) {
	for _, bad := range []string{"", "x", "80", "80x", "x25", "0x25", "80x0", "-1x25", "80x40000", "80x25x1", "80 25", " 80x25", "80X25"} {
		if s, err := ParseSize(bad); err == nil {
			t.Errorf("%q is %+v", bad, s)
		}
	}
	var got []Size
	take := func(s Size) { got = append(got, s) }
	if err := Sizes(strings.NewReader("80x25\n132x50\n1x1"), take); err != nil || !slices.Equal(got, []Size{{80, 25}, {132, 50}, {1, 1}}) {
		t.Errorf("%v %v", got, err)
	}
	got = nil
	if err := Sizes(strings.NewReader("80x25\nquit\n90x25\n"), take); err == nil || len(got) != 1 {
		t.Errorf("a bad line: %v %v", got, err)
	}
	if err := Sizes(strings.NewReader(strings.Repeat("9", 100)), take); err == nil {
		t.Error("a line without an end was read")
	}
	if s, err := ParseSize(Size{120, 40}.String()); err != nil || s != (Size{120, 40}) {
		t.Error(s, err)
	}
}
