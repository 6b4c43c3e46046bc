package landlock

import (
	"math/bits"
	"slices"
	"strings"
	"testing"
)

// home is a usual domain: read-only root, one writable directory, devices, a socket.
var home = []PathRule{
	{"/", ReadOnlyDir, true},
	{"/w", ReadWriteDir, true},
	{"/etc/one", ReadWriteFile, false},
	{"/dev/null", Device, false},
	{"/dev/pts", DeviceDir, true},
	{"/run/agent.sock", Socket, false},
}

var everything = Options{
	Net: tcp | udp, Ports: []PortRule{{443, ConnectTCP}, {53, ConnectSendUDP}},
	Scoped: both, Flags: LogNewExecOn | TSync | NoNewPrivs,
}

// TestTable: each ABI has what the one before has, and more.
func TestTable(t *testing.T) {
	all := ABIs()
	if len(all) != Newest+1 || all[0].FS != 0 || all[Newest].FS != allFS {
		t.Fatalf("%d rows, rights from %v to %v", len(all), all[0].FS, all[Newest].FS)
	}
	for i, a := range all {
		if a.Version != i || a.Adds == "" || (a.Kernel == "") != (i == 0) {
			t.Errorf("row %d: %+v", i, a)
		}
		if i == 0 {
			continue
		}
		b := all[i-1]
		if b.FS&^a.FS != 0 || b.Net&^a.Net != 0 || b.Scopes&^a.Scopes != 0 || b.Flags&^a.Flags != 0 || a.Attr < b.Attr {
			t.Errorf("ABI %d lacks something of ABI %d", i, i-1)
		}
		fields := 8
		if a.Net != 0 {
			fields = 16
		}
		if a.Scopes != 0 {
			fields = 24
		}
		if a.Attr != fields {
			t.Errorf("ABI %d: attr of %d bytes, its rights need %d", i, a.Attr, fields)
		}
	}
	if Supports(-1).Version != 0 || Supports(99).Version != Newest {
		t.Error("versions outside the table")
	}
}

// TestRightsPerABI has the numbers of the kernel's header, written out.
func TestRightsPerABI(t *testing.T) {
	for abi, want := range map[int]struct {
		fs  FS
		net Net
	}{1: {0x1fff, 0}, 2: {0x3fff, 0}, 3: {0x7fff, 0}, 4: {0x7fff, 3}, 5: {0xffff, 3}, 7: {0xffff, 3}, 9: {0x1ffff, 3}, 10: {0x1ffff, 15}} {
		if a := Supports(abi); a.FS != want.fs || a.Net != want.net {
			t.Errorf("ABI %d: %#x %#x", abi, uint64(a.FS), uint64(a.Net))
		}
	}
	if fileFS != 0x1c007 {
		t.Errorf("rights for files: %#x", uint64(fileFS))
	}
}

// TestGroupsGrantNoMore: what the boundary rests on.
func TestGroupsGrantNoMore(t *testing.T) {
	write := WriteFile | RemoveDir | RemoveFile | MakeChar | MakeDir | MakeReg | MakeSock | MakeFifo | MakeBlock | MakeSym | Refer | Truncate
	for name, c := range map[string]struct{ group, never FS }{
		"ReadOnlyDir":   {ReadOnlyDir, write | IoctlDev | ResolveUnix},
		"ReadOnlyFile":  {ReadOnlyFile, write | IoctlDev | ResolveUnix},
		"ReadWriteDir":  {ReadWriteDir, MakeChar | MakeBlock | IoctlDev | ResolveUnix},
		"ReadWriteFile": {ReadWriteFile, IoctlDev | ResolveUnix},
		"Device":        {Device, Execute | ResolveUnix},
		"Socket":        {Socket, ^ResolveUnix},
	} {
		if c.group&c.never != 0 {
			t.Errorf("%s grants %v", name, c.group&c.never)
		}
	}
	for _, f := range []FS{ReadOnlyFile, ReadWriteFile, Device, Socket} {
		if f&^fileFS != 0 {
			t.Errorf("%v is for files and has %v", f, f&^fileFS)
		}
	}
}

