package spec

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// CacheRoot is the directory that holds the private caches, one per workspace:
// $XDG_CACHE_HOME/qsandbox, else ~/.cache/qsandbox, on macOS ~/Library/Caches/qsandbox.
// "" where there is no such place: a home directory that does not exist (/nonexistent, of
// nobody) is not made.
func CacheRoot(h host.Host) string {
	if v := h.Getenv("XDG_CACHE_HOME"); filepath.IsAbs(v) {
		return filepath.Join(v, "qsandbox")
	}
	home := h.HomeDir()
	if !filepath.IsAbs(home) || !h.Exists(home) {
		return ""
	}
	if h.GOOS == "darwin" {
		return filepath.Join(home, "Library", "Caches", "qsandbox")
	}
	return filepath.Join(home, ".cache", "qsandbox")
}

// maxName is what a file name may have on every file system in use.
const maxName = 200

// CacheName names a workspace's cache by its real path, written so that no two
// paths have the same name. A path too long for a name is cut into folders.
func CacheName(workspace string) string {
	var b strings.Builder
	for i := range len(workspace) {
		switch c := workspace[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '.' && i > 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	name := strings.ReplaceAll(strings.TrimPrefix(b.String(), "%2F"), "%2F", "+")
	var parts []string
	for len(name) > maxName {
		parts = append(parts, name[:maxName]+"~") // "~" is in no name that is not cut
		name = name[maxName:]
	}
	return filepath.Join(append(parts, name)...)
}

// StateRoot is where the launcher keeps its journals, quarantine and audit log:
// $XDG_STATE_HOME/qsandbox, else ~/.local/state/qsandbox of its own account. ""
// where there is no such place.
func StateRoot(h host.Host) string {
	if v := h.Getenv("XDG_STATE_HOME"); filepath.IsAbs(v) {
		return filepath.Join(v, "qsandbox")
	}
	if home := h.User.Home; filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "qsandbox")
	}
	return ""
}

// StoreVariable names another file for the user's policy, such as the desktop client's
// own database.
const StoreVariable = "QSANDBOX_STORE"

// StoreFile is the database with the user's policy: what StoreVariable says, else
// policy.db where the system keeps the data of programs, below the home directory of the
// launcher's own account. "" where there is no such place.
func StoreFile(h host.Host) string {
	if v := h.Getenv(StoreVariable); v != "" {
		if abs, err := filepath.Abs(v); err == nil {
			return abs
		}
	}
	if dir := StoreRoot(h); dir != "" {
		return filepath.Join(dir, "policy.db")
	}
	return ""
}

// StoreRoot is the directory of the database that is ours alone.
func StoreRoot(h host.Host) string {
	home := h.User.Home
	switch {
	case h.GOOS == "windows":
		if v := h.Getenv("LOCALAPPDATA"); filepath.IsAbs(v) {
			return filepath.Join(v, "qsandbox")
		}
		return ""
	case h.GOOS == "darwin" && filepath.IsAbs(home):
		return filepath.Join(home, "Library", "Application Support", "qsandbox")
	}
	if v := h.Getenv("XDG_DATA_HOME"); filepath.IsAbs(v) {
		return filepath.Join(v, "qsandbox")
	}
	if filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "share", "qsandbox")
	}
	return ""
}
