//go:build amd64 || arm64

package guard

// decision is what becomes of a call. The zero value is the strictest.
type decision uint8

const (
	refuse decision = iota
	record          // done, and kept for the list that Recorded gives
	allow
)

func (d decision) String() string { return [...]string{"refuse", "record", "allow"}[d] }
