package landlock

// ABI is what a kernel of one Landlock ABI version supports, all in all.
type ABI struct {
	Version int
	Kernel  string // first release of Linux with it
	Sure    bool   // the release is in the kernel's documentation or was tried; else inferred from the date of the commit
	Adds    string // what it adds, in a sentence
	FS      FS
	Net     Net
	Scopes  Scope
	Flags   Flags
	Attr    int // bytes of struct landlock_ruleset_attr that we fill in
}

const (
	fs1  = MakeSym<<1 - 1
	fs2  = fs1 | Refer
	fs3  = fs2 | Truncate
	fs5  = fs3 | IoctlDev
	fs9  = fs5 | ResolveUnix
	tcp  = BindTCP | ConnectTCP
	udp  = BindUDP | ConnectSendUDP
	both = ScopeAbstractUnix | ScopeSignal
	logs = LogSameExecOff | LogNewExecOn | LogSubdomainsOff
)

// abis is the capability table. Rights and flags were checked against
// golang.org/x/sys v0.50.0 and go-landlock v0.11.2 (abi_versions.go); releases up
// to 6.15 against the kernel's documentation; 7 was tried on 6.18.
// From ABI 10 the attr has three more fields (what not to log), which we leave out.
var abis = [...]ABI{
	{0, "", true, "no Landlock", 0, 0, 0, 0, 0},
	{1, "5.13", true, "rights to file hierarchies", fs1, 0, 0, 0, 8},
	{2, "5.19", true, "link and rename between directories (before, always refused with EXDEV)", fs2, 0, 0, 0, 8},
	{3, "6.2", true, "truncation", fs3, 0, 0, 0, 8},
	{4, "6.7", true, "TCP ports", fs3, tcp, 0, 0, 16},
	{5, "6.10", true, "ioctl on devices", fs5, tcp, 0, 0, 16},
	{6, "6.12", true, "scopes for abstract UNIX sockets and signals", fs5, tcp, both, 0, 24},
	{7, "6.15", true, "control of audit records", fs5, tcp, both, logs, 24},
	{8, "7.0", false, "restricting all threads of a process at once", fs5, tcp, both, logs | TSync, 24},
	{9, "7.1", false, "connecting to UNIX sockets by path", fs9, tcp, both, logs | TSync, 24},
	{10, "7.2", false, "UDP ports; denials that are not logged", fs9, tcp | udp, both, logs | TSync, 24},
	{11, "7.3", false, "setting no_new_privs in the same call", fs9, tcp | udp, both, logs | TSync | NoNewPrivs, 24},
}

// Newest is the highest ABI that this package knows. A higher one is used as this.
const Newest = len(abis) - 1

// ABIs returns the capability table, from 0 (no Landlock) to [Newest].
func ABIs() []ABI { return append([]ABI(nil), abis[:]...) }

// Supports returns what ABI version supports: 0 for what is below 1, the newest
// known for what is above.
func Supports(version int) ABI { return abis[min(max(version, 0), Newest)] }

// first returns the oldest ABI for which has is true.
func first(has func(ABI) bool) ABI {
	for _, a := range abis {
		if has(a) {
			return a
		}
	}
	return abis[Newest]
}
