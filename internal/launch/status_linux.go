package launch

import (
	"io"
	"os"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox/internal/inside"
)

// receive reads one status message, the sender's process id as we see it, and a
// descriptor if one came along (-1 if not).
func receive(f *os.File) (m inside.Message, pid, fd int, err error) {
	raw, err := f.SyscallConn()
	if err != nil {
		return m, 0, -1, err
	}
	var buf [inside.MaxMessage]byte
	var oob [256]byte
	var n, oobn int
	var rerr error
	err = raw.Read(func(s uintptr) bool {
		n, oobn, _, _, rerr = unix.Recvmsg(int(s), buf[:], oob[:], unix.MSG_CMSG_CLOEXEC)
		return rerr != unix.EAGAIN
	})
	if err == nil {
		err = rerr
	}
	if err != nil {
		return m, 0, -1, err
	}
	if n == 0 {
		return m, 0, -1, io.EOF
	}
	pid, fd = ancillary(oob[:oobn])
	m, err = inside.Decode(buf[:n])
	return m, pid, fd, err
}

func ancillary(oob []byte) (pid, fd int) {
	fd = -1
	list, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return 0, -1
	}
	for _, c := range list {
		if cred, err := unix.ParseUnixCredentials(&c); err == nil {
			pid = int(cred.Pid)
			continue
		}
		if fds, err := unix.ParseUnixRights(&c); err == nil && len(fds) > 0 {
			fd = fds[0]
		}
	}
	return pid, fd
}