// TestForIsValid: what For makes, the kernel of that ABI takes: no unknown right,
// no directory right on a file, no empty rule, no rule beyond what is handled.
func TestForIsValid(t *testing.T) {
	rules := append(slices.Clone(home), PathRule{"/file", ReadWriteDir, false}, PathRule{"/nothing", MakeReg, false}, PathRule{"/none", 0, true})
	for abi := -1; abi <= Newest+2; abi++ {
		a := Supports(abi)
		rs, _ := For(abi, rules, everything)
		if rs.HandledFS != a.FS || rs.HandledNet&^a.Net != 0 || rs.Scoped&^a.Scopes != 0 || rs.Flags&^a.Flags != 0 {
			t.Errorf("ABI %d: %+v", abi, rs)
		}
		for _, r := range rs.Paths {
			if r.Access == 0 || r.Access&^rs.HandledFS != 0 || !r.Dir && r.Access&^fileFS != 0 {
				t.Errorf("ABI %d: rule %+v", abi, r)
			}
		}
		for _, p := range rs.Ports {
			if p.Access == 0 || p.Access&^rs.HandledNet != 0 {
				t.Errorf("ABI %d: port %+v", abi, p)
			}
		}
		if rs.Empty() != (a.Version == 0) || len(rs.Attr()) != a.Attr {
			t.Errorf("ABI %d: empty %v, attr %d bytes", abi, rs.Empty(), len(rs.Attr()))
		}
	}
	if rules[0].Access != ReadOnlyDir || len(home) != 6 {
		t.Error("For changed its argument")
	}
}

// TestDowngradeIsMonotone: a newer kernel never allows what an older one refuses,
// except moves between directories (REFER) and what a rule grants.
func TestDowngradeIsMonotone(t *testing.T) {
	paths := []string{"/", "/etc/passwd", "/etc/one", "/w", "/w/a/b", "/wrong", "/dev/null", "/dev/pts/1", "/run/agent.sock", "/run/other.sock"}
	for abi := 2; abi <= Newest; abi++ {
		older, _ := For(abi-1, home, everything)
		newer, _ := For(abi, home, everything)
		for _, p := range paths {
			for right := FS(1); right <= allFS; right <<= 1 {
				if newer.Allowed(p, right) && !older.Allowed(p, right) {
					t.Errorf("ABI %d allows %v at %s, ABI %d did not", abi, right, p, abi-1)
				}
			}
		}
	}
}

// TestAllowed is the domain of home, case by case, each refusal with its twin.
func TestAllowed(t *testing.T) {
	rs, _ := For(9, home, everything)
	for _, c := range []struct {
		path   string
		access FS
		want   bool
	}{
		{"/etc/passwd", ReadFile | Execute, true}, {"/etc/passwd", WriteFile, false}, {"/etc/passwd", Truncate, false},
		{"/etc/one", WriteFile | Truncate, true}, {"/etc/one.bak", WriteFile, false}, {"/etc/one/x", WriteFile, false}, {"/etc", MakeReg, false},
		{"/w", MakeReg | RemoveFile | Refer | ReadDir, true}, {"/w/a/b", WriteFile | MakeSym, true}, {"/w/", MakeDir, true},
		{"/w/../etc", MakeReg, false}, {"/wrong", MakeReg, false}, {"/", MakeReg, false},
		{"/w/dev", MakeChar, false}, {"/w/dev", MakeBlock, false}, {"/w/dev", IoctlDev, false},
		{"/dev/null", WriteFile | IoctlDev, true}, {"/dev/sda", WriteFile, false}, {"/dev/pts/3", IoctlDev, true},
		{"/run/agent.sock", ResolveUnix, true}, {"/run/docker.sock", ResolveUnix, false}, {"/w/s", ResolveUnix, false},
	} {
		if got := rs.Allowed(c.path, c.access); got != c.want {
			t.Errorf("%s %v: %v", c.path, c.access, got)
		}
	}
	none, _ := For(0, home, everything)
	if !none.Allowed("/etc/passwd", WriteFile) {
		t.Error("without Landlock nothing is refused")
	}
}

// TestAllowedMove: rename and link.
func TestAllowedMove(t *testing.T) {
	rules := append(slices.Clone(home), PathRule{"/w/more", IoctlDev, true})
	for _, c := range []struct {
		abi      int
		from, to string
		kind     FS
		want     bool
	}{
		{7, "/w/a", "/w/b", MakeReg, true}, {7, "/w/d/a", "/w/e/a", MakeReg, true}, {7, "/w/d", "/w/e/d", MakeDir, true},
		{7, "/w/a", "/etc/a", MakeReg, false}, {7, "/etc/a", "/w/a", MakeReg, false}, {7, "/w/c", "/w/d", MakeChar, false},
		{1, "/w/a", "/w/b", MakeReg, true}, {1, "/w/d/a", "/w/e/a", MakeReg, false},
		{7, "/w/a", "/w/more/a", MakeReg, false}, {7, "/w/more/a", "/w/a", MakeReg, true}, // no way to more rights
		{0, "/w/a", "/etc/a", MakeReg, true},
	} {
		rs, _ := For(c.abi, rules, Options{})
		if got := rs.AllowedMove(c.from, c.to, c.kind); got != c.want {
			t.Errorf("ABI %d: %s to %s (%v): %v", c.abi, c.from, c.to, c.kind, got)
		}
	}
}

