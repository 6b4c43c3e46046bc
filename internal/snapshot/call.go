package snapshot

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/host"
)

// Program is the name of the program that knows SQLite.
const Program = "qsandbox-store"

// callLimit bounds one call; waiting for another program's lock is bounded below that.
const callLimit = 60 * time.Second

// Call asks qsandbox-store, which lies next to this program.
//
// SECURITY: it is not looked for in PATH, which may name a directory of the workspace,
// and gets no environment.
func Call(ctx context.Context, h host.Host, req Request) (Response, error) {
	program, err := find(h)
	if err != nil {
		return Response{}, err
	}
	input, err := json.Marshal(req)
	if err != nil {
		return Response{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, program)
	cmd.Env = []string{}
	if root := h.Getenv("SystemRoot"); root != "" { // Windows programs do not start without
		cmd.Env = append(cmd.Env, "SystemRoot="+root)
	}
	var out, said bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(input), &out, &said
	if err := cmd.Run(); err != nil {
		if said.Len() > 0 {
			err = errors.Join(err, errors.New(said.String()[:min(said.Len(), 2000)]))
		}
		return Response{}, fault.Wrap(fault.StoreFailed, "run", program, err).WithHint("the store was not asked; nothing was run")
	}
	var resp Response
	if err := json.Unmarshal(out.Bytes(), &resp); err != nil {
		return Response{}, fault.Wrap(fault.StoreFailed, "read the answer of", program, err).WithHint("is it of the same version as this program?")
	}
	return resp, resp.Error.Err()
}

// find looks for the program next to this one, also behind a link to this one.
func find(h host.Host) (string, error) {
	name := Program
	if h.GOOS == "windows" {
		name += ".exe"
	}
	self, err := os.Executable()
	if err != nil {
		return "", fault.Wrap(fault.StoreFailed, "find", name, err)
	}
	at := filepath.Join(filepath.Dir(self), name)
	if !h.Exists(at) {
		if real, err := h.RealPath(self); err == nil {
			at = filepath.Join(filepath.Dir(real), name)
		}
	}
	if !h.Exists(at) {
		return "", fault.New(fault.StoreFailed, "find", at, "the program that reads the stored policy is not next to this one: make build makes both; in the sources, go build -o "+
			filepath.Dir(at)+string(filepath.Separator)+" ./cmd/qsandbox-store adds it, go install ./cmd/qsandbox ./cmd/qsandbox-store installs both")
	}
	return at, nil
}
