package main

import "io"

// limiter passes on the first bytes of a stream and takes the rest without an error:
// the command must not notice.
type limiter struct {
	w    io.Writer
	left int64 // -1: no limit
	cut  bool
}

// limited makes a limiter; a limit of 0 is none.
func limited(w io.Writer, limit int64) *limiter {
	if limit == 0 {
		limit = -1
	}
	return &limiter{w: w, left: limit}
}

func (l *limiter) Write(p []byte) (int, error) {
	n := len(p)
	if l.left >= 0 && int64(n) > l.left {
		p, l.cut = p[:l.left], true
	}
	if len(p) > 0 {
		if _, err := l.w.Write(p); err != nil {
			return 0, err
		}
	}
	if l.left >= 0 {
		l.left -= int64(len(p))
	}
	return n, nil
}
