package inside

import "golang.org/x/sys/unix"

const sysSendmsg = unix.SYS_SENDMSG
