package backendtest

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// listen gives a port of the host's loopback that accepts everybody.
func listen(t *testing.T, network, address string) net.Listener {
	t.Helper()
	l, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			fmt.Fprintln(c, "served")
			c.Close()
		}
	}()
	return l
}

const connect = `import socket,sys
a = sys.argv[1]
if a[0] in "/@":
    s = socket.socket(socket.AF_UNIX); s.connect("\0" + a[1:] if a[0] == "@" else a)
else:
    h, p = a.rsplit(":", 1); s = socket.create_connection((h, int(p)), 3)
assert s.recv(6) == b"served"
`

// TestNetwork: NET-01, services of the host, by the host's addresses.
func TestNetwork(t *testing.T) {
	NeedProgram(t, "python3")
	addr := listen(t, "tcp", "127.0.0.1:0").Addr().String()
	dial := Call{Command: []string{"/usr/bin/python3", "-c", connect, addr}}
	None.Must(t, NewPlace(t), dial)
	each(t, setups, func(t *testing.T, s Setup) {
		off, on := dial, dial
		on.Policy.Network = policy.NetworkOn
		s.MustFail(t, NewPlace(t), off)
		s.Must(t, NewPlace(t), on)
	})
}

// TestSocketsOfTheHost: LNX-07, those that exist at the start.
func TestSocketsOfTheHost(t *testing.T) {
	NeedProgram(t, "python3")
	for _, mode := range []policy.NetworkMode{policy.NetworkOff, policy.NetworkOn} {
		t.Run("network "+mode.String(), func(t *testing.T) {
			each(t, setups, func(t *testing.T, s Setup) {
				p := NewPlace(t)
				inWS, out := filepath.Join(p.WS, "s"), filepath.Join(p.Out, "s")
				abstract := "@qsandbox-test-" + filepath.Base(p.Root)
				for _, a := range []string{inWS, out, abstract} {
					listen(t, "unix", a)
					call := Call{Command: []string{"/usr/bin/python3", "-c", connect, a}, Policy: Policy{Network: mode}}
					None.Must(t, p, call)
					s.MustFail(t, p, call)
				}
				for _, a := range []string{inWS, out} {
					s.Must(t, p, Call{Command: []string{"/usr/bin/python3", "-c", connect, a}, Policy: Policy{Network: mode, Sockets: []string{a}}})
				}
			})
		})
	}
}

// TestNamespaces: LNX-01, each kind is another one than the host's.
func TestNamespaces(t *testing.T) {
	kinds := []string{"user", "mnt", "pid", "uts", "ipc", "cgroup", "net"}
	each(t, everywhere(), func(t *testing.T, s Setup) {
		for _, on := range []policy.NetworkMode{policy.NetworkOff, policy.NetworkOn} {
			out := s.Must(t, NewPlace(t), Call{Script: `for n in ` + strings.Join(kinds, " ") + `; do readlink /proc/self/ns/$n; done`, Policy: Policy{Network: on}})
			for i, ns := range strings.Fields(out) {
				host, err := os.Readlink("/proc/self/ns/" + kinds[i])
				if err != nil {
					t.Fatal(err)
				}
				isolated := s.Backend != policy.None && s.Mode != policy.Permissive
				shared := kinds[i] == "net" && on == policy.NetworkOn
				// In permissive bwrap itself still makes a mount namespace, and for a user a user namespace.
				mayShare := !isolated && s.Backend == policy.LinuxBwrap && (kinds[i] == "mnt" || kinds[i] == "user")
				if want := isolated && !shared; (ns != host) != want && !mayShare {
					t.Errorf("network %v: %s namespace is its own: %v, want %v", on, kinds[i], ns != host, want)
				}
			}
		}
	})
}

