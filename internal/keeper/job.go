//go:build darwin || linux

package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"
)

// Job is what a keeper starts. Texts are bytes: a name need not be UTF-8.
type Job struct {
	Path    []byte   // program to execute
	Argv    [][]byte // with its name
	Env     [][]byte // exact
	Dir     []byte
	TTY     bool   // 0, 1 and 2 are the terminal, which becomes the controlling one
	Wrapper string // name of the process image that applies a sandbox and then executes the command; "" for none
}

// event is one line of status.
type event struct {
	Kind   string // started, failed, exited
	PID    int    `json:",omitempty"`
	Errno  int    `json:",omitempty"` // failed
	Step   string `json:",omitempty"` // failed
	Status int    `json:",omitempty"` // exited: as wait4 gave it
	MaxRSS int64  `json:",omitempty"` // KiB
	User   int64  `json:",omitempty"` // microseconds
	System int64  `json:",omitempty"`
}

const (
	evStarted = "started"
	evFailed  = "failed"
	evExited  = "exited"
)

// Failure is a step of the start that did not work.
type Failure struct {
	Step string
	Err  error // a syscall.Errno, or nil when only the wrapper's words tell why
}

// Error names the step.
func (f *Failure) Error() string {
	if f.Err == nil {
		return f.Step
	}
	return fmt.Sprintf("%s: %v", f.Step, f.Err)
}

// Unwrap gives the errno.
func (f *Failure) Unwrap() error { return f.Err }

func (e event) failure() error {
	f := &Failure{Step: e.Step}
	if e.Errno != 0 {
		f.Err = syscall.Errno(e.Errno)
	}
	return f
}

func failedAt(step string, err error) event {
	e := event{Kind: evFailed, Step: step}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		e.Errno = int(errno)
	} else if err != nil {
		e.Step += ": " + err.Error()
	}
	return e
}

// maxJob bounds a job: arguments and environment together are bounded by the kernel.
const maxJob = 64 << 20

func readJob(r io.Reader) (j Job, err error) {
	data, err := io.ReadAll(io.LimitReader(r, maxJob))
	if err != nil {
		return j, err
	}
	return j, json.Unmarshal(data, &j)
}

// Bytes turns texts into what a Job holds.
func Bytes(list []string) [][]byte {
	out := make([][]byte, len(list))
	for i, s := range list {
		out[i] = []byte(s)
	}
	return out
}

func texts(list [][]byte) []string {
	out := make([]string, len(list))
	for i, b := range list {
		out[i] = string(b)
	}
	return out
}
