package policy

import "slices"

// Credential is one row of credentials.json: a place where programs keep secrets,
// hidden by default (FS-03). filesystem.readable allows it again.
type Credential struct {
	Path      string   `json:"path"`               // "~/.ssh" or "/etc/shadow"; a pattern when Kind is glob
	Kind      string   `json:"kind"`               // file | dir | glob
	Platforms []string `json:"platforms"`          // GOOS names
	RootOnly  bool     `json:"rootOnly,omitempty"` // an ordinary user cannot read it anyway
	Holds     string   `json:"holds"`              // which secret
	Source    string   `json:"source"`             // where it is documented
}

// For reports whether the row counts on a GOOS.
func (c Credential) For(goos string) bool { return slices.Contains(c.Platforms, goos) }

// Credentials is the default list of what is hidden. The caller must not change it.
//
// The list is compiled in from credentials.json: to read 460 rows of JSON would take
// longer than to start the sandbox. A test keeps the two the same, and with -update
// writes tables.go.
func Credentials() []Credential { return credentialTable }
