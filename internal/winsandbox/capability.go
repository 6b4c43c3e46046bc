package winsandbox

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"

	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// Capabilities are the identifiers that open writable roots, by path (WIN-06). A
// workspace keeps its identifier, so that entries need not be made anew, and an entry
// left by one workspace opens nothing to another.
type Capabilities struct {
	Version int                   `json:"version"`
	SIDs    map[string]winacl.SID `json:"sids"` // folded path -> identifier
}

// capabilityVersion is the version of the stored form.
const capabilityVersion = 1

// ParseCapabilities reads the stored form; empty data is an empty store.
//
// SECURITY: a damaged store is an error. To begin anew would leave entries that nobody
// can name, and to guess could give one workspace the identifier of another.
func ParseCapabilities(data []byte) (Capabilities, error) {
	c := Capabilities{Version: capabilityVersion, SIDs: map[string]winacl.SID{}}
	if len(data) == 0 {
		return c, nil
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return c, fmt.Errorf("capabilities: %w", err)
	}
	if c.Version != capabilityVersion {
		return c, fmt.Errorf("capabilities: version %d, this helper knows %d", c.Version, capabilityVersion)
	}
	seen := map[winacl.SID]string{}
	for path, s := range c.SIDs {
		if s.IsZero() || !IsCapability(s) {
			return c, fmt.Errorf("capabilities: %q has %q, which is none", path, s)
		}
		if other, dup := seen[s]; dup {
			return c, fmt.Errorf("capabilities: %q and %q have the same identifier", path, other)
		}
		seen[s] = path
	}
	return c, nil
}

// Encode gives the stored form.
func (c Capabilities) Encode() []byte {
	b, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		panic(err) // plain data
	}
	return append(b, '\n')
}

// For gives the identifier of a clean path, and makes one from random when there is
// none; fresh tells that the store must be written before it is used.
func (c Capabilities) For(path string, random io.Reader) (s winacl.SID, fresh bool, err error) {
	if s, ok := c.SIDs[fold(path)]; ok {
		return s, false, nil
	}
	var b [16]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return s, false, err
	}
	sub := []uint32{21}
	for i := range 4 {
		sub = append(sub, binary.LittleEndian.Uint32(b[4*i:]))
	}
	s = winacl.NewSID(5, sub...)
	c.SIDs[fold(path)] = s
	return s, true, nil
}

// HolderKey is the key of the capability that stands for a run: its first root, or in
// read-only something that no path can be.
//
// SECURITY: entries of workspace-write stay. If a read-only run had the capability of the
// directory that it starts in, it could write what an earlier run was let write there.
func HolderKey(cwd string, roots []string) string {
	if len(roots) > 0 {
		return roots[0]
	}
	return cwd + "|read-only"
}

// IsCapability tells whether an identifier has the form of ours: S-1-5-21 and four
// random numbers. Accounts have that form too; 128 random bits keep them apart.
func IsCapability(s winacl.SID) bool {
	b := s.Bytes()
	return len(b) == 8+4*5 && b[7] == 5 && binary.LittleEndian.Uint32(b[8:]) == 21
}
