package policy

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// SECURITY: the functions in this file are what keeps a policy file that came with
// untrusted code from widening the user's policy (POL-13). Each gets the value of
// the layers below and the value wanted, and gives the value to use.

type durationT = time.Duration

func freely[T any](_ *Policy, _, want T) (T, *problem) { return want, nil }

func plain[T any](v T) string { return fmt.Sprint(v) }

// rank narrows toward lower ranks.
func rank[T fmt.Stringer](of func(T) int) func(*Policy, T, T) (T, *problem) {
	return func(_ *Policy, was, want T) (T, *problem) {
		if of(want) > of(was) {
			return was, badf("cannot go from %q to %q", was.String(), want.String())
		}
		return want, nil
	}
}

func modeRank(m Mode) int               { return int(m) }
func windowsModeRank(w WindowsMode) int { return int(w) }
func newNamesRank(n NewNames) int       { return int(n) }

// networkRank puts off below allow below on, which is not the order of the constants.
func networkRank(n NetworkMode) int {
	return map[NetworkMode]int{NetworkOff: 0, NetworkAllow: 1, NetworkOn: 2}[n]
}

// lower narrows a limit: 0 is no limit, the highest.
func lower[T cmp.Ordered](show func(T) string) func(*Policy, T, T) (T, *problem) {
	return func(_ *Policy, was, want T) (T, *problem) {
		var none T
		switch {
		case was == none || (want != none && want <= was):
			return want, nil
		case want == none:
			return was, badf("cannot lift the limit of %s", show(was))
		}
		return was, badf("cannot raise the limit from %s to %s", show(was), show(want))
	}
}

func lowerToZero[T cmp.Ordered](show func(T) string) func(*Policy, T, T) (T, *problem) {
	return func(_ *Policy, was, want T) (T, *problem) {
		if want > was {
			return was, badf("cannot raise it from %q to %q", show(was), show(want))
		}
		return want, nil
	}
}

func towardFalse(_ *Policy, was, want bool) (bool, *problem) {
	if want && !was {
		return was, badf("cannot go from false to true")
	}
	return want, nil
}

func narrowAudit(_ *Policy, was, want string) (string, *problem) {
	if was == "enforce" && want != "enforce" {
		return was, badf("cannot go from %q to %q", was, want)
	}
	return want, nil
}

// subset accepts only entries that are there already, compared as text.
//
// An entry inside one that is there would not do for paths that may be read: being
// more specific, it could win over a denial that the wider entry does not win over.
func subset[E comparable](_ *Policy, was, want []E) ([]E, *problem) {
	for _, e := range want {
		if !slices.Contains(was, e) {
			return was, badf("the layer below does not have the entry %s", quoteEntry(e))
		}
	}
	return want, nil
}

func union[E comparable](was, want []E) []E {
	return unique(append(cloneList(was), want...))
}

func more[E comparable](_ *Policy, was, want []E) ([]E, *problem) { return union(was, want), nil }

func join(was, want map[string]string) map[string]string {
	out := map[string]string{}
	maps.Copy(out, was)
	maps.Copy(out, want)
	return out
}

// narrowHosts accepts hosts that the layers below let through.
func narrowHosts(below *Policy, was, want []string) ([]string, *problem) {
	for _, e := range want {
		switch {
		case below.Network.Mode == NetworkOn:
		case below.Network.Mode == NetworkOff:
			return was, badf("the network is off, so the entry %q would open it", e)
		case !slices.ContainsFunc(was, func(w string) bool { return hostCovers(w, e) }):
			return was, badf("the layer below does not allow %q", e)
		}
	}
	return want, nil
}

// narrowHooks accepts names and prefixes that an entry below covers.
func narrowHooks(_ *Policy, was, want []string) ([]string, *problem) {
	for _, e := range want {
		if !slices.ContainsFunc(was, func(w string) bool { return hookCovers(w, e) }) {
			return was, badf("the layer below does not allow %q", e)
		}
	}
	return want, nil
}

// narrowWritable accepts three things: an entry that is there already; a path in the
// workspace, which is writable anyway and so adds no rule of its own; and a path
// inside an entry that is there.
//
// SECURITY: the last could, being more specific, win over a denial between the two
// paths. It is accepted only where no denial can lie there.
func narrowWritable(below *Policy, was, want []string) ([]string, *problem) {
	out := []string{}
	for _, e := range want {
		switch {
		case slices.Contains(was, e):
			out = append(out, e)
		case climbs(e):
			return was, badf("the entry %q holds \"..\"", e)
		case formOf(e) == relativePath:
			// In the workspace: no rule, or it would lift a denial of the layer below.
		case HasMeta(e) || !insideAny(e, was):
			return was, badf("the entry %q is neither in the workspace nor inside an entry of the layer below", e)
		default:
			if by := mayBeDenied(below, e); by != "" {
				return was, badf("the entry %q could reopen what %s closes", e, by)
			}
			out = append(out, e)
		}
	}
	return out, nil
}

// climbs reports whether a path holds "..", in any of the disguises that braces and
// escapes give it. It may say yes too often.
func climbs(e string) bool {
	if strings.Count(e, ".") < 2 {
		return false
	}
	for _, s := range []string{e, strings.ReplaceAll(e, `\`, ""), strings.ReplaceAll(e, `\`, "/")} {
		parts := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("/{},", r) })
		if slices.Contains(parts, "..") {
			return true
		}
	}
	return false
}

// insideAny reports whether a literal path lies in one of the literal entries.
func insideAny(e string, entries []string) bool {
	for _, w := range entries {
		if HasMeta(w) || climbs(w) || formOf(w) != formOf(e) {
			continue
		}
		if inside(tidy(e), tidy(w)) {
			return true
		}
	}
	return false
}

// mayBeDenied names a denial that e, a path inside a writable root, could reopen; ""
// when that cannot be. What cannot be compared without knowing the host counts as one.
func mayBeDenied(below *Policy, e string) string {
	for _, list := range [][]string{below.Filesystem.DenyRead, below.Filesystem.DenyWrite} {
		for _, d := range list {
			if formOf(d) != formOf(e) || climbs(d) || matchesUpward(tidy(d), tidy(e)) {
				return fmt.Sprintf("%q", d)
			}
		}
	}
	tail := fromAnywhere(e)
	for _, c := range Credentials() {
		if matchesUpward("**/"+fromAnywhere(c.Path), tail) {
			return "the built-in denial of " + c.Path
		}
	}
	for _, p := range Protected() {
		if matchesUpward("**/"+strings.TrimPrefix(p.Match, "**/"), tail) {
			return "the protection of " + p.Name
		}
	}
	return ""
}

// fromAnywhere takes the start of a path away: where the home directory is, and
// whether a root is in it, is not known here.
func fromAnywhere(p string) string {
	return strings.TrimPrefix(strings.TrimPrefix(tidy(p), "~"), "/")
}

// matchesUpward reports whether pattern matches path or a folder above it.
func matchesUpward(pattern, path string) bool {
	g, err := CompileFold(pattern)
	if err != nil {
		return true // what cannot be read cannot be ruled out
	}
	return g.MatchUpward(path)
}
