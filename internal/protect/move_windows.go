package protect

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// openEntry opens an entry itself, whatever it is: no link is followed as the last
// part, and nothing is read.
//
// SECURITY: only paths with a drive letter. A path that a workspace names may lead to
// another machine, and to look there would send it this user's credentials.
func openEntry(path string, access uint32) (windows.Handle, error) {
	if len(path) < 3 || path[1] != ':' || path[2] != '\\' {
		return 0, fmt.Errorf("%q is no path on a drive", path)
	}
	name, err := windows.UTF16PtrFromString(`\\?\` + path)
	if err != nil {
		return 0, err
	}
	h, err := windows.CreateFile(name, access, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, windows.OPEN_EXISTING,
		windows.FILE_FLAG_BACKUP_SEMANTICS|windows.FILE_FLAG_OPEN_REPARSE_POINT, 0)
	if err != nil {
		return 0, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return h, nil
}

// ours wants a real folder that this user, or the administrators, own, and that not
// everybody may write.
func ours(dir string) error {
	h, err := openEntry(dir, windows.READ_CONTROL|windows.FILE_READ_ATTRIBUTES)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	var fi windows.ByHandleFileInformation
	if err := windows.GetFileInformationByHandle(h, &fi); err != nil {
		return err
	}
	if fi.FileAttributes&(windows.FILE_ATTRIBUTE_REPARSE_POINT|windows.FILE_ATTRIBUTE_DIRECTORY) != windows.FILE_ATTRIBUTE_DIRECTORY {
		return fmt.Errorf("%q is not a folder", dir)
	}
	d, err := securityOf(h)
	if err != nil {
		return err
	}
	user, err := userSID()
	if err != nil {
		return err
	}
	if d.Owner != user && d.Owner != winacl.Admins || winacl.EveryoneMayWrite(d, winacl.File) {
		return fmt.Errorf("%q is not a folder that only its owner, this user, can write", dir)
	}
	return nil
}

// ownFile: files in such a folder are ours. Windows has no modes that would say more.
func ownFile(host.Host, host.Info) bool { return true }

func securityOf(h windows.Handle) (*winacl.Descriptor, error) {
	sd, err := windows.GetSecurityInfo(h, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.GROUP_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return nil, err
	}
	return winacl.DecodeDescriptor(unsafe.Slice((*byte)(unsafe.Pointer(sd)), sd.Length()))
}

func userSID() (winacl.SID, error) {
	u, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return winacl.SID{}, err
	}
	return winacl.DecodeSID(unsafe.Slice((*byte)(unsafe.Pointer(u.User.Sid)), windows.GetLengthSid(u.User.Sid)))
}

// moveOut moves m.From to m.To, whose name is free. On another volume the entry is
// renamed where it is, which takes its dangerous name away, and stays there: a copy
// would not be the entry any more (streams, lists, links).
func moveOut(m *Moved) error {
	const access = windows.DELETE | windows.SYNCHRONIZE | windows.FILE_READ_ATTRIBUTES
	h, err := openEntry(m.From, access)
	if errors.Is(err, windows.ERROR_ACCESS_DENIED) && loosen(m.From) == nil {
		h, err = openEntry(m.From, access)
	}
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	// SECURITY: a folder on the way may have become a link; then this is another entry.
	real, err := finalPath(h)
	if err != nil {
		return err
	}
	if !strings.EqualFold(real, m.From) {
		return fmt.Errorf("move %q: it now leads to %q", m.From, real)
	}
	err = renameTo(h, m.To)
	if errors.Is(err, windows.STATUS_NOT_SAME_DEVICE) {
		inert := ".qsandbox-moved-" + filepath.Base(filepath.Dir(m.To)) + "-" + filepath.Base(m.To)
		to := join(filepath.Dir(m.From), inert[:min(len(inert), 200)])
		if err = renameTo(h, to); err == nil {
			m.To, m.InPlace = to, true
		}
	}
	if err != nil {
		return &os.PathError{Op: "move", Path: m.From, Err: err}
	}
	return nil
}

// loosen gives this user all rights to an entry of its own whose list keeps it out: a
// command may make a file with any list.
func loosen(path string) error {
	h, err := openEntry(path, windows.READ_CONTROL|windows.WRITE_DAC)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	user, err := userSID()
	if err != nil {
		return err
	}
	b := (&winacl.ACL{Entries: []winacl.ACE{{Flags: winacl.Inherit, Mask: winacl.File.All, SID: user}}}).Encode()
	return windows.SetSecurityInfo(h, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, nil, nil, (*windows.ACL)(unsafe.Pointer(&b[0])), nil)
}

// renameTo renames an open entry; it replaces nothing (FILE_RENAME_INFORMATION, ntifs.h).
func renameTo(h windows.Handle, to string) error {
	name, err := windows.UTF16FromString(`\??\` + to)
	if err != nil {
		return err
	}
	var head struct {
		replace uint32
		root    windows.Handle
		length  uint32
		name    [1]uint16
	}
	at := int(unsafe.Offsetof(head.name))
	head.length = uint32(2 * (len(name) - 1))
	buf := make([]byte, max(at+2*len(name), int(unsafe.Sizeof(head))))
	copy(buf, unsafe.Slice((*byte)(unsafe.Pointer(&head)), at))
	copy(buf[at:], unsafe.Slice((*byte)(unsafe.Pointer(&name[0])), 2*len(name)))
	var iosb windows.IO_STATUS_BLOCK
	return windows.NtSetInformationFile(h, &iosb, &buf[0], uint32(len(buf)), windows.FileRenameInformation)
}

// finalPath gives the real path of an open entry.
func finalPath(h windows.Handle) (string, error) {
	buf := make([]uint16, 512)
	for {
		n, err := windows.GetFinalPathNameByHandle(h, &buf[0], uint32(len(buf)), 0)
		if err != nil {
			return "", err
		}
		if n < uint32(len(buf)) {
			return strings.TrimPrefix(windows.UTF16ToString(buf[:n]), `\\?\`), nil
		}
		buf = make([]uint16, n+1)
	}
}

func restoreFor(to, from string) string { return restorePowerShell(to, from) }
