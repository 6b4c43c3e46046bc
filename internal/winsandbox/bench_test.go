package winsandbox

import (
	"fmt"
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// BenchmarkPure is all that one run computes before it calls Windows: entries for three
// roots with thirty protected paths, the lists with them, the token's list, environment,
// command line, journal.
func BenchmarkPure(b *testing.B) {
	l := Layout{Holder: capability(1)}
	for i := range 3 {
		root := fmt.Sprintf(`C:\work\project%d`, i)
		l.Roots = append(l.Roots, Root{root, capability(uint32(i + 1))})
		for k := range 10 {
			l.Protected = append(l.Protected, fmt.Sprintf(`%s\sub%d\.git\hooks`, root, k))
		}
	}
	var host []string
	for i := range 60 {
		host = append(host, fmt.Sprintf("VARIABLE_%d=%d", i, i))
	}
	host = append(host, `PATH=C:\Windows\system32;C:\Windows`, "PATHEXT=.COM;.EXE;.BAT")
	w := TokenWish{User: winacl.NewSID(5, 21, 9, 9, 9, 1001), Logon: winacl.NewSID(5, 5, 0, 7), Caps: l.SIDs()}
	b.ReportAllocs()
	for b.Loop() {
		var records []winacl.Record
		lists := map[string]*winacl.ACL{}
		for _, e := range Edits(l) {
			records = append(records, winacl.NewRecord(e.Path, e.ACE))
			if lists[e.Path] == nil {
				lists[e.Path] = &winacl.ACL{}
			}
			lists[e.Path] = lists[e.Path].With(e.ACE)
		}
		for _, list := range lists {
			list.Encode()
		}
		w.Offline().DefaultDACL().Encode()
		if _, err := winacl.ParseJournal(winacl.Journal{}.Add(records...).Encode()); err != nil {
			b.Fatal(err)
		}
		Environment(EnvWish{Host: host, Temp: `C:\t`, Cache: `C:\c`, Stubs: `C:\s`})
		if _, err := CommandLine(`C:\bin\x.exe`, []string{"x", "a b", `"`}); err != nil {
			b.Fatal(err)
		}
	}
}
