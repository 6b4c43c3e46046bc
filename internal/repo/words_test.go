package repo

import (
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// texts are all files in which somebody may have left something.
func texts(t *testing.T) []string {
	return slices.DeleteFunc(files(t, ".go", ".s", ".h", ".md", ".json", ".jsonc", ".yml", ".mod", ".txtar", "Makefile", ".sh", "scripts/check", "scripts/fuzz", "scripts/unit",
		"scripts/install", "scripts/demo", "scripts/verify", "scripts/report", "scripts/macos", ".ci/run", ".gitignore"), func(f string) bool { return strings.HasPrefix(f, "internal/repo/") })
}

// machinePath is a path of the machine that somebody happened to work on.
var machinePath = regexp.MustCompile(`(^|[^A-Za-z0-9_.~/-])/(work|root|srv)/`)

// mayHavePaths says where such a path is meant.
var mayHavePaths = map[string]string{
	"docs/cli.md": "examples as root, whose home is /root everywhere, and one invented workspace below /srv",
}

func TestNoPathsOfAMachine(t *testing.T) {
	for _, file := range texts(t) {
		if mayHavePaths[file] != "" {
			continue
		}
		n := 0
		for line := range strings.Lines(read(t, file)) {
			n++
			// Tests speak of root's home and of /srv as any system has them.
			if machinePath.MatchString(line) && (!strings.HasSuffix(file, "_test.go") || strings.Contains(line, "/work/")) {
				t.Errorf("%s:%d: a path of some machine: %s", file, n, strings.TrimSpace(line))
			}
		}
	}
}

// process is the talk of how the project is worked on, which a reader of the
// repository cannot look up.
var process = regexp.MustCompile(`(?i)filed by a session|closing note|\bissues show\b|shared/(spec|trials|tools)|linux-notes\.md|requirements\.md|seed\.zh\.md|bash_jobs|co-authored-by|claude\.ai/`)

func TestNoTalkOfTheProcess(t *testing.T) {
	for _, file := range texts(t) {
		n := 0
		for line := range strings.Lines(read(t, file)) {
			n++
			if m := process.FindString(line); m != "" {
				t.Errorf("%s:%d: %q means nothing to a reader: %s", file, n, m, strings.TrimSpace(line))
			}
		}
	}
}

// publicRegistries may be named.
var publicRegistries = []string{"proxy.golang.org", "sum.golang.org", "pypi.org", "registry.npmjs.org", "static.crates.io", "index.crates.io", "files.pythonhosted.org"}

var registrySetting = regexp.MustCompile(`(?i)\b(GOPROXY|GONOSUMDB|GOFLAGS=-insecure|PIP_INDEX_URL|NPM_CONFIG_REGISTRY)\s*[:?]?=\s*["']?https?:|--(extra-)?index-url|\bregistry\s*=\s*https?:`)

// TestNoRegistryHost: the build takes packages from wherever the user's own tools
// take them, and names no mirror.
func TestNoRegistryHost(t *testing.T) {
	var hosts []string
	for _, v := range []string{"GOPROXY", "PIP_INDEX_URL", "NPM_CONFIG_REGISTRY", "npm_config_registry", "CARGO_REGISTRIES_CRATES_IO_INDEX", "HTTPS_PROXY", "https_proxy"} {
		for _, part := range strings.FieldsFunc(os.Getenv(v), func(r rune) bool { return r == ',' || r == '|' }) {
			if u, err := url.Parse(part); err == nil && strings.Contains(u.Hostname(), ".") && !slices.Contains(publicRegistries, u.Hostname()) {
				hosts = append(hosts, u.Hostname())
			}
		}
	}
	for _, file := range texts(t) {
		text := read(t, file)
		for _, h := range hosts {
			if strings.Contains(text, h) {
				t.Errorf("%s names a registry or proxy of this machine", file)
			}
		}
		if m := registrySetting.FindString(text); m != "" {
			t.Errorf("%s sets a registry: %s", file, m)
		}
	}
	for _, file := range []string{".npmrc", "pip.conf", ".cargo/config.toml", "go.env"} {
		if exists(file) {
			t.Errorf("%s has no place in the repository", file)
		}
	}
}

var emoji = regexp.MustCompile(`[\x{1F300}-\x{1FAFF}\x{2600}-\x{27BF}]`)

func TestNoEmoji(t *testing.T) {
	for _, file := range texts(t) {
		if strings.HasSuffix(file, "_test.go") {
			continue // as characters of four bytes
		}
		if m := emoji.FindString(read(t, file)); m != "" {
			t.Errorf("%s has %q", file, m)
		}
	}
}
