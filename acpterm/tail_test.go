package acpterm

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTailKeepsTheNewestWholeCharacters(t *testing.T) {
	euros := strings.Repeat("€", 10000) // three bytes each
	for _, c := range []struct {
		max  int
		want int // bytes
	}{{1000, 999}, {1001, 999}, {1002, 1002}, {1, 0}, {0, 0}, {30000, 30000}, {1 << 20, 30000}} {
		for _, chunk := range []int{1, 2, 7, 4096, 40000} {
			k := &tail{max: c.max}
			s := &stream{to: k}
			for rest := []byte(euros); len(rest) > 0; {
				n := min(chunk, len(rest))
				if w, err := s.Write(rest[:n]); w != n || err != nil {
					t.Fatal(w, err)
				}
				rest = rest[n:]
			}
			s.flush()
			text, cut := k.text()
			if len(text) != c.want || !strings.HasSuffix(euros, text) || cut != (c.max < 30000) {
				t.Errorf("limit %d in chunks of %d: %d bytes, truncated %v", c.max, chunk, len(text), cut)
			}
		}
	}
}

func TestTailOfWhatIsNoText(t *testing.T) {
	k := &tail{max: 10}
	(&stream{to: k}).Write([]byte{0xff, 'a', 0xff, 'b', 0xff, 'c', 0, '\n'})
	text, cut := k.text()
	if !utf8.ValidString(text) || len(text) > 10 || !cut || !strings.HasSuffix(text, "b\uFFFDc\x00\n") {
		t.Errorf("%q, truncated %v", text, cut)
	}
	k = &tail{max: 10}
	k.write([]byte("plain"))
	if text, cut := k.text(); text != "plain" || cut {
		t.Errorf("%q, truncated %v", text, cut)
	}
}

// Two streams share the tail, and neither splits the other's characters.
func TestStreamsDoNotSplitCharacters(t *testing.T) {
	k := &tail{max: 100}
	out, err := &stream{to: k}, &stream{to: k}
	out.Write([]byte("a\xe2\x82"))
	err.Write([]byte("!\n"))
	if text, _ := k.text(); text != "a!\n" {
		t.Errorf("an unfinished character shows: %q", text)
	}
	out.Write([]byte("\xacb"))
	out.Write([]byte("\xf0\x9f"))
	out.flush()
	if text, _ := k.text(); text != "a!\n€b\uFFFD" {
		t.Errorf("%q", text)
	}
}

// FuzzTail compares the ring with the plain way of doing it.
func FuzzTail(f *testing.F) {
	f.Add([]byte("héllo wörld"), uint16(5), uint8(3))
	f.Add([]byte{0xff, 0xfe, 'a', 0xe2, 0x82}, uint16(3), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, max uint16, chunk uint8) {
		k := &tail{max: int(max)}
		s := &stream{to: k}
		for rest := data; len(rest) > 0; {
			n := min(int(chunk)+1, len(rest))
			s.Write(rest[:n])
			rest = rest[n:]
			if text, _ := k.text(); !utf8.ValidString(text) || len(text) > int(max) {
				t.Fatalf("%q with limit %d", text, max)
			}
		}
		s.flush()
		kept := data
		if len(kept) > int(max) {
			kept = kept[len(kept)-int(max):]
		}
		text, cut := k.text()
		if len(data) > int(max) && !cut {
			t.Fatal("something is missing and nobody says so")
		}
		if utf8.Valid(data) {
			for len(kept) > 0 && !utf8.RuneStart(kept[0]) {
				kept = kept[1:]
			}
			if text != string(kept) {
				t.Fatalf("%q, want %q", text, kept)
			}
		} else if len(data) <= int(max) && !cut && text != strings.ToValidUTF8(string(data), "\uFFFD") {
			t.Fatalf("%q from %q", text, bytes.ToValidUTF8(data, nil))
		}
	})
}
