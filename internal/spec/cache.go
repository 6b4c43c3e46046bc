package spec

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"

	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// CacheRoot is the directory that holds the private caches, one per workspace:
// $XDG_CACHE_HOME/qsandbox, else ~/.cache/qsandbox, on macOS ~/Library/Caches/qsandbox.
func CacheRoot(h host.Host) string {
	if v := h.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(v) {
		return filepath.Join(v, "qsandbox")
	}
	home := h.HomeDir()
	if !filepath.IsAbs(home) {
		return ""
	}
	if h.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Caches", "qsandbox")
	}
	return filepath.Join(home, ".cache", "qsandbox")
}

// CacheName names a workspace's cache by the hash of its real path.
func CacheName(workspace string) string {
	sum := sha256.Sum256([]byte(workspace))
	return filepath.Base(workspace) + "-" + hex.EncodeToString(sum[:6])
}
