package winsandbox

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/sys/windows"
	"golang.org/x/sys/windows/registry"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

func wine() bool {
	return windows.NewLazySystemDLL("ntdll.dll").NewProc("wine_get_version").Find() == nil
}

// key is a registry key of the test's own: Wine keeps the list of one word for word.
func key(t *testing.T) object {
	t.Helper()
	name := fmt.Sprintf(`Software\qsandbox-test-%d-%d`, os.Getpid(), time.Now().UnixNano())
	k, _, err := registry.CreateKey(registry.CURRENT_USER, name, registry.ALL_ACCESS)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { k.Close(); registry.DeleteKey(registry.CURRENT_USER, name) })
	return object{windows.Handle(k), windows.SE_REGISTRY_KEY, name}
}

// TestListsOfKeys: entries go through Windows' own forms and come back as they were.
func TestListsOfKeys(t *testing.T) {
	o := key(t)
	before, err := o.descriptor()
	if err != nil {
		t.Fatal(err)
	}
	allow := winacl.ACE{Type: winacl.Allow, Flags: winacl.Inherit, Mask: allowBelow, SID: capability(7)}
	deny := winacl.ACE{Type: winacl.Deny, Mask: denyMove, SID: capability(7)}
	for range 2 { // a second time changes nothing
		if err := o.add(allow, deny, allow); err != nil {
			t.Fatal(err)
		}
	}
	got, err := o.descriptor()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(got.DACL.Entries); n != len(before.DACL.Entries)+2 || !got.DACL.Canonical() || !got.DACL.Has(allow) || !got.DACL.Has(deny) || got.DACL.Entries[0].Type != winacl.Deny {
		t.Errorf("%s becomes %s", before.SDDL(), got.SDDL())
	}
	if got.Owner != before.Owner && !wine() { // which gives a key to its user's group whenever its list is set
		t.Error("the owner changed")
	}
	for range 2 {
		for _, a := range []winacl.ACE{deny, allow} {
			if err := o.drop(a); err != nil {
				t.Fatal(err)
			}
		}
	}
	if after, err := o.descriptor(); err != nil || !after.DACL.Equal(before.DACL) {
		t.Errorf("%v: %s is now %s", err, before.SDDL(), after.SDDL())
	}
}

// TestRandomListsSurvive: our binary form is the one that Windows reads.
func TestRandomListsSurvive(t *testing.T) {
	o := key(t)
	r := rand.New(rand.NewPCG(1, 1))
	user, _, err := whoAmI()
	if err != nil {
		t.Fatal(err)
	}
	for range 60 {
		l := &winacl.ACL{Entries: []winacl.ACE{{Mask: winacl.Key.All, SID: user}}}
		for i := range r.IntN(8) {
			l = l.With(winacl.ACE{Type: winacl.Type(r.IntN(2)), Flags: winacl.Flags(r.IntN(4)), Mask: winacl.Mask(1 << r.IntN(6)), SID: capability(uint32(i))})
		}
		if err := o.set(l); err != nil {
			t.Fatal(err)
		}
		d, err := o.descriptor()
		if err != nil {
			t.Fatal(err)
		}
		d.DACL.Entries = slices.DeleteFunc(d.DACL.Entries, func(a winacl.ACE) bool { return a.Flags&winacl.Inherited != 0 })
		if !d.DACL.Equal(l) {
			t.Fatalf("set %s, got %s", (&winacl.Descriptor{DACL: l}).SDDL(), d.SDDL())
		}
	}
}

