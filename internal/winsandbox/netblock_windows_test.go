package winsandbox

import (
	"os"
	"testing"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// TestFormsOfTheFilterEngine: sizes and places as in fwpmtypes.h for 64 bits.
func TestFormsOfTheFilterEngine(t *testing.T) {
	var f fwpFilter
	var c fwpCondition
	var s fwpSession
	var l fwpSublayer
	for _, v := range []struct {
		name      string
		got, want uintptr
	}{
		{"FWPM_FILTER0", unsafe.Sizeof(f), 200}, {"flags", unsafe.Offsetof(f.flags), 32}, {"layerKey", unsafe.Offsetof(f.layer), 64},
		{"weight", unsafe.Offsetof(f.weight), 96}, {"filterCondition", unsafe.Offsetof(f.condition), 120}, {"action", unsafe.Offsetof(f.action), 128},
		{"providerContextKey", unsafe.Offsetof(f.context), 152}, {"reserved", unsafe.Offsetof(f.reserved), 168}, {"effectiveWeight", unsafe.Offsetof(f.effective), 184},
		{"FWPM_FILTER_CONDITION0", unsafe.Sizeof(c), 40}, {"conditionValue", unsafe.Offsetof(c.value), 24},
		{"FWPM_SESSION0", unsafe.Sizeof(s), 72}, {"txnWaitTimeoutInMSec", unsafe.Offsetof(s.timeout), 36}, {"kernelMode", unsafe.Offsetof(s.kernel), 64},
		{"FWPM_SUBLAYER0", unsafe.Sizeof(l), 72}, {"weight of a sublayer", unsafe.Offsetof(l.weight), 64},
	} {
		if v.got != v.want {
			t.Errorf("%s: %d, want %d", v.name, v.got, v.want)
		}
	}
}

// TestFilterEngine: under Wine the engine cannot be opened, and that is said. On a real
// Windows, as an administrator, the filters can be set and go with their session; not
// verified here.
func TestFilterEngine(t *testing.T) {
	user, logon, err := whoAmI()
	if err != nil {
		t.Fatal(err)
	}
	rules := filterRules(TokenWish{User: user, Logon: logon, Caps: []winacl.SID{capability(1)}})
	if wine() {
		if b, err := blockNetwork(rules); err == nil {
			b.close()
			t.Error("Wine has no filter engine, and it was taken for one")
		}
		return
	}
	if os.Getenv("QSANDBOX_WINDOWS") != "1" || !windows.GetCurrentProcessToken().IsElevated() {
		t.Skip("needs QSANDBOX_WINDOWS=1 and an administrator")
	}
	for range 2 { // twice: nothing of the first is left in the way
		b, err := blockNetwork(rules)
		if err != nil {
			t.Fatal(err)
		}
		b.close()
	}
}

// TestGroupLosesItsSay: a group of DenyOnly no longer counts for grants, here with one
// that this process has.
func TestGroupLosesItsSay(t *testing.T) {
	user, logon, err := whoAmI()
	if err != nil {
		t.Fatal(err)
	}
	w := TokenWish{User: user, Logon: logon, Caps: []winacl.SID{capability(1)}}
	tok, facts, err := makeToken(w)
	if err != nil {
		t.Fatal(err)
	}
	if !enabled(t, tok, winacl.Authenticated) || len(facts.Counting) != 0 {
		t.Skip("control: this process is not among Authenticated Users")
	}
	tok.Close()
	w.DenyOnly = []winacl.SID{winacl.Authenticated}
	if tok, facts, err = makeToken(w); err != nil {
		t.Fatal(err)
	}
	defer tok.Close()
	if len(facts.Counting) != 0 || enabled(t, tok, winacl.Authenticated) {
		t.Errorf("it still counts: %v", facts.Counting)
	}
}

func enabled(t *testing.T, tok windows.Token, s winacl.SID) bool {
	for _, g := range tokenModel(t, tok).Groups {
		if g.SID == s && g.Standing == winacl.Enabled {
			return true
		}
	}
	return false
}
