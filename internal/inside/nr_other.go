//go:build !linux

package inside

// sysSendmsg only gives the golden tests of other systems a number (that of Linux on amd64).
const sysSendmsg = 46
