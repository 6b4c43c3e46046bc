package winsandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxWorkName is how much of a directory's name is in that of its private one: with all
// of it the name could be longer than the 255 units that NTFS takes.
const maxWorkName = 64

// WorkName names the private directory of a workspace: readable, and one for each
// clean path.
func WorkName(path string) string {
	h := sha256.Sum256([]byte(fold(path)))
	name := []rune(path[strings.LastIndexByte(path, '\\')+1:])
	return string(name[:min(len(name), maxWorkName)]) + "-" + hex.EncodeToString(h[:8])
}
