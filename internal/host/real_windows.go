package host

import (
	"io"
	"io/fs"
	"os"
	"os/user"

	"golang.org/x/sys/windows"
)

func lstat(path string) (Info, error) {
	i, err := toInfo(os.Lstat(path))
	if i.Mode&fs.ModeIrregular != 0 && isLink(path) {
		i.Mode = linkMode(i.Mode)
	}
	return i, err
}

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
//
// SECURITY: it is opened once, without following a link as its last part; what the
// handle says decides, not the name, which may be another file's a moment later.
func readFile(path string, max int) ([]byte, error) {
	fail := func(err error) ([]byte, error) { return nil, &fs.PathError{Op: "read", Path: path, Err: err} }
	name := path
	if p, ok := onDrive(path); ok {
		name = `\\?\` + p // as it is: long paths, and no name that is a device
	}
	ptr, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return fail(err)
	}
	h, err := windows.CreateFile(ptr, windows.GENERIC_READ, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil,
		windows.OPEN_EXISTING, windows.FILE_FLAG_OPEN_REPARSE_POINT|windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return fail(err)
	}
	f := os.NewFile(uintptr(h), path)
	defer f.Close()
	kind, err := windows.GetFileType(h)
	if err != nil || kind != windows.FILE_TYPE_DISK {
		return fail(errNotRegular)
	}
	fi, err := f.Stat()
	if err != nil || !fi.Mode().IsRegular() {
		return fail(errNotRegular)
	}
	if fi.Size() > int64(max) {
		return fail(errTooLarge)
	}
	data, err := io.ReadAll(io.LimitReader(f, int64(max)+1))
	if err == nil && len(data) > max {
		err = errTooLarge
	}
	if err != nil {
		return fail(err)
	}
	return data, nil
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
