//go:build !winetest

package winsandbox

// emulated is never set in a program that people get: a token or a list that did not
// take is refused.
const emulated = false
