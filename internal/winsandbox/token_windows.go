package winsandbox

import (
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

var (
	advapi32                  = windows.NewLazySystemDLL("advapi32.dll")
	procCreateRestrictedToken = advapi32.NewProc("CreateRestrictedToken")
	procAccessCheck           = advapi32.NewProc("AccessCheck")
	procLookupPrivilegeName   = advapi32.NewProc("LookupPrivilegeNameW")
)

// Flags of CreateRestrictedToken (winnt.h).
const (
	disableMaxPrivilege = 0x1
	luaToken            = 0x4
	writeRestricted     = 0x8
)

// whoAmI gives the user and the logon session of this process.
func whoAmI() (user, logon winacl.SID, err error) {
	t := windows.GetCurrentProcessToken()
	u, err := t.GetTokenUser()
	if err != nil {
		return user, logon, err
	}
	if user, err = fromSID(u.User.Sid); err != nil {
		return user, logon, err
	}
	g, err := t.GetTokenGroups()
	if err != nil {
		return user, logon, err
	}
	for _, a := range g.AllGroups() {
		if a.Attributes&windows.SE_GROUP_LOGON_ID == windows.SE_GROUP_LOGON_ID {
			logon, err = fromSID(a.Sid)
			return user, logon, err
		}
	}
	return user, logon, fmt.Errorf("this process has no logon session")
}

// makeToken makes the token that a wish asks for and reads it back (WIN-04).
func makeToken(w TokenWish) (windows.Token, TokenFacts, error) {
	fail := func(op string, err error) (windows.Token, TokenFacts, error) {
		return 0, TokenFacts{}, fault.Wrap(fault.SandboxUnavailable, op, "", err)
	}
	var self windows.Token
	if err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_DUPLICATE|windows.TOKEN_ASSIGN_PRIMARY|windows.TOKEN_QUERY|windows.TOKEN_ADJUST_DEFAULT|windows.TOKEN_ADJUST_PRIVILEGES, &self); err != nil {
		return fail("open the helper's token", err)
	}
	defer self.Close()
	t, err := restrict(self, w)
	if err != nil {
		return fail("restrict the token", err)
	}
	for _, step := range []func() error{
		func() error { return onlyChangeNotify(t) },
		func() error { return setDefaultDACL(t, w.DefaultDACL()) },
	} {
		if err := step(); err != nil {
			t.Close()
			return fail("prepare the token", err)
		}
	}
	return t, readBack(t, w), nil
}

// restrict calls CreateRestrictedToken. Administrators is named by itself as well:
// LUA_TOKEN is said to do that, and costs nothing when it does.
func restrict(self windows.Token, w TokenWish) (windows.Token, error) {
	flags := uintptr(disableMaxPrivilege | luaToken)
	var list []windows.SIDAndAttributes
	for _, s := range w.Restricting() {
		list = append(list, windows.SIDAndAttributes{Sid: toSID(s)})
	}
	if len(list) > 0 {
		flags |= writeRestricted
	}
	disable := []windows.SIDAndAttributes{{Sid: toSID(winacl.Admins)}}
	for _, s := range w.DenyOnly {
		disable = append(disable, windows.SIDAndAttributes{Sid: toSID(s)})
	}
	var first *windows.SIDAndAttributes
	if len(list) > 0 {
		first = &list[0]
	}
	var out windows.Token
	r, _, err := procCreateRestrictedToken.Call(uintptr(self), flags, uintptr(len(disable)), uintptr(unsafe.Pointer(&disable[0])), 0, 0,
		uintptr(len(list)), uintptr(unsafe.Pointer(first)), uintptr(unsafe.Pointer(&out)))
	runtime.KeepAlive(list)
	runtime.KeepAlive(disable)
	if r == 0 {
		return 0, err
	}
	return out, nil
}

// info reads one class of facts of a token, whatever its size.
func info(t windows.Token, class uint32) ([]byte, error) {
	n := uint32(1024)
	for {
		b := make([]byte, n)
		err := windows.GetTokenInformation(t, class, &b[0], n, &n)
		if err == nil {
			return b, nil
		}
		if err != windows.ERROR_INSUFFICIENT_BUFFER || n <= uint32(len(b)) {
			return nil, err
		}
	}
}

func privileges(t windows.Token) ([]windows.LUIDAndAttributes, error) {
	b, err := info(t, windows.TokenPrivileges)
	if err != nil {
		return nil, err
	}
	return (*windows.Tokenprivileges)(unsafe.Pointer(&b[0])).AllPrivileges(), nil
}

