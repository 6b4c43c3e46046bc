package results

import (
	"strings"
	"testing"
	"time"
)

func sample(run string, records ...Record) *Report {
	r := &Report{Kind: Kind, Version: Version, Tool: "qsandbox", ToolVersion: "t", Started: time.Unix(1, 0).UTC(), Records: records,
		Machines: []Machine{{Name: "machine", Run: run, Platform: "linux/amd64"}}, Cases: []CaseInfo{{ID: "LX-A-01", Severity: "critical"}, {ID: "LX-B-01", Severity: "major"}}}
	r.Settle()
	return r
}

func record(id, platform string, st Status) Record {
	return Record{Platform: platform, Backend: "linux-native", Mode: "compat", CaseID: id, Status: st}
}

// TestReadRefusesWhatDoesNotFit: each change of a good report is an error that names the place.
// TestWhole: a gate does not take the quick matrix for more, nor an interrupted run.
func TestWhole(t *testing.T) {
	r := sample("a", record("LX-A-01", "linux/amd64", Pass))
	if g := r.Whole(""); !g.Holds {
		t.Errorf("%+v", g)
	}
	r.Matrix = Quick
	if g := r.Whole(""); g.Holds || g.Exit != ExitQuick {
		t.Errorf("%+v", g)
	}
	if g := r.Whole(Quick); !g.Holds {
		t.Errorf("%+v", g)
	}
	both, err := Merge(sample("b", record("LX-A-01", "linux/amd64", Pass)), r)
	if err != nil || both.Whole("").Holds {
		t.Errorf("joined: %v", err)
	}
	r.Interrupted = true
	if code := GateExit(r.Gates()); code != ExitInterrupted {
		t.Errorf("interrupted: %d", code)
	}
}

func TestReadRefusesWhatDoesNotFit(t *testing.T) {
	data, err := sample("r1", record("LX-A-01", "linux/amd64", Pass), record("LX-B-01", "linux/amd64", Fail)).JSON()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Read("good", data); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, next, want string }{
		{`"pass": 1`, `"pass": 2`, `field "summary"`},
		{`"env_leak_count": 0`, `"env_leak_count": 1`, `field "metrics"`},
		{`"run": "r1"`, `"run": ""`, `machines[0].run`},
		{`"tool": "qsandbox"`, `"tool": "qsandbox", "tool": "x"`, `"tool" is there twice`},
		{`"case_id": "LX-B-01"`, `"case_id": "LX-A-01"`, `records[1]`},
		{`"duration_ms": 0,`, `"duration_ms": "x",`, `line 7: field "duration_ms"`},
		{`"version": 1`, `"version": 9`, `field "version"`},
		{`"status": "pass"`, `"status": "fine"`, `records[0].status`},
	} {
		bad := strings.Replace(string(data), c.old, c.next, 1)
		if _, err := Read("bad", []byte(bad)); bad == string(data) || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %s", c.next, err, c.want)
		}
	}
	if _, err := Read("cut", data[:len(data)/2]); err == nil || !strings.Contains(err.Error(), "line ") {
		t.Errorf("a cut file: %v", err)
	}
}

func TestGates(t *testing.T) {
	for _, c := range []struct {
		name string
		r    *Report
		code int
	}{
		{"all pass", sample("r", record("LX-A-01", "linux/amd64", Pass), record("LX-B-01", "linux/amd64", Pass)), 0},
		{"critical", sample("r", record("LX-A-01", "linux/amd64", Fail), record("LX-B-01", "linux/amd64", Pass)), ExitCritical},
		{"critical skipped", sample("r", record("LX-A-01", "linux/amd64", Skip), record("LX-B-01", "linux/amd64", Pass)), ExitCritical},
		{"major", sample("r", record("LX-A-01", "linux/amd64", Pass), record("LX-B-01", "linux/amd64", Fail)), ExitMajor},
		{"several", sample("r", record("LX-A-01", "linux/amd64", Fail), record("LX-B-01", "linux/amd64", Fail)), 1},
	} {
		if code := GateExit(c.r.Gates()); code != c.code {
			t.Errorf("%s: %d, want %d: %+v", c.name, code, c.code, c.r.Gates())
		}
	}
	r := sample("r", record("LX-A-01", "linux/amd64", Pass))
	r.Required = []string{"linux-native"}
	if code := GateExit(r.Gates()); code != 0 {
		t.Errorf("a required backend that was tried: %d", code)
	}
	r.Required = []string{"linux-bwrap"}
	if code := GateExit(r.Gates()); code != ExitRequired {
		t.Errorf("a required backend that was not tried: %d", code)
	}
}