// TestMountOfTheHostDoesNotAppear: LNX-11, a mount made during the run.
func TestMountOfTheHostDoesNotAppear(t *testing.T) {
	NeedRoot(t)
	for _, s := range setups {
		t.Run(s.String(), func(t *testing.T) {
			NeedBackend(t, s.Backend)
			p := NewPlace(t)
			if err := unix.Mount(p.WS, p.WS, "", unix.MS_BIND, ""); err != nil {
				t.Skipf("cannot mount here: %v", err)
			}
			t.Cleanup(func() { _ = unix.Unmount(p.WS, unix.MNT_DETACH) })
			if err := unix.Mount("", p.WS, "", unix.MS_SHARED, ""); err != nil {
				t.Fatal(err)
			}
			mounted := false
			started := func(*qsandbox.Session) {
				mounted = unix.Mount("tmpfs", p.WS+"/sub", "tmpfs", 0, "") == nil
				_ = os.WriteFile(p.WS+"/sub/appeared", nil, 0o644)
				_ = os.WriteFile(p.WS+"/go", nil, 0o644)
			}
			r := s.Run(t, p, Call{Started: started, Script: `while [ ! -e go ]; do sleep .01; done; [ ! -e sub/appeared ] && [ -e sub/deep ]`})
			_ = unix.Unmount(p.WS+"/sub", unix.MNT_DETACH)
			if !mounted || !r.OK() {
				t.Errorf("mounted: %v\n%s", mounted, r.Describe())
			}
		})
	}
}

// TestInheritedDescriptors: VAR-03, PROC-01, what the launcher has open without
// close-on-exec, as its parent may have left it.
func TestInheritedDescriptors(t *testing.T) {
	p := NewPlace(t)
	fd, err := unix.Open(p.Out+"/secret.txt", unix.O_RDWR, 0) // not close-on-exec
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(dup)
	if os.Geteuid() == 0 && fd < 3 {
		t.Fatal("INVALID")
	}
	for _, s := range everywhere() {
		t.Run(s.String(), func(t *testing.T) {
			NeedBackend(t, s.Backend)
			if why := s.Unusable(); why != "" {
				t.Skip(why)
			}
			got := s.Must(t, NewPlace(t), Call{Command: []string{"/bin/sh", "-c", `cd /proc/self/fd && echo *; for p in /proc/1/fd/* ; do readlink $p; done 2>/dev/null; true`}})
			fields := strings.Fields(got)
			for _, f := range fields {
				if strings.Contains(f, "secret.txt") || len(f) > 1 && f[0] >= '0' && f[0] <= '9' {
					t.Errorf("descriptors: %q", got)
				}
			}
		})
	}
}

// TestManyPoliciesAtOnce: PROC-05, no global state.
func TestManyPoliciesAtOnce(t *testing.T) {
	const n = 24
	places := make([]*Place, n)
	for i := range places {
		places[i] = NewPlace(t)
	}
	fail := make(chan string, n)
	for i := range n {
		go func() {
			p, other := places[i], places[(i+1)%n]
			s := both[i%2]
			r := s.Run(t, p, Call{Context: context.Background(), Env: map[string]string{"N": fmt.Sprint(i)}, Policy: Policy{Set: map[string]string{"M": fmt.Sprint(i)}, DenyRead: []string{other.WS + "/own.txt"}},
				Script: fmt.Sprintf(`echo x > own%d && [ "$N$M" = %d%d ] && ! cat %s/own.txt && ! echo x > %s/x`, i, i, i, other.WS, other.WS)})
			if !r.OK() {
				fail <- r.Describe()
				return
			}
			fail <- ""
		}()
	}
	for range n {
		if why := <-fail; why != "" {
			t.Error(why)
		}
	}
}

// TestWorkspaceOfAnotherOwner: LNX-08, as root.
func TestWorkspaceOfAnotherOwner(t *testing.T) {
	NeedRoot(t)
	uid, gid := ordinaryUser(t)
	each(t, setups, func(t *testing.T, s Setup) {
		p := NewPlace(t)
		for _, f := range []string{p.WS, p.WS + "/own.txt", p.WS + "/sub"} {
			if err := os.Chown(f, uid, gid); err != nil {
				t.Fatal(err)
			}
		}
		if r := s.Run(t, p, Call{Script: "true"}); r.Err == nil || !strings.Contains(r.Err.Error(), "--user "+UserName) {
			t.Errorf("root on somebody else's workspace must be told to use --user: %v", r.Err)
		}
		out := s.Must(t, p, Call{User: UserName, Script: `id -u; id -g; id -G; echo x > own.txt; touch new; ! cat /etc/shadow; ! touch /etc/x; grep -E '^Cap(Eff|Prm|Bnd)' /proc/self/status | grep -vc 0000000000000000; true`})
		if want := fmt.Sprintf("%d\n%d\n%d\n0\n", uid, gid, gid); out != want {
			t.Errorf("ids and capabilities: %q, want %q", out, want)
		}
	})
}
