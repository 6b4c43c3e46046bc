package winsandbox

import (
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/fault"
)

const attributeJobList = 0x2000D // PROC_THREAD_ATTRIBUTE_JOB_LIST (winbase.h)

var procUpdateAttribute = windows.NewLazySystemDLL("kernel32.dll").NewProc("UpdateProcThreadAttribute")

// start is all that a process is started with.
type start struct {
	program string
	line    string
	env     []string
	cwd     string
	token   windows.Token
	job     windows.Handle
	desktop string
	std     [3]*os.File    // the child's ends; nil with a console
	console windows.Handle // pseudo console, or 0
}

// spawn starts the process: in the job from its first moment, on its own desktop,
// with no handle but its three streams (WIN-10, VAR-03).
func spawn(s start) (windows.Handle, int, error) {
	attrs, err := windows.NewProcThreadAttributeList(3)
	if err != nil {
		return 0, 0, launch("prepare", s.program, err)
	}
	defer attrs.Delete()
	var si windows.StartupInfoEx
	si.Cb = uint32(unsafe.Sizeof(si))
	if err := attrs.Update(attributeJobList, unsafe.Pointer(&s.job), unsafe.Sizeof(s.job)); err != nil {
		return 0, 0, launch("put into a job", s.program, err)
	}
	var handles []windows.Handle
	if s.console != 0 {
		// By value: the handle itself is the attribute.
		r, _, err := procUpdateAttribute.Call(uintptr(unsafe.Pointer(attrs.List())), 0, windows.PROC_THREAD_ATTRIBUTE_PSEUDOCONSOLE, uintptr(s.console), unsafe.Sizeof(s.console), 0, 0)
		if r == 0 {
			return 0, 0, launch("give a console to", s.program, err)
		}
	} else {
		if handles, err = inheritable(s.std); err != nil {
			return 0, 0, launch("pass the streams to", s.program, err)
		}
		defer func() {
			for _, h := range handles {
				windows.CloseHandle(h)
			}
		}()
		if err := attrs.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(&handles[0]), uintptr(len(handles))*unsafe.Sizeof(handles[0])); err != nil {
			return 0, 0, launch("pass the streams to", s.program, err)
		}
		si.Flags = windows.STARTF_USESTDHANDLES
		si.StdInput, si.StdOutput, si.StdErr = handles[0], handles[1], handles[2]
	}
	si.ProcThreadAttributeList = attrs.List()
	pi, err := create(s, &si)
	runtime.KeepAlive(handles)
	if err != nil {
		return 0, 0, err
	}
	windows.CloseHandle(pi.Thread)
	return pi.Process, int(pi.ProcessId), nil
}

func create(s start, si *windows.StartupInfoEx) (windows.ProcessInformation, error) {
	var pi windows.ProcessInformation
	var ptrs [4]*uint16
	for i, text := range []string{s.program, s.line, s.cwd, s.desktop} {
		p, err := windows.UTF16PtrFromString(text)
		if err != nil {
			return pi, launch("start", s.program, err)
		}
		ptrs[i] = p
	}
	si.Desktop = ptrs[3]
	block := envBlock(s.env)
	err := windows.CreateProcessAsUser(s.token, ptrs[0], ptrs[1], nil, nil, s.console == 0,
		windows.CREATE_UNICODE_ENVIRONMENT|windows.EXTENDED_STARTUPINFO_PRESENT|windows.CREATE_NEW_PROCESS_GROUP, &block[0], ptrs[2], &si.StartupInfo, &pi)
	switch err {
	case nil:
		return pi, nil
	case windows.ERROR_FILE_NOT_FOUND, windows.ERROR_PATH_NOT_FOUND:
		return pi, fault.Wrap(fault.CommandNotFound, "execute", s.program, err)
	case windows.ERROR_BAD_EXE_FORMAT, windows.ERROR_EXE_MACHINE_TYPE_MISMATCH, windows.ERROR_ACCESS_DENIED:
		return pi, fault.Wrap(fault.CommandNotExecutable, "execute", s.program, err)
	case windows.ERROR_ELEVATION_REQUIRED:
		return pi, fault.Wrap(fault.CommandNotExecutable, "execute", s.program, err).WithHint("it asks for administrator rights, or Windows takes its name for an installer's")
	}
	return pi, launch("start", s.program, err)
}

func launch(op, program string, err error) error {
	return fault.Wrap(fault.LaunchFailed, op, program, err)
}

// inheritable makes copies of the child's ends that it may inherit; ours stay private.
func inheritable(std [3]*os.File) ([]windows.Handle, error) {
	var out []windows.Handle
	for _, f := range std {
		var h windows.Handle
		if err := windows.DuplicateHandle(windows.CurrentProcess(), windows.Handle(f.Fd()), windows.CurrentProcess(), &h, 0, true, windows.DUPLICATE_SAME_ACCESS); err != nil {
			for _, o := range out {
				windows.CloseHandle(o)
			}
			return nil, err
		}
		out = append(out, h)
	}
	return out, nil
}

// envBlock is the form that CreateProcess takes: each ends with a NUL, and so does all.
// Values that are no valid Unicode pass as they came.
func envBlock(env []string) []uint16 {
	var b []uint16
	for _, kv := range env {
		if u, err := windows.UTF16FromString(kv); err == nil { // Environment has left out those with a NUL
			b = append(b, u...)
		}
	}
	if len(b) == 0 {
		b = append(b, 0)
	}
	return append(b, 0)
}
