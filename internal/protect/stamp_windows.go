package protect

import (
	"io/fs"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// stampOf gives the state of an entry: which file it is, and when it was last changed
// in any way (ChangeTime of FILE_BASIC_INFO). A listing has neither, so it is opened.
//
// SECURITY: a program can set ChangeTime, unlike ctime elsewhere. What is known is
// told by which file it is; the time alone decides only where Scan did not look.
func stampOf(path string, fi fs.FileInfo) Stamp {
	s := Stamp{Size: fi.Size(), Type: uint32(fi.Mode().Type()), Changed: time.Now().UnixNano()} // when it cannot be opened: like no other
	h, err := openEntry(path, windows.FILE_READ_ATTRIBUTES)
	if err != nil {
		return s
	}
	defer windows.CloseHandle(h)
	var id windows.ByHandleFileInformation
	var basic struct {
		created, accessed, written, changed int64
		attributes                          uint32
		_                                   uint32
	}
	if windows.GetFileInformationByHandle(h, &id) != nil ||
		windows.GetFileInformationByHandleEx(h, windows.FileBasicInfo, (*byte)(unsafe.Pointer(&basic)), uint32(unsafe.Sizeof(basic))) != nil {
		return s
	}
	changed := windows.Filetime{LowDateTime: uint32(basic.changed), HighDateTime: uint32(basic.changed >> 32)}
	s.Dev, s.Ino = uint64(id.VolumeSerialNumber), uint64(id.FileIndexHigh)<<32|uint64(id.FileIndexLow)
	s.Changed = changed.Nanoseconds()
	return s
}

// linksOf is not known here.
func linksOf(fs.FileInfo) uint64 { return 0 }

// now reads the clock that files are stamped with. It ticks up to 16 ms behind.
func now() int64 { return time.Now().Add(-20 * time.Millisecond).UnixNano() }
