package protect

import (
	"os"
	"path/filepath"
	"strings"
)

// within tells whether path is root or lies below it. Both are clean and absolute.
func within(root, path string) bool {
	if root == path || root == string(filepath.Separator) {
		return true
	}
	return strings.HasPrefix(path, root) && len(path) > len(root) && os.IsPathSeparator(path[len(root)])
}

// strictly is within, without root itself.
func strictly(root, path string) bool { return root != path && within(root, path) }

// join puts a name below a clean folder. filepath.Join cleans again, which costs
// more than the walk itself.
func join(dir, name string) string {
	if os.IsPathSeparator(dir[len(dir)-1]) {
		return dir + name
	}
	return dir + string(filepath.Separator) + name
}

func slashed(p string) string {
	if filepath.Separator == '/' {
		return p
	}
	return filepath.ToSlash(p)
}
