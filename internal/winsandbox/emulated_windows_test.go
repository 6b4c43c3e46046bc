//go:build windows && !winetest

package winsandbox

// setEmulated has nothing to set in a build that people get.
func setEmulated(bool) {}
