package winsandbox

import (
	"crypto/rand"
	"encoding/hex"
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

var (
	user32                   = windows.NewLazySystemDLL("user32.dll")
	procCreateDesktop        = user32.NewProc("CreateDesktopW")
	procCloseDesktop         = user32.NewProc("CloseDesktop")
	procGetProcessWinStation = user32.NewProc("GetProcessWindowStation")
	procGetUserObjectInfo    = user32.NewProc("GetUserObjectInformationW")
)

const (
	desktopAll = 0x000F01FF // DESKTOP_* and STANDARD_RIGHTS_REQUIRED
	uoiName    = 2
)

// desktop is a desktop of the run's own: its windows cannot reach those of the user
// (WIN-10).
type desktop struct {
	handle uintptr
	name   string // station\desktop, for lpDesktop
}

func makeDesktop(l *winacl.ACL) (desktop, error) {
	var b [16]byte
	rand.Read(b[:]) //nolint:errcheck // it never fails
	name := "qsandbox-" + hex.EncodeToString(b[:])
	p, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return desktop{}, err
	}
	sa := securityAttributes(l)
	h, _, err := procCreateDesktop.Call(uintptr(unsafe.Pointer(p)), 0, 0, 0, desktopAll, uintptr(unsafe.Pointer(sa)))
	runtime.KeepAlive(sa)
	if h == 0 {
		return desktop{}, fault.Wrap(fault.LaunchFailed, "make a private desktop", "", err)
	}
	if st := stationName(); st != "" {
		name = st + `\` + name
	}
	return desktop{h, name}, nil
}

func stationName() string {
	st, _, _ := procGetProcessWinStation.Call()
	buf := make([]uint16, 256)
	var n uint32
	r, _, _ := procGetUserObjectInfo.Call(st, uoiName, uintptr(unsafe.Pointer(&buf[0])), uintptr(2*len(buf)), uintptr(unsafe.Pointer(&n)))
	if r == 0 {
		return ""
	}
	return windows.UTF16ToString(buf)
}

func (d desktop) close() { procCloseDesktop.Call(d.handle) } //nolint:errcheck // nothing is left to do about it
