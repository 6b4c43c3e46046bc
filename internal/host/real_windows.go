package host

import (
	"errors"
	"io/fs"
	"os"
	"os/user"
)

func toInfo(fi fs.FileInfo, err error) (Info, error) {
	if err != nil {
		return Info{}, err
	}
	return Info{Mode: fi.Mode(), Size: fi.Size()}, nil
}

func openNoFollow(path string) (*os.File, error) {
	fi, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !fi.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errors.New("not a regular file")}
	}
	return os.Open(path)
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