// TestModelAgreesWithTheSystem: the first check of the model against the system's own
// AccessCheck, with this process's token. Wine differs from [MS-DTYP] in two ways that are
// left out here: it gives DELETE and SYNCHRONIZE to every owner, and for a mask of many
// bits a denial counts also for those that an entry before it has granted.
func TestModelAgreesWithTheSystem(t *testing.T) {
	var self, imp windows.Token
	if err := windows.OpenProcessToken(windows.CurrentProcess(), windows.TOKEN_DUPLICATE|windows.TOKEN_QUERY, &self); err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	if err := windows.DuplicateTokenEx(self, windows.TOKEN_QUERY|windows.TOKEN_IMPERSONATE, nil, windows.SecurityIdentification, windows.TokenImpersonation, &imp); err != nil {
		t.Fatal(err)
	}
	defer imp.Close()
	model := tokenModel(t, self)
	r := rand.New(rand.NewPCG(2, 2))
	sids := append([]winacl.SID{model.User, winacl.Everyone, winacl.Users, winacl.System, capability(5)}, winacl.Authenticated)
	masks := []winacl.Mask{winacl.ReadData, winacl.WriteData, winacl.AppendData, winacl.Execute, winacl.ReadControl, winacl.WriteDAC,
		winacl.ReadEA, winacl.WriteEA, winacl.DeleteChild, winacl.ReadAttributes, winacl.WriteAttribs}
	for range 1500 {
		d := &winacl.Descriptor{Owner: sids[r.IntN(2)*3], Group: model.User, DACL: &winacl.ACL{}}
		for range r.IntN(6) {
			d.DACL.Entries = append(d.DACL.Entries, winacl.ACE{Type: winacl.Type(r.IntN(2)), Flags: winacl.Flags(r.IntN(16)), Mask: winacl.Mask(r.Uint32()) & 0x1f01ff, SID: sids[r.IntN(len(sids))]})
		}
		for _, m := range masks {
			got, err := accessCheck(d, imp, m)
			if err != nil {
				t.Fatalf("%s: %v", d.SDDL(), err)
			}
			if want := winacl.Check(d, model, m, winacl.File, winacl.Wide); got != want {
				t.Fatalf("%s, %#x: the system says %v, the model %v", d.SDDL(), m, got, want)
			}
		}
	}
}

func tokenModel(t *testing.T, tok windows.Token) *winacl.Token {
	t.Helper()
	user, _, err := whoAmI()
	if err != nil {
		t.Fatal(err)
	}
	m := &winacl.Token{User: user, Integrity: winacl.HighLabel.Last()}
	g, err := tok.GetTokenGroups()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range g.AllGroups() {
		s, err := fromSID(a.Sid)
		if err != nil {
			t.Fatal(err)
		}
		st := winacl.Disabled
		switch {
		case a.Attributes&windows.SE_GROUP_USE_FOR_DENY_ONLY != 0:
			st = winacl.DenyOnly
		case a.Attributes&windows.SE_GROUP_ENABLED != 0:
			st = winacl.Enabled
		}
		m.Groups = append(m.Groups, winacl.Group{SID: s, Standing: st})
	}
	return m
}

// TestTokenPlumbing: what is done for real everywhere: privileges are gone, the default
// list is set, Administrators counts for denials alone.
func TestTokenPlumbing(t *testing.T) {
	user, logon, err := whoAmI()
	if err != nil {
		t.Fatal(err)
	}
	w := TokenWish{User: user, Logon: logon, Caps: []winacl.SID{capability(1)}}
	tok, facts, err := makeToken(w)
	if err != nil {
		t.Fatal(err)
	}
	defer tok.Close()
	for _, p := range facts.Privileges {
		if p != "SeChangeNotifyPrivilege" {
			t.Errorf("the token has %s", p)
		}
	}
	if facts.Admins {
		t.Error("Administrators counts")
	}
	verdict := w.Verify(facts)
	if wine() && !errors.Is(verdict, fault.ErrSandboxUnavailable) {
		t.Errorf("Wine restricts no token, and it was taken for restricted: %v", verdict)
	}
	if !wine() && verdict != nil {
		t.Errorf("the token is not as asked: %v", verdict)
	}
	b, err := info(tok, windows.TokenDefaultDacl)
	if err != nil || len(b) == 0 {
		t.Errorf("default list: %v", err)
	}
}

// TestListOfAFileThatDidNotTake: Wine forgets entries of files, and that is noticed.
func TestListOfAFileThatDidNotTake(t *testing.T) {
	if !wine() {
		t.Skip("a real Windows keeps them")
	}
	defer func(e bool) { setEmulated(e) }(emulated)
	setEmulated(false)
	dir := realTemp(t)
	o, err := openObject(dir, windows.READ_CONTROL|windows.WRITE_DAC)
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	if err := o.add(winacl.ACE{Mask: allowBelow, SID: capability(1)}); !errors.Is(err, fault.ErrSandboxUnavailable) {
		t.Errorf("%v", err)
	}
}

