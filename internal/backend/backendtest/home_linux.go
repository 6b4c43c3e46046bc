package backendtest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/qiming-sandbox/qsandbox/policy"
)

// Decoys gives, for every credential of the default list below the home
// directory, the file that stands for it in the home of decoys.
func Decoys() map[string]string {
	out := map[string]string{}
	for _, c := range policy.Credentials() {
		rest, ok := strings.CutPrefix(c.Path, "~/")
		if !ok || !c.For("linux") {
			continue
		}
		switch c.Kind {
		case "dir":
			rest += "/deep/decoy"
		case "glob":
			rest = strings.ReplaceAll(rest, "*", "x")
		}
		out[c.Path] = rest
	}
	return out
}

// makeHome fills a home directory with an ordinary file and decoys: those of the
// named directories, or all.
func makeHome(home string, only ...string) error {
	files := map[string]string{"notes.txt": "ordinary\n", ".gitconfig": "[user]\n\tname = t\n\temail = t@example.invalid\n"}
	for _, f := range Decoys() {
		if top, _, _ := strings.Cut(f, "/"); len(only) > 0 && !slices.Contains(only, top) {
			continue
		}
		files[f] = Secret + "\n"
	}
	for f, text := range files {
		p := filepath.Join(home, f)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
