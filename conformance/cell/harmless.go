package cell

import "regexp"

// harmless are scripts that only make probes, on files with plain names or on the
// case's own places. A probe does nothing when it succeeds; see package probe.
var harmless = func() *regexp.Regexp {
	word := `(?: (?:[a-z0-9]+|\$\$|"\$(?:WS|OUT|T|HOSTPID)(?:/[a-z0-9]+(?:\.[a-z0-9]+)*)*"))*`
	one := `(?:"\$PROBE" probe [a-z0-9_-]+` + word + `|touch [a-z0-9]+|head -c1 "\$WS/[a-z0-9]+" > /dev/null|\[ -[a-z] "\$(?:WS|OUT)/[a-z0-9]+" \]|echo -?[0-9]+ > /proc/self/oom_score_adj)`
	return regexp.MustCompile(`^` + one + `(?:(?: \|\| | && |\n)` + one + `)*\n?$`)
}()

// Harmless tells whether a script may run with the real root's capabilities: it
// shows that the kernel would let root in, which no other account can show.
//
// SECURITY: nothing but calls of the program's own probes gets through.
func Harmless(script string) bool { return harmless.MatchString(script) }
