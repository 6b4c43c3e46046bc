package protect

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// gitSays gives what git reads in a config file, as "key\nvalue" or "key".
func gitSays(t testing.TB, path string) ([]string, bool) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: ", err)
	}
	cmd := exec.Command("git", "config", "--no-includes", "-l", "-z", "--file", path)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "HOME=/nonexistent")
	out, err := cmd.Output()
	if err != nil {
		return nil, false
	}
	if len(out) == 0 {
		return nil, true
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00"), true
}

// agree compares our reading with git's. We may refuse more, never read it otherwise.
// A value is compared with white space made one, since git 2.45 keeps tabs that older ones do not.
func agree(t testing.TB, path string, data []byte) {
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	ours, err := parseConfig(data)
	theirs, ok := gitSays(t, path)
	if bytes.IndexByte(data, 0) >= 0 {
		if err == nil {
			t.Fatalf("a NUL was taken: %q", data)
		}
		return
	}
	if (err == nil) != ok {
		t.Fatalf("%q: we say %v, git says %v", data, err, ok)
	}
	if err != nil {
		return
	}
	var have []string
	for _, s := range ours {
		line := s.full()
		if !s.noValue {
			line += "\n" + s.value
		}
		have = append(have, line)
	}
	norm := func(l []string) string { return strings.ReplaceAll(strings.Join(l, "\x00"), "\t", " ") }
	if norm(have) != norm(theirs) {
		t.Fatalf("%q:\nwe read  %q\ngit reads %q", data, have, theirs)
	}
}

var configs = []string{
	"", "\n", "[core]", "[core]\n", "[core]a", "[core]a=", "[core]a=b", "[core]\n\ta = b c \n", "\xef\xbb\xbf[core]\na=b\n",
	"[Core]\nFSMonitor = X\n", "[core \"Sub\"]a=b\n", "[core\t \"Sub\"]a=b\n", "[core.Sub]a=b\n", "[core.sub \"X\"]a=b\n",
	"[a \"q\\\"b\\\\c\\d\"]k\n", "[a \"x\ny\"]k\n", "[a \"x\\\ny\"]k\n", "[a \"x\"]k", "[a \"x\" ]k", "[a\n\"x\"]k", "[a b]k\n", "[a\"b\"]k\n", "[]k=v\n", "[ \"x\"]k=v\n",
	"k=v\n", "k\n", "[a]\nk = v ; c\n", "[a]\nk = v # c\n", "[a]\nk = \"v ; c\" # d\n", "[a]\nk = \"v\n", "[a]\nk = v\\\n  w\n", "[a]\nk = v \\\n  w\n", "[a]\nk = \"v \\\n  w\"\n",
	"[a]\nk = a\\tb\\nc\\bd\\\\e\\\"f\n", "[a]\nk = \\x\n", "[a]\nk = v\\\r\nw\r\n", "[a]\r\nk=v\r\n", "[a]\rk=v\n", "[a]\nk=v\rw\n", "[a]\nk = v   w\t x\n",
	"[a]\n; c\n# c\n k-1 = v\n", "[a]\n1k=v\n", "[a]\n-k=v\n", "[a]\nk_1=v\n", "[a]\nk v\n", "[a]\nk == v\n", "[a]\n= v\n", "[a]x=1[b]y=2\n", "[a]x\n[b]y\n", "[a] x = \"\"\n", "[a] x = # c\n",
	"[a]\nk = v\\", "[a]\nk = \\", "[a", "[a \"", "[a \"b", "[a \"b\"", "[a \"b\\", "[a]\n\fk=v\n", "[a]\nk=v\x0b\n", "[a-b.c-d]k=v\n", "[a..b]k=v\n", "[.]k=v\n", "[a.]k=v", "[\xc3\xa9]k=v\n", "[a \"\xff\"]k=\xff\n",
	"[a]\nk=  \"  x  \"  y  \n", "[a]\nk = a\"b\"c\n", "[a]\nk = \"a\"\"b\" \"c\n", "[core]\n\tsshCommand = \"sh -c 'x' ; y\"\n",
}

func TestConfigAgreesWithGit(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: ", err)
	}
	path := filepath.Join(t.TempDir(), "config")
	for _, c := range configs {
		agree(t, path, []byte(c))
	}
}

func TestConfigAgreesWithGitOnRandomFiles(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: ", err)
	}
	path := filepath.Join(t.TempDir(), "config")
	tokens := []string{"[", "]", "\"", "\\", "\n", "\r\n", "\r", " ", "\t", "=", ";", "#", ".", "a", "B", "-", "0", "_",
		"[core]\n", "[a \"b\"]\n", "key", " = ", "value", "\\\n", "\\t", "\xef\xbb\xbf", "\x00", "\xff", "é"}
	seed := rand.Uint64()
	t.Log("seed ", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 250 {
		text := [...]string{"", "[core]\n", "[a \"b\"]\nk = "}[r.IntN(3)] // most random text fails at its start
		for range r.IntN(16) {
			text += tokens[r.IntN(len(tokens))]
		}
		agree(t, path, []byte(text))
	}
}

