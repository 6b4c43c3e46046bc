package probe

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

var kinds = map[string]uintptr{
	"user": unix.CLONE_NEWUSER, "mnt": unix.CLONE_NEWNS, "pid": unix.CLONE_NEWPID, "net": unix.CLONE_NEWNET, "uts": unix.CLONE_NEWUTS,
	"ipc": unix.CLONE_NEWIPC, "cgroup": unix.CLONE_NEWCGROUP, "time": unix.CLONE_NEWTIME,
}

// namespaces are made in a child that ends at once.
func namespaces() []attempt {
	return []attempt{
		{"unshare", "KINDS", "new namespaces by unshare, such as user,mnt", func(a []string) error { return spawn(a[0], true) }},
		{"clone", "KINDS", "new namespaces by clone", func(a []string) error { return spawn(a[0], false) }},
		{"setns", "PID KIND", "join a namespace of a process, in a thread that ends", setns},
		{"pidfd-setns", "PID KIND", "join a namespace by a process descriptor", pidfdSetns},
	}
}

func spawn(list string, unshare bool) error {
	var flags uintptr
	for k := range strings.SplitSeq(list, ",") {
		if kinds[k] == 0 {
			return fmt.Errorf("%q is no kind of namespace", k)
		}
		flags |= kinds[k]
	}
	cmd := exec.Command("/bin/true")
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
	if unshare {
		cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: flags}
	}
	return cmd.Run()
}

func setns(a []string) error {
	f, err := os.Open("/proc/" + a[0] + "/ns/" + a[1])
	if err != nil {
		return err
	}
	runtime.LockOSThread() // and never unlocked: the thread ends with the probe
	return unix.Setns(int(f.Fd()), int(kinds[a[1]]))
}

func pidfdSetns(a []string) error {
	fd, err := pidfd(a[0])
	if err != nil {
		return err
	}
	runtime.LockOSThread()
	return unix.Setns(fd, int(kinds[a[1]]))
}

// mounts have a target that the kernel refuses after it has let the caller in, or
// make something that nobody sees and that ends with the probe.
func mounts() []attempt {
	return []attempt{
		// An unknown type would have the kernel look for a module of that name.
		{"mount", "DIR", "a tmpfs with an option that there is not", func(a []string) error {
			return call(unix.SYS_MOUNT, [6]uintptr{text("none"), text(a[0]), text("tmpfs"), 0, text("qsandbox_probe")}, unix.EINVAL)
		}},
		{"remount", "DIR", "remount of what is no mount", func(a []string) error {
			return call(unix.SYS_MOUNT, [6]uintptr{text("none"), text(a[0]), 0, unix.MS_REMOUNT | unix.MS_BIND, 0}, unix.EINVAL)
		}},
		{"umount", "DIR", "umount of what is no mount", func(a []string) error {
			return call(unix.SYS_UMOUNT2, [6]uintptr{text(a[0]), 0}, unix.EINVAL)
		}},
		{"umount-detach", "PATH", "lazy umount of what is no mount", func(a []string) error {
			return call(unix.SYS_UMOUNT2, [6]uintptr{text(a[0]), unix.MNT_DETACH}, unix.EINVAL)
		}},
		{"fsopen", "", "a file system context", func([]string) error { return call(unix.SYS_FSOPEN, [6]uintptr{text("tmpfs")}) }},
		{"fspick", "DIR", "a context of a mounted file system", func(a []string) error {
			return call(unix.SYS_FSPICK, [6]uintptr{^uintptr(99), text(a[0]), 0}, unix.EINVAL)
		}},
		num("fsmount", "fsmount of nothing", unix.SYS_FSMOUNT, [6]uintptr{all, 0, 0}, unix.EBADF),
		num("fsconfig", "fsconfig of nothing", unix.SYS_FSCONFIG, [6]uintptr{all}, unix.EINVAL, unix.EBADF),
		{"open_tree", "PATH", "a detached copy of a tree", func(a []string) error {
			return call(unix.SYS_OPEN_TREE, [6]uintptr{^uintptr(99), text(a[0]), unix.OPEN_TREE_CLONE})
		}},
		{"open_tree-path", "PATH", "open_tree as another way to open", func(a []string) error {
			return call(unix.SYS_OPEN_TREE, [6]uintptr{^uintptr(99), text(a[0]), 0})
		}},
		{"move_mount", "", "move_mount of nothing", func([]string) error {
			return call(unix.SYS_MOVE_MOUNT, [6]uintptr{all, text(""), all, text(""), 0}, unix.EBADF, unix.ENOENT)
		}},
		{"mount_setattr", "", "mount_setattr of a path that is not there", func([]string) error {
			attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_RDONLY}
			err := unix.MountSetattr(unix.AT_FDCWD, nowhere, 0, &attr)
			if err == unix.ENOENT {
				return nil
			}
			return err
		}},
		{"pivot_root", "", "pivot_root to what is not there", func([]string) error {
			return call(unix.SYS_PIVOT_ROOT, [6]uintptr{text(nowhere), text(nowhere)}, unix.ENOENT)
		}},
		{"chroot", "DIR", "another root for the probe", func(a []string) error { return unix.Chroot(a[0]) }},
	}
}
