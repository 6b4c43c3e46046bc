package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// through writes data in pieces and gives what came out.
func through(limit int64, data []byte, pieces ...int) (string, bool) {
	var out bytes.Buffer
	l := newLimiter(&out, limit)
	for _, n := range pieces {
		n = min(n, len(data))
		l.write(data[:n])
		data = data[n:]
	}
	l.write(data)
	l.close()
	return out.String(), l.cut()
}

var remark = regexp.MustCompile(`\n\[qsandbox: (\d+) bytes left out\]\n`)

// split takes head, the number left out, and tail apart.
func split(t *testing.T, out string) (head string, dropped int, tail string) {
	t.Helper()
	m := remark.FindStringSubmatchIndex(out)
	if m == nil {
		t.Fatalf("no remark in %q", out)
	}
	if _, err := fmt.Sscan(out[m[2]:m[3]], &dropped); err != nil {
		t.Fatal(err)
	}
	return out[:m[0]], dropped, out[m[1]:]
}

func TestOutputBelowTheLimitIsUntouched(t *testing.T) {
	for _, limit := range []int64{0, 6, 7, 100} {
		for _, pieces := range [][]int{nil, {1, 1, 1}, {3}, {5}} {
			if out, cut := through(limit, []byte("ab目z"), pieces...); out != "ab目z" || cut {
				t.Errorf("limit %d pieces %v: %q cut %v", limit, pieces, out, cut)
			}
		}
	}
}

func TestHeadAndTailAreKept(t *testing.T) {
	out, cut := through(10, []byte("HEAD-"+strings.Repeat("x", 1000)+"-TAIL"))
	head, dropped, tail := split(t, out)
	if !cut || head != "HEAD-" || tail != "-TAIL" || dropped != 1000 {
		t.Errorf("%q %d %q", head, dropped, tail)
	}
}

func TestCutFallsBetweenCharacters(t *testing.T) {
	text := strings.Repeat("aü目😀", 50)
	for limit := int64(1); limit < 60; limit++ {
		out, _ := through(limit, []byte(text))
		if !utf8.ValidString(out) {
			t.Errorf("limit %d: %q", limit, out)
		}
	}
}

func TestSmallOutputStreamsAtOnce(t *testing.T) {
	var out bytes.Buffer
	l := newLimiter(&out, 100)
	l.write([]byte("now"))
	if out.String() != "now" {
		t.Errorf("%q came through", out.String())
	}
}

func TestFailingWriterDoesNotStopTheReader(t *testing.T) {
	l := newLimiter(broken{}, 0)
	for range 3 {
		l.write([]byte("x"))
	}
	l.close()
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("closed") }

func TestNoWriterTakesEverything(t *testing.T) {
	l := newLimiter(nil, 10)
	l.write(make([]byte, 1000))
	l.close()
	if !l.cut() {
		t.Error("not told that it was cut")
	}
}

// holds checks what must hold for any output, limit and pieces.
func holds(t *testing.T, limit int64, data []byte, pieces []int) {
	t.Helper()
	out, cut := through(limit, data, pieces...)
	if limit <= 0 || int64(len(data)) <= limit {
		if out != string(data) || cut {
			t.Fatalf("limit %d: %q became %q, cut %v", limit, data, out, cut)
		}
		return
	}
	if !cut {
		t.Fatalf("limit %d, %d bytes, not flagged", limit, len(data))
	}
	at := strings.LastIndex(out, "\n[qsandbox: ")
	if at < 0 || !bytes.HasPrefix(data, []byte(out[:at])) {
		t.Fatalf("limit %d: the head of %q is not that of %q", limit, out, data)
	}
	var dropped int
	var tail string
	if n, _ := fmt.Sscanf(out[at:], "\n[qsandbox: %d bytes left out]", &dropped); n != 1 {
		t.Fatalf("no number in %q", out[at:])
	}
	tail = out[at+len(fmt.Sprintf("\n[qsandbox: %d bytes left out]\n", dropped)):]
	if !bytes.HasSuffix(data, []byte(tail)) || at+dropped+len(tail) != len(data) {
		t.Fatalf("limit %d: head %d + left out %d + tail %d is not %d", limit, at, dropped, len(tail), len(data))
	}
	if int64(at+len(tail)) > limit {
		t.Fatalf("limit %d: %d bytes kept", limit, at+len(tail))
	}
	if utf8.Valid(data) && !utf8.ValidString(out) {
		t.Fatalf("limit %d: valid input %q became invalid %q", limit, data, out)
	}
}

func TestAnyOutputHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "ü", "目", "😀", "\n"}
	for range 20_000 {
		var data []byte
		for range r.IntN(60) {
			if r.IntN(40) == 0 {
				data = append(data, byte(r.Uint32()))
				continue
			}
			data = append(data, alphabet[r.IntN(len(alphabet))]...)
		}
		var pieces []int
		for range r.IntN(8) {
			pieces = append(pieces, r.IntN(9))
		}
		holds(t, int64(r.IntN(70)), data, pieces)
	}
}

func FuzzLimiter(f *testing.F) {
	f.Add(int64(10), []byte("aü目😀 and more than that"), []byte{1, 2, 3})
	f.Add(int64(1), []byte("\xff\xfe\x80\x80\x80"), []byte{4})
	f.Fuzz(func(t *testing.T, limit int64, data, cuts []byte) {
		pieces := make([]int, len(cuts))
		for i, c := range cuts {
			pieces[i] = int(c)
		}
		if strings.Contains(string(data), "[qsandbox: ") {
			return
		}
		holds(t, limit%1000, data, pieces)
	})
}
