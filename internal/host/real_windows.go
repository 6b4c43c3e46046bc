package host

import (
	"io/fs"
	"os"
	"os/user"
)

func lstat(path string) (Info, error) { return toInfo(os.Lstat(path)) }

func stat(path string) (Info, error) { return toInfo(os.Stat(path)) }

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func toInfo(fi fs.FileInfo, err error) (Info, error) {
	if err != nil {
		return Info{}, err
	}
	return Info{Mode: fi.Mode(), Size: fi.Size(), Modified: fi.ModTime()}, nil
}

// readFile reads a regular file of at most max bytes.
func readFile(path string, max int) ([]byte, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	if fi.Size() > int64(max) {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errTooLarge}
	}
	return os.ReadFile(path)
}

func currentUser() User {
	u := User{UID: -1, GID: -1, Home: os.Getenv("USERPROFILE"), Name: os.Getenv("USERNAME")}
	return u
}

func lookupUser(name string) (User, error) {
	u, err := user.Lookup(name)
	if err != nil {
		return User{}, err
	}
	return User{UID: -1, GID: -1, Name: u.Username, Home: u.HomeDir}, nil
}

func writable(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