// TestLosses: what each ABI lacks, by name, and that nothing is lost in silence.
func TestLosses(t *testing.T) {
	want := map[int]string{
		0:  "landlock",
		1:  "refer truncate ioctl_dev resolve_unix bind_tcp+connect_tcp bind_udp+connect_send_udp abstract_unix_socket signal log_new_exec_on tsync no_new_privs",
		3:  "ioctl_dev resolve_unix bind_tcp+connect_tcp bind_udp+connect_send_udp abstract_unix_socket signal log_new_exec_on tsync no_new_privs",
		6:  "resolve_unix bind_udp+connect_send_udp log_new_exec_on tsync no_new_privs",
		7:  "resolve_unix bind_udp+connect_send_udp tsync no_new_privs",
		9:  "bind_udp+connect_send_udp no_new_privs",
		10: "no_new_privs",
		11: "",
	}
	for abi, names := range want {
		_, lost := For(abi, home, everything)
		var got []string
		for _, l := range lost {
			got = append(got, l.Right)
			if l.Why == "" || l.ABI <= abi || l.Kernel != Supports(l.ABI).Kernel {
				t.Errorf("ABI %d: %+v", abi, l)
			}
		}
		if s := strings.Join(got, " "); s != names {
			t.Errorf("ABI %d lost %q, want %q", abi, s, names)
		}
	}
	if _, lost := For(7, home, Options{Scoped: both}); len(lost) != 1 || lost[0].Right != "resolve_unix" || !lost[0].Weaker || lost[0].ABI != 9 {
		t.Errorf("ABI 7 with scopes only: %+v", lost)
	}
	known := 0
	for _, m := range meanings {
		known += bits.OnesCount64(uint64(m.fs)) + bits.OnesCount64(uint64(m.net)) + bits.OnesCount64(uint64(m.scope)) + bits.OnesCount32(uint32(m.flag))
	}
	if later := bits.OnesCount64(uint64(allFS&^fs1)) + 4 + 2 + 5; known != later {
		t.Errorf("%d rights have a meaning, %d came after ABI 1", known, later)
	}
}

// TestLacks: a kernel that lies about its scopes.
func TestLacks(t *testing.T) {
	rs, lost := For(6, nil, Options{Scoped: both, Lacks: ScopeSignal})
	if rs.Scoped != ScopeAbstractUnix || !slices.ContainsFunc(lost, func(l Loss) bool { return l.Right == "signal" }) {
		t.Errorf("%+v %+v", rs, lost)
	}
}

// TestForScopes: no file right, so that mounts can still be made.
func TestForScopes(t *testing.T) {
	rs, lost := ForScopes(7, both, TSync)
	if rs.HandledFS != 0 || rs.Scoped != both || rs.Flags != 0 || rs.Empty() || len(lost) != 1 {
		t.Errorf("%+v %+v", rs, lost)
	}
	if rs, lost := ForScopes(5, both, 0); !rs.Empty() || len(lost) != 2 {
		t.Errorf("ABI 5: %+v %+v", rs, lost)
	}
}

// TestEncoding: the bytes, field by field.
func TestEncoding(t *testing.T) {
	rs := Ruleset{ABI: 7, HandledFS: 0x0102, HandledNet: 3, Scoped: 1}
	want := []byte{2, 1, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0}
	if got := rs.Attr(); !slices.Equal(got, want) {
		t.Errorf("attr % x", got)
	}
	if got := PathBeneath(0x1fff, -2); got != [12]byte{0xff, 0x1f, 0, 0, 0, 0, 0, 0, 0xfe, 0xff, 0xff, 0xff} {
		t.Errorf("path % x", got)
	}
	if got := NetPort(ConnectTCP, 443); got != [16]byte{2, 0, 0, 0, 0, 0, 0, 0, 0xbb, 1} {
		t.Errorf("port % x", got)
	}
}

// TestText: the names that reports show.
func TestText(t *testing.T) {
	for got, want := range map[string]string{
		ReadOnlyDir.String(): "execute+read_file+read_dir", FS(1 << 40).String(): "0x10000000000", both.String(): "abstract_unix_socket+signal",
		(TSync | LogNewExecOn).String(): "log_new_exec_on+tsync", udp.String(): "bind_udp+connect_send_udp", FS(0).String(): "",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
