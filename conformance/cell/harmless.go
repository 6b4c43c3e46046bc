package cell

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// asRoot are the probes that may be made with the real root's capabilities: each has
// an argument that the kernel refuses right after it has looked at them, or acts on
// the probe's own process or on the decoy that it is given.
//
// SECURITY: never one that runs a program, joins what belongs to the host, or looks
// into or reaches for another process with more than a question.
var asRoot = strings.Fields(`
	acct add_key ambient bpf capset chmod chmod-high chown chroot clone clone3 creat delete_module fanotify fchmod fchmodat fchmodat2
	filecap finit_module fsconfig fsmount fsopen fspick get_mempolicy get_robust_list getpgid immutable init_module int80 io_uring ioperm
	iopl kcmp kexec keyctl keyctl-join keyctl-link keyctl-search keyctl-user kill loaded mknod mknod-block mknod-setuid modify_ldt mount
	mount_setattr move_mount nice open_by_handle_at open_tree open_tree-path openat2 openat2-create perf_event_open personality
	pidfd_open pidfd_send_signal pivot_root prlimit realtime reboot remount request_key rlimit sched_getaffinity setdomainname
	setgid setgid-bit setgroups sethostname setpriority setuid sigqueue socket-inet socket-netlink-route socket-packet socket-raw
	socket-unix swapoff swapon syslog tgkill tioccons tioclinux tioclinux-wide tkill tmpfile trusted-xattr umount umount-detach unshare
	userfaultfd ustat whiteout x32 xattr`)

var probes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"\$PROBE" probe (\S+)`) })

// harmless are scripts that only make probes, on files with plain names or on the
// case's own places. A probe does nothing when it succeeds; see package probe.
var harmless = sync.OnceValue(func() *regexp.Regexp {
	word := `(?: (?:[a-z0-9]+|\$\$|"\$(?:WS|OUT|T|HOSTPID)(?:/[a-z0-9]+(?:\.[a-z0-9]+)*)*"))*`
	one := `(?:"\$PROBE" probe [a-z0-9_-]+` + word + `|touch [a-z0-9]+|head -c1 "\$WS/[a-z0-9]+" > /dev/null|\[ -[a-z] "\$(?:WS|OUT)/[a-z0-9]+" \]|echo -?[0-9]+ > /proc/self/oom_score_adj)`
	return regexp.MustCompile(`^` + one + `(?:(?: \|\| | && |\n)` + one + `)*\n?$`)
})

// Harmless tells whether a script may run with the real root's capabilities: it
// shows that the kernel would let root in, which no other account can show.
//
// SECURITY: nothing but calls of the program's own probes gets through.
func Harmless(script string) bool {
	if !harmless().MatchString(script) {
		return false
	}
	for _, m := range probes().FindAllStringSubmatch(script, -1) {
		if !slices.Contains(asRoot, m[1]) {
			return false
		}
	}
	return true
}