func TestMerge(t *testing.T) {
	a, b := sample("r1", record("LX-A-01", "linux/amd64", Pass)), sample("r2", record("LX-A-01", "linux/arm64", Skip))
	b.Machines[0].Platform = "linux/arm64"
	b.Settle()
	both, err := Merge(a, b)
	if err != nil || len(both.Records) != 2 || both.Summary.Skip != 1 {
		t.Errorf("a skip on another platform is no skip of this one: %v %+v", err, both)
	}
	if both.Machines[0].Name == both.Machines[1].Name {
		t.Error("two machines have one name")
	}
	if _, err := Merge(a, a); err == nil {
		t.Error("a report merged with itself counts twice")
	}
	b.Machines[0].Name, b.Machines[0].Run = "machine-2", "r3"
	if all, err := Merge(a, b, sample("r4", record("LX-A-01", "linux/amd64", Fail))); err != nil || all.Machines[2].Name != "machine-3" {
		t.Errorf("names: %v %+v", err, all)
	}
}

// TestDiff: every kind of change, for one key among others of which nothing changes:
// platforms, backends and modes are apart.
func TestDiff(t *testing.T) {
	const none = Status("")
	type change struct{ old, next Status }
	worse := map[change]bool{
		{Pass, Fail}: true, {Pass, Invalid}: true, {Pass, KnownLimit}: true, {Pass, Skip}: true, {Pass, none}: true,
		{Skip, Fail}: true, {Skip, Invalid}: true, {Skip, KnownLimit}: true,
		{KnownLimit, Fail}: true, {KnownLimit, Invalid}: true, {Invalid, Fail}: true,
		{none, Fail}: true, {none, Invalid}: true,
	}
	key := Record{Platform: "linux/amd64", Backend: "linux-native", Mode: "compat", CaseID: "LX-A-01"}
	others := []Record{
		{Platform: "linux/arm64", Backend: "linux-native", Mode: "compat", CaseID: "LX-A-01", Status: Pass},
		{Platform: "linux/amd64", Backend: "linux-bwrap", Mode: "compat", CaseID: "LX-A-01", Status: Fail},
		{Platform: "linux/amd64", Backend: "linux-native", Mode: "strict", CaseID: "LX-A-01", Status: Skip},
		{Platform: "linux/amd64", Backend: "linux-native", Mode: "compat", CaseID: "LX-B-01", Status: KnownLimit},
	}
	with := func(s Status) *Report {
		r := &Report{Records: append([]Record{}, others...)}
		if s != none {
			k := key
			k.Status, k.Notes = s, "note of "+string(s)
			r.Records = append(r.Records, k)
		}
		return r
	}
	for _, old := range append(Statuses(), none) {
		for _, next := range append(Statuses(), none) {
			got := Diff(with(old), with(next))
			if old == next {
				if len(got) != 0 {
					t.Errorf("%q stays, and changes are %+v", old, got)
				}
				continue
			}
			want := Change{Platform: key.Platform, Backend: key.Backend, Mode: key.Mode, CaseID: key.CaseID, Old: old, New: next, Worse: worse[change{old, next}]}
			if next != none {
				want.Notes = "note of " + string(next)
			}
			if len(got) != 1 || got[0] != want {
				t.Errorf("%q to %q: %+v, want %+v", old, next, got, want)
			}
		}
	}
}

// TestDiffOrder: what got worse comes first; of several machines the worst counts.
func TestDiffOrder(t *testing.T) {
	old := &Report{Records: []Record{record("LX-A-01", "linux/amd64", Fail), record("LX-B-01", "linux/amd64", Pass), record("LX-C-01", "linux/amd64", Pass)}}
	next := &Report{Records: []Record{record("LX-A-01", "linux/amd64", Pass), record("LX-B-01", "linux/amd64", Pass), record("LX-B-01", "linux/amd64", Fail), record("LX-D-01", "linux/amd64", Pass)}}
	var got []string
	for _, c := range Diff(old, next) {
		got = append(got, c.CaseID+" "+string(c.Old)+">"+string(c.New))
	}
	if want := "LX-B-01 pass>fail, LX-C-01 pass>, LX-A-01 fail>pass, LX-D-01 >pass"; strings.Join(got, ", ") != want {
		t.Errorf("%s, want %s", strings.Join(got, ", "), want)
	}
}
