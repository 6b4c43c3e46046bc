package winsandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// fromSID reads an identifier that Windows gave.
func fromSID(s *windows.SID) (winacl.SID, error) {
	if s == nil || !s.IsValid() {
		return winacl.SID{}, fmt.Errorf("an identifier that is not valid")
	}
	return winacl.DecodeSID(unsafe.Slice((*byte)(unsafe.Pointer(s)), windows.GetLengthSid(s)))
}

// toSID gives the form that Windows takes. It points into Go's memory.
func toSID(s winacl.SID) *windows.SID {
	b := s.Bytes()
	return (*windows.SID)(unsafe.Pointer(&b[0]))
}

func toACL(l *winacl.ACL) *windows.ACL {
	if l == nil {
		return nil
	}
	b := l.Encode()
	return (*windows.ACL)(unsafe.Pointer(&b[0]))
}

// securityAttributes carry a descriptor for an object that we make.
func securityAttributes(l *winacl.ACL) *windows.SecurityAttributes {
	b := (&winacl.Descriptor{DACL: l}).Encode()
	return &windows.SecurityAttributes{
		Length: uint32(unsafe.Sizeof(windows.SecurityAttributes{})), SecurityDescriptor: (*windows.SECURITY_DESCRIPTOR)(unsafe.Pointer(&b[0])),
	}
}
