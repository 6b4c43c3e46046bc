package policy

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// unit is one suffix of a size. Larger and binary units come first, so that
// String finds the shortest exact form and parsing finds the longest suffix.
type unit struct {
	suffix string
	bytes  int64
}

var units = []unit{
	{"TiB", 1 << 40}, {"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10},
	{"TB", 1e12}, {"GB", 1e9}, {"MB", 1e6}, {"KB", 1e3}, {"kB", 1e3},
	{"B", 1}, {"", 1},
}

const sizeHint = `write a whole number and a unit, such as "512MiB", "2GiB", "10MB" or "1000B"`

// ParseSize reads "2GiB", "512MiB", "10MB", "1000B" or a plain number of bytes.
// An empty string is 0. A sign, a fraction, blanks and an overflow are errors.
func ParseSize(s string) (Size, error) {
	n, bad := findSize(s)
	if bad != nil {
		return 0, bad.fault("parse size", s)
	}
	return n, nil
}

func findSize(s string) (Size, *problem) {
	if s == "" {
		return 0, nil
	}
	if strings.HasPrefix(s, "-") {
		return 0, badf("the size %q is negative", s).hinted(sizeHint)
	}
	for _, u := range units {
		digits, ok := strings.CutSuffix(s, u.suffix)
		if !ok || !allDigits(digits) {
			continue
		}
		n, err := strconv.ParseInt(digits, 10, 64)
		if err != nil || n > math.MaxInt64/u.bytes {
			return 0, badf("the size %q is too large", s).hinted("the largest size is 8388607TiB; 0 is no limit")
		}
		return Size(n * u.bytes), nil
	}
	return 0, badf("%q is not a size", s).hinted(sizeHint)
}

func allDigits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// String gives the shortest exact form with a binary unit: "2GiB", "1500B", "0B".
func (s Size) String() string {
	for _, u := range units[:4] {
		if s != 0 && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.suffix
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// MarshalText gives String, and "" for 0, which is "no limit" in a policy file.
func (s Size) MarshalText() ([]byte, error) {
	if s == 0 {
		return nil, nil
	}
	return []byte(s.String()), nil
}

// UnmarshalText is ParseSize.
func (s *Size) UnmarshalText(b []byte) (err error) { *s, err = ParseSize(string(b)); return err }

// findDuration reads a Go duration such as "1500ms" or "2s"; "" is 0.
func findDuration(s string) (time.Duration, *problem) {
	if s == "" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	switch {
	case strings.HasPrefix(s, "-"):
		return 0, badf("the duration %q is negative", s).hinted(`write a number and a unit, such as "90s" or "2m30s"`)
	case err != nil || s[0] == '+':
		return 0, badf("%q is not a duration", s).hinted(`write a number and a unit, such as "1500ms", "90s" or "2m30s"`)
	}
	return d, nil
}

// durationText is the form of a duration in a policy file: "" for 0.
func durationText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}
