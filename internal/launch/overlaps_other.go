//go:build !linux

package launch

// Overlaps tells whether Start calls Options.Meanwhile. Where it does not, the caller
// does that work first.
const Overlaps = false