func FuzzConfig(f *testing.F) {
	for _, c := range configs {
		f.Add([]byte(c))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		agree(t, filepath.Join(t.TempDir(), "config"), data)
	})
}

func TestHarmless(t *testing.T) {
	inRoot := func(p string) bool { return p == "in" }
	for _, c := range []struct {
		line string
		want bool
	}{
		{"[core]bare=true", true}, {"[core]fsmonitor=true", true}, {"[core]fsmonitor=./x", false}, {"[core]fsmonitor=truex", false},
		{"[core]worktree=in", true}, {"[core]worktree=out", false}, {"[core]hookspath=/dev/null", false}, {"[core]sshcommand=x", false},
		{"[core]editor=x", false}, {"[core]pager=x", false}, {"[core]askpass=x", false}, {"[core]gitproxy=x", false}, {"[core]attributesfile=x", false},
		{"[core]excludesfile=x", false}, {"[core]alternaterefscommand=x", false}, {"[core]protectntfs=false", false}, {"[core]protectntfs=true", true},
		{"[remote \"o\"]url=https://x/y", true}, {"[remote \"o\"]url=git@h:x.git", true}, {"[remote \"o\"]url=../up", true}, {"[remote \"o\"]url=ssh://[::1]/x", true},
		{"[remote \"o\"]url=[::1]:x", true}, {"[remote \"o\"]url=ext::sh -c x", false}, {"[remote \"o\"]url=fd::3", false}, {"[remote \"o\"]url=x://y", false},
		{"[remote \"o\"]url=-x", false}, {"[remote \"o\"]url=/cache/x", false}, {"[remote \"o\"]url=file:///cache/x", false}, {"[remote \"o\"]url=/srv/x", true}, {"[remote \"o\"]url=host:/cache/x", true}, {"[branch \"m\"]remote=/cache/x", false}, {"[remote \"o\"]url=::x", false}, {"[remote \"o\"]pushurl=ext::x", false}, {"[remote \"o\"]uploadpack=x", false},
		{"[remote \"o\"]receivepack=x", false}, {"[remote \"o\"]vcs=x", false}, {"[remote \"o\"]proxy=x", false}, {"[remote.o]uploadpack=x", false},
		{"[remote]pushdefault=ext::x", false}, {"[branch \"m\"]remote=ext::x", false}, {"[branch \"m\"]mergeoptions=-s x", false}, {"[branch \"m\"]merge=refs/heads/m", true},
		{"[submodule \"s\"]update=!x", false}, {"[submodule \"s\"]update=merge", true}, {"[submodule \"s\"]url=ext::x", false},
		{"[include]path=x", false}, {"[includeIf \"gitdir:/\"]path=x", false}, {"[alias]x=!y", false}, {"[filter \"x\"]clean=y", false}, {"[diff]external=x", false},
		{"[diff \"x\"]textconv=y", false}, {"[merge \"x\"]driver=y", false}, {"[gpg]program=x", false}, {"[credential]helper=x", false}, {"[url \"ext::x\"]insteadof=y", false},
		{"[http]proxy=x", false}, {"[protocol \"ext\"]allow=always", false}, {"[color]pager=true", true}, {"[color]pager=x", false}, {"[color \"diff\"]old=red", true},
		{"[advice]x=false", true}, {"[trailer \"x\"]command=y", false}, {"[pager]log=x", false}, {"[sequence]editor=x", false}, {"[gc]recentobjectshook=x", false},
		{"[uploadpack]packobjectshook=x", false}, {"[extensions]worktreeconfig=true", true}, {"[extensions]refstorage=files:///x", false}, {"[unknown]x=y", false}, {"x=y", false},
		{"[core \"x\"]bare=true", false}, {"[lfs \"customtransfer.x\"]path=y", false}, {"[guitool \"x\"]cmd=y", false}, {"[pull]twohead=x", false}, {"[receive]procreceiverefs=x", false},
	} {
		list, err := parseConfig([]byte(c.line))
		if err != nil || len(list) != 1 {
			t.Fatalf("%s: %v %v", c.line, list, err)
		}
		if got := harmless(list[0], inRoot, func(p string) bool { return !strings.HasPrefix(p, "/cache") }); got != c.want {
			t.Errorf("%s: harmless is %v, want %v", c.line, got, c.want)
		}
	}
}
