package helpercmd

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Size is that of a terminal, in characters. The zero value leaves it to the helper.
type Size struct{ Cols, Rows int16 }

// String gives the form that ParseSize reads.
func (s Size) String() string { return fmt.Sprintf("%dx%d", s.Cols, s.Rows) }

// ParseSize reads COLUMNSxROWS, each from 1 to 32767: a console takes no more (COORD).
func ParseSize(text string) (Size, error) {
	c, r, ok := strings.Cut(text, "x")
	cols, err1 := strconv.ParseInt(c, 10, 16)
	rows, err2 := strconv.ParseInt(r, 10, 16)
	if !ok || err1 != nil || err2 != nil || cols < 1 || rows < 1 {
		return Size{}, fmt.Errorf("%.40q is no size such as 80x25", text)
	}
	return Size{int16(cols), int16(rows)}, nil
}

// Sizes reads one size a line and gives each to f, until the end, which is no error, or
// a line that is none.
func Sizes(r io.Reader, f func(Size)) error {
	lines := bufio.NewScanner(io.LimitReader(r, 1<<30))
	lines.Buffer(make([]byte, 0, 64), 64)
	for lines.Scan() {
		s, err := ParseSize(lines.Text())
		if err != nil {
			return err
		}
		f(s)
	}
	return lines.Err()
}
