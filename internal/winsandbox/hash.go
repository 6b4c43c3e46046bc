package winsandbox

import (
	"crypto/sha256"
	"encoding/hex"
)

// shortHash tells names apart; it is no secret.
func shortHash(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:8])
}
