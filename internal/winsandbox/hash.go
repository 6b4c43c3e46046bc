package winsandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// WorkName names the private directory of a workspace: readable, and one for each
// clean path.
func WorkName(path string) string {
	h := sha256.Sum256([]byte(fold(path)))
	return path[strings.LastIndexByte(path, '\\')+1:] + "-" + hex.EncodeToString(h[:8])
}
