package policy

import (
	"math"
	"net/netip"
	"slices"
	"strings"
	"time"
)

// Validate reports the first field of p with an illegal value, as a *fault.Error
// whose subject is the field. The zero Policy is legal, and the strictest.
func Validate(p Policy) error {
	_, err := Normalise(p)
	return err
}

// Normalise checks p like Validate and gives it with one spelling for every value:
// host names in lower case, no entry twice, lists that are not nil. p itself is
// left as it is.
func Normalise(p Policy) (Policy, error) {
	for _, f := range Fields() {
		if bad := f.ops.normalise(&p); bad != nil {
			return Policy{}, bad.fault("check policy", f.Name)
		}
	}
	return p, nil
}

func checkVersion(v int) (int, *problem) {
	switch {
	case v == 0 || v == CurrentVersion: // 0: a Policy made in Go that says nothing
		return CurrentVersion, nil
	case v > CurrentVersion:
		return v, badf("version %d is newer than this program, which knows version %d", v, CurrentVersion).hinted("update qsandbox, or write the policy for version 1")
	}
	return v, badf("there is no version %d", v).hinted(`write "version": 1`)
}

func checkDuration(d time.Duration) (time.Duration, *problem) {
	if d < 0 {
		return d, badf("the duration %s is negative", d).hinted("0 is no limit")
	}
	return d, nil
}

func checkSize(s Size) (Size, *problem) {
	if s < 0 {
		return s, badf("the size %d is negative", int64(s)).hinted("0 is no limit")
	}
	return s, nil
}

// atLeast accepts 0, no limit, and sizes from least on.
func atLeast(s, least Size) (Size, *problem) {
	if _, bad := checkSize(s); bad != nil {
		return s, bad
	}
	if s != 0 && s < least {
		return s, badf("%s is too small for anything to run", s).hinted("write at least " + least.String() + ", or 0 for no limit")
	}
	return s, nil
}

func checkTmp(s Size) (Size, *problem)    { return atLeast(s, 64<<10) }
func checkMemory(s Size) (Size, *problem) { return atLeast(s, 1<<20) }

// checkProcesses refuses 1: our init takes one, so that nothing could run.
func checkProcesses(n int) (int, *problem) {
	if n < 0 {
		return n, badf("the number %d is negative", n).hinted("0 is no limit")
	}
	if n == 1 {
		return n, badf("one process is too few for anything to run").hinted("write at least 2, or 0 for no limit")
	}
	return n, nil
}

func checkCPUs(n float64) (float64, *problem) {
	if math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
		return n, badf("%v is not a number of processors", n).hinted("write a number such as 1.5, or 0 for no limit")
	}
	if n != 0 && n < 0.01 {
		return n, badf("%v processors are too few for anything to run", n).hinted("write at least 0.01, or 0 for no limit")
	}
	return n, nil
}

func checkPort(n int) (int, *problem) {
	if n < 1 || n > 65535 {
		return n, badf("%d is not a port", n).hinted("a port is a number from 1 to 65535")
	}
	return n, nil
}

func checkEnvName(s string) (string, *problem) {
	switch {
	case s == "":
		return s, badf("the name is empty")
	case strings.ContainsRune(s, 0):
		return s, badf("the name holds a NUL byte")
	case strings.ContainsRune(s, '='):
		return s, badf("the name holds a =").hinted("write the name alone; env.set is for values")
	}
	return s, nil
}

func checkPassName(s string) (string, *problem) {
	if strings.ContainsRune(s, '*') {
		return s, badf("wildcards are not allowed here").hinted("list each name: what a pattern would pass on is not known beforehand")
	}
	return checkEnvName(s)
}

func checkHookPattern(s string) (string, *problem) {
	stem := strings.TrimSuffix(s, "*")
	if stem == "" && s != "" {
		return s, badf("* would allow every hook").hinted("name the hooks, such as NODE_OPTIONS or LD_*")
	}
	if strings.ContainsRune(stem, '*') {
		return s, badf("a * is only allowed at the end")
	}
	_, bad := checkEnvName(s)
	return s, bad
}

func checkProtectedName(s string) (string, *problem) {
	var names []string
	for _, p := range Protected() {
		if p.Name == s {
			return s, nil
		}
		names = append(names, p.Name)
	}
	return s, badf("there is no protected name %q", s).hinted(didYouMean(s, names) + "docs/policy.md lists the names")
}

// checkDockerWord refuses what the engine's command line would take for an option or
// for more than one word.
func checkDockerWord(s string) (string, *problem) {
	if strings.HasPrefix(s, "-") {
		return s, badf("%q starts with a dash", s)
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return s, badf("%q holds a blank or a control character", s)
	}
	return s, nil
}

func checkServiceName(s string) (string, *problem) {
	if s == "" || strings.Trim(strings.ToLower(s), "abcdefghijklmnopqrstuvwxyz0123456789.-_") != "" {
		return s, badf("%q is not the name of a group of services", s).hinted("a name has letters, digits, dots and dashes")
	}
	return s, nil
}

// auditCodec has its own check for Go's empty string, which is the strictest value.
func auditCodec() codec[string] {
	c := choice("best-effort", "enforce")
	legal := c.check
	c.check = func(s string) (string, *problem) {
		if s == "" {
			return "enforce", nil
		}
		return legal(s)
	}
	return c
}

func checkDockerHost(s string) (string, *problem) {
	return checkURL(s, []string{"unix", "tcp", "npipe", "ssh", "http", "https"}, false)
}

func checkUpstream(s string) (string, *problem) {
	return checkURL(s, []string{"http", "https", "socks5"}, true)
}

// checkURL accepts "" and URLs of some schemes. It looks at the scheme and, for a
// proxy, at the host and port: the packages that dial read the rest.
func checkURL(s string, schemes []string, proxy bool) (string, *problem) {
	if s == "" {
		return s, nil
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return s, badf("the URL holds a blank or a control character")
	}
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || !slices.Contains(schemes, scheme) || rest == "" {
		return s, badf("the URL does not start with one of the known schemes").hinted("use " + orList(schemes) + `, as in "` + schemes[0] + `://…"`)
	}
	if !proxy {
		return s, nil
	}
	// SECURITY: the user info may be a password, so no message shows the URL.
	hostport := strings.TrimSuffix(rest[strings.LastIndex(rest, "@")+1:], "/")
	host, _, bad := splitPort(hostport)
	if bad != nil {
		return s, bad
	}
	if a, err := netip.ParseAddr(host); err == nil && a.Zone() == "" {
		return s, nil
	}
	_, wild, bad := findHost(host)
	if bad == nil && wild {
		bad = badf("the host of a proxy is one host")
	}
	return s, bad
}
