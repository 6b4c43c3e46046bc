package probe

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// protocols are the names that kinds of sockets have in /proc/net/protocols.
func protocols() map[string]string {
	return map[string]string{
		"alg": "ALG", "vsock": "AF_VSOCK", "key": "KEY", "packet": "PACKET", "bluetooth": "HCI", "can": "CAN_RAW", "tipc": "TIPC", "rds": "RDS",
		"xdp": "XDP", "llc": "LLC", "smc": "SMC", "qipcrtr": "QIPCRTR",
	}
}

// netlinks are the numbers that kinds of netlink sockets have in /proc/net/netlink,
// where the kernel's own end is listed once there is one.
func netlinks() map[string]int {
	return map[string]int{
		"netlink-route": unix.NETLINK_ROUTE, "netlink-audit": unix.NETLINK_AUDIT, "netlink-netfilter": unix.NETLINK_NETFILTER,
		"netlink-uevent": unix.NETLINK_KOBJECT_UEVENT, "netlink-diag": unix.NETLINK_SOCK_DIAG, "netlink-xfrm": unix.NETLINK_XFRM,
		"netlink-generic": unix.NETLINK_GENERIC, "netlink-crypto": unix.NETLINK_CRYPTO,
	}
}

// registered tells whether a socket can be asked for without the kernel looking for
// a module. It only reads.
func registered(kind string) error {
	file, column, want := "/proc/net/protocols", 0, protocols()[kind]
	if n, ok := netlinks()[kind]; ok {
		file, column, want = "/proc/net/netlink", 1, fmt.Sprint(n)
	}
	if want == "" {
		return fmt.Errorf("%q is no kind of socket that may be a module", kind)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > column && f[column] == want {
			return nil
		}
	}
	return fmt.Errorf("the kernel has no %q loaded", kind)
}
