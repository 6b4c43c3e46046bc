package winsandbox

import (
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// cpuRate is JOBOBJECT_CPU_RATE_CONTROL_INFORMATION with a hard cap (winnt.h).
type cpuRate struct{ flags, rate uint32 }

// makeJob makes the job in which everything of the run lives: it ends with the last
// handle, which is the helper's, however the helper ends (WIN-10).
func makeJob(r Request, cores int) (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fault.Wrap(fault.LaunchFailed, "make a job", "", err)
	}
	var l windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	l.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if r.Processes > 0 {
		l.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS
		l.BasicLimitInformation.ActiveProcessLimit = uint32(r.Processes)
	}
	if r.Memory > 0 {
		l.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_JOB_MEMORY
		l.JobMemoryLimit = uintptr(r.Memory)
	}
	ui := windows.JOBOBJECT_BASIC_UI_RESTRICTIONS{UIRestrictionsClass: windows.JOB_OBJECT_UILIMIT_HANDLES | windows.JOB_OBJECT_UILIMIT_DESKTOP | windows.JOB_OBJECT_UILIMIT_EXITWINDOWS |
		windows.JOB_OBJECT_UILIMIT_DISPLAYSETTINGS | windows.JOB_OBJECT_UILIMIT_SYSTEMPARAMETERS | windows.JOB_OBJECT_UILIMIT_GLOBALATOMS |
		windows.JOB_OBJECT_UILIMIT_READCLIPBOARD | windows.JOB_OBJECT_UILIMIT_WRITECLIPBOARD}
	set := func(class uint32, p unsafe.Pointer, size uintptr) {
		if err == nil {
			_, err = windows.SetInformationJobObject(job, class, uintptr(p), uint32(size))
		}
	}
	set(windows.JobObjectExtendedLimitInformation, unsafe.Pointer(&l), unsafe.Sizeof(l))
	set(windows.JobObjectBasicUIRestrictions, unsafe.Pointer(&ui), unsafe.Sizeof(ui))
	if r.CPUs > 0 && r.CPUs < float64(cores) {
		c := cpuRate{0x1 | 0x4, uint32(max(1, r.CPUs/float64(cores)*10000))} // ENABLE | HARD_CAP
		set(windows.JobObjectCpuRateControlInformation, unsafe.Pointer(&c), unsafe.Sizeof(c))
	}
	if err != nil {
		windows.CloseHandle(job)
		return 0, fault.Wrap(fault.LaunchFailed, "limit the job", "", err)
	}
	return job, nil
}
