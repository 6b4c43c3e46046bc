package winsandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// object is an open thing whose list can be edited: a file by SE_FILE_OBJECT, in tests
// also a registry key.
type object struct {
	handle windows.Handle
	kind   windows.SE_OBJECT_TYPE
	name   string
}

// descriptor reads owner, group and list.
func (o object) descriptor() (*winacl.Descriptor, error) {
	sd, err := windows.GetSecurityInfo(o.handle, o.kind, windows.OWNER_SECURITY_INFORMATION|windows.GROUP_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return nil, err
	}
	return winacl.DecodeDescriptor(unsafe.Slice((*byte)(unsafe.Pointer(sd)), sd.Length()))
}

// set writes a list. Entries that children inherit are passed on by Windows.
func (o object) set(l *winacl.ACL) error {
	return windows.SetSecurityInfo(o.handle, o.kind, windows.DACL_SECURITY_INFORMATION, nil, nil, toACL(l), nil)
}

// add puts entries into the list, all at once since Windows walks the whole tree below for
// each change, and reads them back.
//
// SECURITY: file systems without lists, and emulators, say "done" and forget. What is
// not there afterwards was not done, and the run is refused.
func (o object) add(list ...winacl.ACE) error {
	d, err := o.descriptor()
	if err != nil {
		return fault.Wrap(fault.SandboxUnavailable, "read the access-control list of", o.name, err)
	}
	next := d.DACL
	for _, a := range list {
		next = next.With(a)
	}
	if next.Equal(d.DACL) {
		return nil
	}
	if err := o.set(next); err != nil {
		return fault.Wrap(fault.SandboxUnavailable, "change the access-control list of", o.name, err).
			WithHint("the right to change it (WRITE_DAC) is needed: the owner of the directory has it")
	}
	if d, err = o.descriptor(); err != nil {
		return fault.Wrap(fault.SandboxUnavailable, "read the access-control list of", o.name, err)
	}
	for _, a := range list {
		if next.Has(a) && !d.DACL.Has(a) && !emulated {
			return fault.New(fault.SandboxUnavailable, "change the access-control list of", o.name,
				"Windows said that it was done, and the entry is not there: is this a file system with access-control lists (NTFS)?")
		}
	}
	return nil
}

// drop takes an entry out. One that is not there is no error.
func (o object) drop(a winacl.ACE) error {
	d, err := o.descriptor()
	if err != nil {
		return err
	}
	if !d.DACL.Has(a) {
		return nil
	}
	if err := o.set(d.DACL.Drop(a)); err != nil {
		return err
	}
	if d, err = o.descriptor(); err == nil && d.DACL.Has(a) {
		err = fmt.Errorf("the entry is still there")
	}
	return err
}

// openObject opens a path without following a link in its last part, and makes sure
// that no link lies before it: what is edited is what was named (FS-06).
func openObject(path string, access uint32) (object, error) {
	h, real, err := openNoFollow(path, access)
	if err != nil {
		return object{}, err
	}
	if fold(real) != fold(path) {
		windows.CloseHandle(h)
		return object{}, fault.New(fault.PathInvalid, "open", path, "it now leads to "+real+": something on the way was replaced")
	}
	return object{h, windows.SE_FILE_OBJECT, path}, nil
}

func (o object) close() { windows.CloseHandle(o.handle) }

// openNoFollow opens a file or directory and gives its real path. A link, a junction
// or any other reparse point as the last part is refused.
func openNoFollow(path string, access uint32) (windows.Handle, string, error) {
	name, err := windows.UTF16PtrFromString(`\\?\` + path)
	if err != nil {
		return 0, "", fault.Wrap(fault.PathInvalid, "open", path, err)
	}
	h, err := windows.CreateFile(name, access, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return 0, "", fault.Wrap(fault.PathInvalid, "open", path, err)
	}
	var fi windows.ByHandleFileInformation
	if err = windows.GetFileInformationByHandle(h, &fi); err == nil && fi.FileAttributes&windows.FILE_ATTRIBUTE_REPARSE_POINT != 0 {
		err = fmt.Errorf("it is a link or another reparse point; name its target")
	}
	real := ""
	if err == nil {
		real, err = finalPath(h)
	}
	if err != nil {
		windows.CloseHandle(h)
		return 0, "", fault.Wrap(fault.PathInvalid, "open", path, err)
	}
	return h, real, nil
}

// finalPath gives the real path of an open handle, clean.
func finalPath(h windows.Handle) (string, error) {
	buf := make([]uint16, 512)
	for {
		n, err := windows.GetFinalPathNameByHandle(h, &buf[0], uint32(len(buf)), 0)
		if err != nil {
			return "", err
		}
		if n < uint32(len(buf)) {
			return CleanPath("path", windows.UTF16ToString(buf[:n]))
		}
		buf = make([]uint16, n+1)
	}
}

// realDir gives the real path of a directory.
func realDir(field, path string) (string, error) {
	clean, err := CleanPath(field, path)
	if err != nil {
		return "", err
	}
	h, real, err := openNoFollow(clean, windows.READ_CONTROL)
	if err != nil {
		return "", err
	}
	defer windows.CloseHandle(h)
	var fi windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &fi); err != nil {
		return "", fault.Wrap(fault.PathInvalid, "use "+field, path, err)
	}
	if fi.FileAttributes&windows.FILE_ATTRIBUTE_DIRECTORY == 0 {
		return "", fault.New(fault.PathInvalid, "use "+field, path, "it is not a directory")
	}
	return real, nil
}
