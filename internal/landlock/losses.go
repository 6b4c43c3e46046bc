package landlock

// meaning says what it means to lack one right, scope or flag.
type meaning struct {
	fs     FS
	net    Net
	scope  Scope
	flag   Flags
	weaker bool
	why    string
}

// meanings lists everything that came after ABI 1.
var meanings = [...]meaning{
	{fs: Refer, why: "files cannot be moved or linked from one directory to another (EXDEV); mv copies instead, git and package managers may fail"},
	{fs: Truncate, weaker: true, why: "a file that may be read can be emptied by truncate(2), where the mount is writable"},
	{fs: IoctlDev, weaker: true, why: "any ioctl works on a device that may be opened"},
	{fs: ResolveUnix, weaker: true, why: "UNIX sockets made on the host during the run can be reached where their path is visible: advisory"},
	{net: tcp, weaker: true, why: "TCP ports are not limited by Landlock"},
	{net: udp, weaker: true, why: "UDP ports are not limited by Landlock"},
	{scope: ScopeAbstractUnix, weaker: true, why: "abstract UNIX sockets of the host can be reached, unless the network is a namespace of its own"},
	{scope: ScopeSignal, weaker: true, why: "processes outside can be signalled, unless the process ids are a namespace of their own"},
	{flag: logs, why: "denials are in the audit log as the kernel chooses"},
	{flag: TSync, weaker: true, why: "only the calling thread is restricted: it must be the one that executes the command"},
	{flag: NoNewPrivs, why: "no_new_privs has to be set by prctl(2) first"},
}

// lost reports whether the meaning's right was wanted and is missing.
func (m meaning) lost(a ABI, fs FS, o Options) (Loss, bool) {
	l := Loss{Weaker: m.weaker, Why: m.why}
	var since ABI
	switch {
	case m.fs&fs&^a.FS != 0:
		l.Right, since = m.fs.String(), first(func(x ABI) bool { return m.fs&^x.FS == 0 })
	case m.net&o.Net&^a.Net != 0:
		l.Right, since = (m.net & o.Net).String(), first(func(x ABI) bool { return m.net&^x.Net == 0 })
	case m.scope&o.Scoped&^(a.Scopes&^o.Lacks) != 0:
		l.Right, since = m.scope.String(), first(func(x ABI) bool { return m.scope&^x.Scopes == 0 })
	case m.flag&o.Flags&^a.Flags != 0:
		l.Right, since = (m.flag & o.Flags).String(), first(func(x ABI) bool { return m.flag&^x.Flags == 0 })
	default:
		return Loss{}, false
	}
	l.ABI, l.Kernel = since.Version, since.Kernel
	return l, true
}
