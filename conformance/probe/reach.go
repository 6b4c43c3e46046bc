package probe

// ReachName is the probe that says what can be reached; its orders are a JSON list on its
// input, its answers one on its output.
const ReachName = "reach"

// Order is one path to try. Names are bytes: they need not be text.
type Order struct {
	Path  []byte
	Write bool
	Dir   bool
}

// Reached is what came of an order. The numbers tell the host's file from one that a
// sandbox made up in its place.
type Reached struct {
	OK       bool
	Unsure   bool   // it failed, and not because it was denied
	Dev, Ino uint64 // when OK
	Err      string `json:",omitempty"`
}