// onlyChangeNotify takes every privilege out for good, and enables the one without
// which no path can be walked.
func onlyChangeNotify(t windows.Token) error {
	list, err := privileges(t)
	if err != nil {
		return err
	}
	for _, p := range list {
		set := windows.Tokenprivileges{PrivilegeCount: 1, Privileges: [1]windows.LUIDAndAttributes{{Luid: p.Luid, Attributes: windows.SE_PRIVILEGE_REMOVED}}}
		if privilegeName(p.Luid) == "SeChangeNotifyPrivilege" {
			set.Privileges[0].Attributes = windows.SE_PRIVILEGE_ENABLED
		}
		if err := windows.AdjustTokenPrivileges(t, false, &set, 0, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

func privilegeName(id windows.LUID) string {
	buf := make([]uint16, 128)
	n := uint32(len(buf))
	r, _, _ := procLookupPrivilegeName.Call(0, uintptr(unsafe.Pointer(&id)), uintptr(unsafe.Pointer(&buf[0])), uintptr(unsafe.Pointer(&n)))
	if r == 0 {
		return fmt.Sprintf("privilege %d", id.LowPart)
	}
	return windows.UTF16ToString(buf[:n])
}

func setDefaultDACL(t windows.Token, l *winacl.ACL) error {
	set := struct{ dacl *windows.ACL }{toACL(l)}
	return windows.SetTokenInformation(t, windows.TokenDefaultDacl, (*byte)(unsafe.Pointer(&set)), uint32(unsafe.Sizeof(set)))
}

// readBack asks the token itself what it is.
func readBack(t windows.Token, w TokenWish) TokenFacts {
	var f TokenFacts
	cannot := func(what string, err error) { f.CouldNot = append(f.CouldNot, "read back "+what+": "+err.Error()) }
	if w.Restriction == WriteRestricted {
		b, err := info(t, windows.TokenRestrictedSids)
		if err != nil {
			cannot("the restricting identifiers", err)
		} else {
			for _, a := range (*windows.Tokengroups)(unsafe.Pointer(&b[0])).AllGroups() {
				if s, err := fromSID(a.Sid); err == nil {
					f.Restricting = append(f.Restricting, s)
				}
			}
		}
		// IsTokenRestricted need not speak of identifiers that count for writing alone.
		yes, _ := t.IsRestricted()
		f.Restricted = yes || len(f.Restricting) > 0
		f.Probe = probe(t, w)
	}
	list, err := privileges(t)
	if err != nil {
		cannot("the privileges", err)
	}
	for _, p := range list {
		if p.Attributes&windows.SE_PRIVILEGE_ENABLED != 0 {
			f.Privileges = append(f.Privileges, privilegeName(p.Luid))
		}
	}
	g, err := t.GetTokenGroups()
	if err != nil {
		cannot("the groups", err)
		return f
	}
	for _, a := range g.AllGroups() {
		s, err := fromSID(a.Sid)
		if err != nil || !counts(a) {
			continue
		}
		f.Admins = f.Admins || s == winacl.Admins
		if slices.Contains(w.DenyOnly, s) {
			f.Counting = append(f.Counting, s)
		}
	}
	return f
}

// probe lets the system's own access check judge the token on lists of ours.
func probe(t windows.Token, w TokenWish) ProbeResult {
	var imp windows.Token
	if windows.DuplicateTokenEx(t, windows.TOKEN_QUERY|windows.TOKEN_IMPERSONATE, nil, windows.SecurityIdentification, windows.TokenImpersonation, &imp) != nil {
		return ProbeResult{}
	}
	defer imp.Close()
	full := winacl.File.All
	mine := &winacl.Descriptor{Owner: w.User, Group: w.User, DACL: &winacl.ACL{Entries: []winacl.ACE{{Mask: full, SID: w.User}}}}
	open := &winacl.Descriptor{Owner: w.User, Group: w.User, DACL: mine.DACL.With(winacl.ACE{Mask: allowBelow, SID: w.Caps[0]})}
	deniesMeta := true
	for _, m := range []winacl.Mask{winacl.Delete, winacl.WriteDAC, winacl.WriteOwner, winacl.DeleteChild} {
		ok, err := accessCheck(mine, imp, m)
		if err != nil {
			return ProbeResult{}
		}
		deniesMeta = deniesMeta && !ok
	}
	data, e1 := accessCheck(mine, imp, winacl.WriteData)
	own, e2 := accessCheck(open, imp, winacl.WriteData|winacl.Delete)
	read, e3 := accessCheck(mine, imp, winacl.File.Read)
	if e1 != nil || e2 != nil || e3 != nil {
		return ProbeResult{}
	}
	return ProbeResult{Done: true, DeniesData: !data, DeniesMeta: deniesMeta, AllowsOwn: own, AllowsReads: read}
}

// accessCheck asks Windows whether a token gets all of a mask (AccessCheck, MSDN).
func accessCheck(d *winacl.Descriptor, t windows.Token, want winacl.Mask) (bool, error) {
	sd := d.Encode()
	mapping := winacl.File
	var set [256]byte
	size, granted, status := uint32(len(set)), uint32(0), uint32(0)
	r, _, err := procAccessCheck.Call(uintptr(unsafe.Pointer(&sd[0])), uintptr(t), uintptr(want), uintptr(unsafe.Pointer(&mapping)),
		uintptr(unsafe.Pointer(&set[0])), uintptr(unsafe.Pointer(&size)), uintptr(unsafe.Pointer(&granted)), uintptr(unsafe.Pointer(&status)))
	if r == 0 {
		return false, err
	}
	return status != 0, nil
}
