package mcpserver

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestWire plays the conversations of testdata/wire. A line "> " is sent, "! " is a Go
// string that is sent, "< " is what must come, in this order; "# " and blank lines are
// for readers. What differs from run to run is written as 0.
func TestWire(t *testing.T) {
	files, err := filepath.Glob("testdata/wire/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no conversations", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) { playWire(t, file) })
	}
}

var varies = regexp.MustCompile(`"duration_ms":\d+|after \d+ ms`)

func steady(line string) string {
	return varies.ReplaceAllStringFunc(line, func(s string) string { return regexp.MustCompile(`\d+`).ReplaceAllString(s, "0") })
}

func playWire(t *testing.T, file string) {
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	p := connect(t, context.Background(), fakeServer(t))
	var out strings.Builder
	for n, line := range strings.Split(strings.TrimRight(string(data), "\n"), "\n") {
		kind, text, _ := strings.Cut(line, " ")
		switch kind {
		case ">":
			p.send(text)
		case "!":
			s, err := strconv.Unquote(text)
			if err != nil {
				t.Fatalf("%s:%d: %v", file, n+1, err)
			}
			p.send(s)
		case "<":
			got := steady(p.line())
			if got != text && !*update {
				t.Errorf("%s:%d:\ngot  %s\nwant %s", file, n+1, got, text)
			}
			line = "< " + got
		}
		out.WriteString(line + "\n")
	}
	// Nothing but what was asked for: the next answer is that to this.
	p.send(`{"jsonrpc":"2.0","id":"end","method":"ping"}`)
	if got, want := p.line(), `{"jsonrpc":"2.0","id":"end","result":{}}`; got != want {
		t.Errorf("%s: an answer too many: %s", file, got)
	}
	if err := p.finish(); err != nil {
		t.Error(err)
	}
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
