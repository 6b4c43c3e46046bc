package conformance

import (
	"slices"
	"strings"
)

// QuickCases chooses the quick matrix: every critical case, and of the others the first of
// each kind (its id without the number); none that takes a driver for many commands or
// for long. Verify tries each of them in one mode on each backend; see quickMode.
func QuickCases(all []*Case) []*Case {
	kinds := map[string]bool{}
	return slices.DeleteFunc(slices.Clone(all), func(c *Case) bool {
		if c.Driver != "" && !c.own() {
			return true
		}
		kind := c.ID[:strings.LastIndexByte(c.ID, '-')]
		first := !kinds[kind]
		kinds[kind] = true
		return c.Severity != Critical && !first
	})
}

// quickMode is compat, the default of a policy, for a case that knows it, else its first.
func quickMode(modes []string) []string {
	if slices.Contains(modes, "compat") {
		return []string{"compat"}
	}
	return modes[:1]
}
