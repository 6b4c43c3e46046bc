package probe

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// sock makes a probe of one kind of socket.
func sock(name, what string, family, typ, proto int) attempt {
	return attempt{name: "socket-" + name, what: what, do: func([]string) error {
		fd, err := unix.Socket(family, typ|unix.SOCK_CLOEXEC, proto)
		if err == nil {
			unix.Close(fd)
		}
		return err
	}}
}

// loaded tells whether the kernel has a kind of socket already.
//
// SECURITY: asking for a socket of a kind that it has not makes a kernel load the
// module for it, on the real machine and for anybody. So a case asks this first; it
// only reads. What cannot be told counts as there, so that no attempt is left out.
func loaded(a []string) error {
	file, column, word := "/proc/net/protocols", 0, protocols[a[0]]
	if n, ok := netlinks[a[0]]; ok {
		file, column, word = "/proc/net/netlink", 1, strconv.Itoa(n)
	}
	if word == "" {
		return fmt.Errorf("%q is no kind of socket that comes with a module", a[0])
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(data)) {
		if f := strings.Fields(line); len(f) > column && (f[column] == word || word == "CAN" && strings.HasPrefix(f[0], "CAN_")) {
			return nil
		}
	}
	return errors.New("the kernel has it not loaded")
}

// protocols are names in /proc/net/protocols: of struct proto in net/*/af_*.c.
var protocols = map[string]string{
	"alg": "ALG", "vsock": "AF_VSOCK", "key": "KEY", "bluetooth": "HCI", "can": "CAN", "tipc": "TIPC", "rds": "RDS", "xdp": "XDP",
	"llc": "LLC", "smc": "SMC", "qipcrtr": "QIPCRTR", "packet": "PACKET",
}

// netlinks are numbers of netlink(7). The kernel's own socket of each is in /proc/net/netlink.
var netlinks = map[string]int{
	"netlink-audit": unix.NETLINK_AUDIT, "netlink-netfilter": unix.NETLINK_NETFILTER, "netlink-diag": unix.NETLINK_SOCK_DIAG,
	"netlink-xfrm": unix.NETLINK_XFRM, "netlink-crypto": unix.NETLINK_CRYPTO,
}

// sockets are kinds of sockets, and servers of the host that say "served".
func sockets() []attempt {
	return []attempt{
		sock("inet", "TCP", unix.AF_INET, unix.SOCK_STREAM, 0),
		sock("unix", "local", unix.AF_UNIX, unix.SOCK_STREAM, 0),
		sock("raw", "raw ICMP", unix.AF_INET, unix.SOCK_RAW, unix.IPPROTO_ICMP),
		sock("packet", "the wire itself", unix.AF_PACKET, unix.SOCK_RAW, 0),
		sock("alg", "the kernel's crypto", unix.AF_ALG, unix.SOCK_SEQPACKET, 0),
		sock("vsock", "the hypervisor", unix.AF_VSOCK, unix.SOCK_STREAM, 0),
		sock("key", "IPsec keys", unix.AF_KEY, unix.SOCK_RAW, 2),
		sock("bluetooth", "bluetooth", unix.AF_BLUETOOTH, unix.SOCK_RAW, 1),
		sock("can", "CAN bus", unix.AF_CAN, unix.SOCK_RAW, 1),
		sock("tipc", "TIPC", unix.AF_TIPC, unix.SOCK_STREAM, 0),
		sock("rds", "RDS", unix.AF_RDS, unix.SOCK_SEQPACKET, 0),
		sock("xdp", "XDP", unix.AF_XDP, unix.SOCK_RAW, 0),
		sock("llc", "LLC", unix.AF_LLC, unix.SOCK_STREAM, 0),
		sock("smc", "SMC", 43, unix.SOCK_STREAM, 0),
		sock("qipcrtr", "Qualcomm IPC", 42, unix.SOCK_DGRAM, 0),
		sock("netlink-route", "interfaces", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE),
		sock("netlink-audit", "the audit log", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT),
		sock("netlink-netfilter", "the firewall", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER),
		sock("netlink-uevent", "device events", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT),
		sock("netlink-diag", "other people's sockets", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_SOCK_DIAG),
		sock("netlink-xfrm", "IPsec policy", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_XFRM),
		sock("netlink-generic", "generic netlink", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_GENERIC),
		sock("netlink-crypto", "crypto configuration", unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_CRYPTO),
		{"loaded", "KIND", "whether the kernel has a kind of socket; it only reads", loaded},
		{"route-udp", "ADDRESS", "whether datagrams have a way, host:port; none is sent", func(a []string) error {
			c, err := net.DialTimeout("udp", a[0], 2*time.Second)
			if err == nil {
				c.Close()
			}
			return err
		}},
		{"connect-unix", "PATH", "a server on a socket file", func(a []string) error { return served("unix", a[0]) }},
		{"connect-abstract", "NAME", "a server on an abstract socket", func(a []string) error { return served("unix", "@"+a[0]) }},
		{"connect-tcp", "ADDRESS", "a server on TCP, host:port", func(a []string) error { return served("tcp", a[0]) }},
		{"send-udp", "ADDRESS", "a datagram, host:port", func(a []string) error {
			c, err := net.DialTimeout("udp", a[0], 2*time.Second)
			if err != nil {
				return err
			}
			_, err = c.Write([]byte("x"))
			return err
		}},
		{"listen-tcp", "ADDRESS", "a server of one's own, which answers the probe itself", func(a []string) error {
			l, err := net.Listen("tcp", a[0])
			if err != nil {
				return err
			}
			go func() {
				if c, err := l.Accept(); err == nil {
					_, _ = c.Write([]byte("served\n"))
					c.Close()
				}
			}()
			return served("tcp", l.Addr().String())
		}},
	}
}

func served(network, address string) error {
	c, err := net.DialTimeout(network, address, 2*time.Second)
	if err != nil {
		return err
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(2 * time.Second))
	line, err := bufio.NewReader(c).ReadString('\n')
	if err == nil && line != "served\n" {
		err = errors.New("the server is another one")
	}
	return err
}
