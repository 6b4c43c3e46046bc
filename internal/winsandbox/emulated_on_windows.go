//go:build winetest

package winsandbox

import "os"

// emulated lets tests under Wine go on with a token and lists that did not take, so
// that the rest can be tried. The build tag is for test builds alone.
var emulated = os.Getenv("QSANDBOX_TEST_EMULATED") != "0"

// setEmulated is for the test that nothing is let through without it.
func setEmulated(on bool) { emulated = on }