func realTemp(t *testing.T) string {
	t.Helper()
	dir, err := realDir("test", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestPathsAsTheyAre: letter case and links are settled by the handle.
func TestPathsAsTheyAre(t *testing.T) {
	dir := realTemp(t)
	sub := filepath.Join(dir, "Mixed Case é")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := realDir("x", fold(sub)); err != nil || got != sub {
		t.Errorf("%q %v, want %q", got, err, sub)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{filepath.Join(dir, "file"), filepath.Join(dir, "none"), dir + `\file:stream`, `\\localhost\c$`} {
		if got, err := realDir("x", bad); err == nil {
			t.Errorf("%s gives %s", bad, got)
		}
	}
}

// TestPlacesAsTheyAre: the records are where their path leads, as far as it is there.
func TestPlacesAsTheyAre(t *testing.T) {
	dir := realTemp(t)
	sub := filepath.Join(dir, "Records É")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	for given, want := range map[string]string{fold(sub): sub, fold(sub) + `\New\deep`: sub + `\New\deep`, `c:\none\x`: `C:\none\x`} {
		if p, err := places(given); err != nil || p.State != want {
			t.Errorf("%s: %q %v, want %q", given, p.State, err, want)
		}
	}
	p, err := places("")
	if err != nil || p.State != p.LocalAppData+`\qsandbox` || len(p.Windows) < 4 || len(p.Home) < 4 {
		t.Errorf("%+v %v", p, err)
	}
	if _, err := places(`\\host\share`); !errors.Is(err, &fault.Error{Code: fault.PathInvalid}) {
		t.Errorf("records on the network: %v", err)
	}
}

// openToAll lets everybody write.
func openToAll(t *testing.T, dir string) {
	t.Helper()
	o, err := openObject(dir, windows.READ_CONTROL|windows.WRITE_DAC)
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	d, err := o.descriptor()
	if err == nil {
		err = o.set(d.DACL.With(winacl.ACE{Flags: winacl.Inherit, Mask: winacl.File.All, SID: winacl.Everyone}))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestRecordsAreOurs: records that anybody may write are refused. The twin is the same
// directory before.
func TestRecordsAreOurs(t *testing.T) {
	dir := realTemp(t)
	s, err := openState(dir)
	if err != nil {
		t.Fatal(err)
	}
	s.close()
	openToAll(t, dir)
	if s, err := openState(dir); !errors.Is(err, &fault.Error{Code: fault.PathInvalid}) {
		if s != nil {
			s.close()
		}
		t.Errorf("%v", err)
	}
}

// TestAuditOnDisk: real directories, one of which anybody may write.
func TestAuditOnDisk(t *testing.T) {
	dir := realTemp(t)
	for i := range 20 {
		if err := os.Mkdir(filepath.Join(dir, fmt.Sprintf("d%02d", i)), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	open := dir + `\d05`
	openToAll(t, open)
	f, err := Audit(realDisk{time.Now()}, dir, nil)
	if err != nil || f.Seen != 20 || !slices.Equal(f.Flagged, []string{open}) {
		t.Errorf("%+v %v", f, err)
	}
}

// TestEnvBlock: the form of CreateProcess, also for what is no valid Unicode.
func TestEnvBlock(t *testing.T) {
	for _, c := range []struct {
		env  []string
		want []uint16
	}{
		{nil, []uint16{0, 0}}, {[]string{"A=é", "B="}, []uint16{'A', '=', 0xe9, 0, 'B', '=', 0, 0}},
		{[]string{windows.UTF16ToString([]uint16{'A', '=', 0xd800, 'x'})}, []uint16{'A', '=', 0xd800, 'x', 0, 0}},
	} {
		if got := envBlock(c.env); !slices.Equal(got, c.want) {
			t.Errorf("%q: %x, want %x", c.env, got, c.want)
		}
	}
}

// TestLockIsHeld: two helpers do not edit at once.
func TestLockIsHeld(t *testing.T) {
	dir := realTemp(t)
	a, err := openState(dir)
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan time.Time, 1)
	go func() {
		b, err := openState(dir)
		if err == nil {
			b.close()
		}
		got <- time.Now()
	}()
	time.Sleep(200 * time.Millisecond)
	released := time.Now()
	a.close()
	if when := <-got; when.Before(released) {
		t.Error("the second did not wait")
	}
}

func TestCancelledRunEnds(t *testing.T) {
	if !emulated && wine() {
		t.Skip("needs the test build's override")
	}
	if !wine() && os.Getenv("QSANDBOX_WINDOWS") != "1" {
		t.Skip("set QSANDBOX_WINDOWS=1 to change access-control lists of this Windows")
	}
	dir := realTemp(t)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	began := time.Now()
	_, err := Run(ctx, Request{Home: dir + `\home`, Cwd: dir, ReadOnly: true, Argv: []string{"cmd", "/c", "for /l %i in (0,0,1) do @rem"}, Stdout: &sink{}, Stderr: &sink{}})
	if err == nil || time.Since(began) > 20*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}

type sink struct{}

func (*sink) Write(p []byte) (int, error) { return len(p), nil }
