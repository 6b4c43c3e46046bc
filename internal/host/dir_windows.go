package host

import (
	"io/fs"
	"os"
)

// readDir lists without sorting. A junction is a link here: Go calls it irregular, and
// what looks for links would take it for a file.
func readDir(path string) ([]fs.DirEntry, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	for i, e := range list {
		if e.Type()&fs.ModeIrregular != 0 && isLink(path+`\`+e.Name()) {
			list[i] = linkEntry{e}
		}
	}
	return list, err
}

// names lists a directory's entries by name alone.
func names(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.Readdirnames(-1)
}

// isLink tells whether an irregular entry leads somewhere: cloud files do not.
func isLink(path string) bool {
	_, err := os.Readlink(path)
	return err == nil
}

// linkMode is the mode of a link in place of that of an irregular entry.
func linkMode(m fs.FileMode) fs.FileMode { return m&^(fs.ModeIrregular|fs.ModeDir) | fs.ModeSymlink }

type linkEntry struct{ fs.DirEntry }

func (e linkEntry) Type() fs.FileMode { return linkMode(e.DirEntry.Type()).Type() }
func (e linkEntry) IsDir() bool       { return false }

func (e linkEntry) Info() (fs.FileInfo, error) {
	fi, err := e.DirEntry.Info()
	return linkInfo{fi}, err
}

type linkInfo struct{ fs.FileInfo }

func (i linkInfo) Mode() fs.FileMode { return linkMode(i.FileInfo.Mode()) }
func (i linkInfo) IsDir() bool       { return false }
