package probe

import (
	"bufio"
	"errors"
	"net"
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
		{"connect-unix", "PATH", "a server on a socket file", func(a []string) error { return served("unix", a[0]) }},
		{"connect-abstract", "NAME", "a server on an abstract socket", func(a []string) error { return served("unix", "@"+a[0]) }},
		{"connect-tcp", "ADDRESS", "a server on TCP, host:port", func(a []string) error { return served("tcp", a[0]) }},
		{"route-udp", "ADDRESS", "a way to host:port; nothing is sent", func(a []string) error {
			c, err := net.DialTimeout("udp", a[0], 2*time.Second)
			if err != nil {
				return err
			}
			return c.Close()
		}},
		{"registered", "KIND", "does the kernel have this kind of socket loaded; nothing is tried", func(a []string) error { return registered(a[0]) }},
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
