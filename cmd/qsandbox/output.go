package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"unicode"

	"github.com/qiming-sandbox/qsandbox/report"
)

// capture holds output for --json.
type capture struct{ out, err bytes.Buffer }

// print writes one JSON object: the report, and the output as text with invalid
// bytes replaced.
func (c *capture) print(rep *report.Report) {
	enc := json.NewEncoder(os.Stdout)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(struct {
		Report *report.Report `json:"report"`
		Stdout string         `json:"stdout"`
		Stderr string         `json:"stderr"`
	}{rep, strings.ToValidUTF8(c.out.String(), "\uFFFD"), strings.ToValidUTF8(c.err.String(), "\uFFFD")})
}

// printable makes text from inside safe to show: no terminal sequences (OBS-05).
func printable(s string) string {
	for _, r := range s {
		if !unicode.IsPrint(r) {
			q := strconv.Quote(s)
			return q[1 : len(q)-1]
		}
	}
	return s
}
