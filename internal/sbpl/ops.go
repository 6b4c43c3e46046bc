package sbpl

import (
	"slices"
	"strings"
	"sync"
)

// operations are what a rule may name. Those that end in * stand for all whose
// name begins like theirs. The list is closed, so that a misspelt operation is an
// error here as it is there ("unbound variable").
const operations = `
default
appleevent-send authorization-right-obtain device* device-camera device-microphone distributed-notification-post
dynamic-code-generation
file* file-chroot file-clone file-ioctl file-issue-extension file-link file-map-executable file-mknod file-mount
file-mount-update file-read* file-read-data file-read-metadata file-read-xattr file-revoke file-search
file-test-existence file-unmount
file-write* file-write-acl file-write-create file-write-data file-write-flags file-write-mode file-write-mount
file-write-owner file-write-setugid file-write-times file-write-umount file-write-unlink file-write-xattr
generic-issue-extension hid-control iokit* iokit-get-properties iokit-issue-extension iokit-open iokit-open-service
iokit-open-user-client iokit-set-properties
ipc* ipc-posix* ipc-posix-issue-extension ipc-posix-sem* ipc-posix-sem-create ipc-posix-sem-open ipc-posix-sem-post
ipc-posix-sem-unlink ipc-posix-sem-wait ipc-posix-shm* ipc-posix-shm-read* ipc-posix-shm-read-data
ipc-posix-shm-read-metadata ipc-posix-shm-write* ipc-posix-shm-write-create ipc-posix-shm-write-data
ipc-posix-shm-write-unlink ipc-sysv* ipc-sysv-msg ipc-sysv-sem ipc-sysv-shm
job-creation load-unsigned-code lsopen
mach* mach-bootstrap mach-cross-domain-lookup mach-host* mach-host-exception-port-set mach-host-special-port-set
mach-issue-extension mach-lookup mach-per-user-lookup mach-priv* mach-priv-host-port mach-priv-task-port mach-register
mach-task* mach-task-inspect mach-task-name mach-task-read mach-task-special-port-set
network* network-bind network-inbound network-outbound nvram* nvram-delete nvram-get nvram-set
process* process-codesigning* process-codesigning-status-get process-codesigning-status-set process-exec*
process-exec-interpreter process-exec-update-label process-fork process-info* process-info-codesignature
process-info-dirtycontrol process-info-ledger process-info-listpids process-info-pidfdinfo
process-info-pidfileportinfo process-info-pidinfo process-info-pidsetcontrol process-info-rusage
process-info-setcontrol process-legacy-codesigning-status-get
pseudo-tty qtn* qtn-download qtn-sandbox qtn-user sandbox-check signal socket-ioctl socket-option-get
socket-option-set syscall* syscall-mach syscall-mig syscall-unix
sysctl* sysctl-read sysctl-write system* system-acct system-audit system-automount system-chud system-debug
system-fcntl system-fsctl system-info system-kas-info system-kext* system-kext-load system-kext-query
system-kext-unload system-lcid system-mac-label system-mac-syscall system-nfssvc system-package-check
system-privilege system-reboot system-sched system-set-time system-socket system-suspend-resume system-swap
system-write-bootstrap user-preference* user-preference-read user-preference-write darwin-notification-post`

// aliases are other names for an operation. Without the star it is the name that
// profiles of before macOS 10.10 use.
var aliases = [...]struct{ from, to string }{{"process-exec", "process-exec*"}}

// above lists the operations whose rules count for op, the nearest first, op
// itself included, "default" left out. nil: there is no such operation.
// It is made at the first use: most runs need none of it.
var above = sync.OnceValue(func() map[string][]string {
	out := map[string][]string{}
	operations := strings.Fields(operations)
	for _, op := range operations {
		list := []string{op}
		for _, w := range operations {
			stem, wild := strings.CutSuffix(w, "*")
			if wild && w != op && op != stem && (strings.HasPrefix(op, stem+"-") || strings.HasPrefix(op, stem+"*")) {
				list = append(list, w)
			}
		}
		slices.SortFunc(list, func(a, b string) int { return len(strings.TrimSuffix(b, "*")) - len(strings.TrimSuffix(a, "*")) })
		out[op] = list
	}
	for _, a := range aliases {
		out[a.from] = out[a.to]
	}
	return out
})

// known tells whether there is such an operation, and gives its one name.
func known(op string) (string, bool) {
	for _, a := range aliases {
		if a.from == op {
			return a.to, true
		}
	}
	_, ok := above()[op]
	return op, ok
}
