//go:build !(linux && amd64)

package inside

// AsmInit returns the executable of the assembly init; false where there is none.
func AsmInit() ([]byte, bool) { return nil, false }
