package bwrap

import (
	"syscall"
	"testing"
)

// TestShortageIsNotANo: what the machine has too little of now must never count
// as "cannot build a sandbox here" (POL-05), in libc's words or in Go's.
func TestShortageIsNotANo(t *testing.T) {
	for _, text := range []string{
		"bwrap: Creating new namespace failed: Resource temporarily unavailable",
		"bwrap: Can't open: Too many open files",
		"open descriptors: " + syscall.EMFILE.Error(), "fork: " + syscall.EAGAIN.Error(),
		"memfd: " + syscall.ENOMEM.Error(), "mkdir: " + syscall.ENOSPC.Error(), "pipe: " + syscall.ENFILE.Error(),
	} {
		if !shortage(text) {
			t.Errorf("%q counts as a firm no", text)
		}
	}
	if shortage("bwrap: setting up uid map: Permission denied") {
		t.Error("a refusal counts as a shortage")
	}
}
