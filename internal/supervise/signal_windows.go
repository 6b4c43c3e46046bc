package supervise

import "syscall"

func sigName(syscall.Signal) string { return "" }
