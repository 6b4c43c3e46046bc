package policy

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// layerFrom reads a policy as a layer of some kind.
func layerFrom(t testing.TB, kind OriginKind, text string) Layer {
	t.Helper()
	l, err := Parse("p.json", []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	l.Origin.Kind = kind
	return l
}

func one(field, value string) string {
	if group, leaf, ok := strings.Cut(field, "."); ok {
		return `{"` + group + `":{"` + leaf + `":` + value + `}}`
	}
	return `{"` + field + `":` + value + `}`
}

// narrowing has, for every field, a value below, values that narrow it (with what
// results, if that is not the value itself) and values that do not.
var narrowing = map[string]struct {
	below string
	ok    []string
	wide  []string
}{
	"version":                   {`1`, []string{`1`}, nil},
	"enabled":                   {`true`, nil, []string{`true`, `false`}},
	"backend":                   {`"auto"`, nil, []string{`"auto"`, `"none"`, `"linux-native"`}},
	"mode":                      {`"compat"`, []string{`"compat"`, `"strict"`}, []string{`"permissive"`}},
	"autoFallback":              {`"session"`, nil, []string{`"session"`, `"manual"`}},
	"windowsMode":               {`"workspace-write"`, []string{`"workspace-write"`, `"read-only"`}, nil},
	"workspace":                 {`"/w"`, nil, []string{`"/w"`, `"/w/sub"`}},
	"filesystem.writable":       {`["/data","~/x"]`, []string{`["/data"]`, `[]`, `["/data/sub"]`, `["~/x/y","/data"]`, `["sub"] => []`, `["."] => []`, `["./a b","out/*"] => []`, `["/data/.config"," /etc"] => ["/data/.config"]`}, []string{`["/"]`, `["/datax"]`, `["/dat"]`, `["../x"]`, `["~"]`, `["/data/*"]`, `["/home/u/x"]`, `["C:/data"]`, `["/data/.ssh/k"]`, `["/data/r/.git/hooks"]`}},
	"filesystem.readable":       {`["/a","~/.aws"]`, []string{`["/a"]`, `[]`}, []string{`["/a/b"]`, `["b"]`, `["~/.ssh"]`}},
	"filesystem.denyRead":       {`["/a"]`, []string{`["/b"] => ["/a","/b"]`, `[] => ["/a"]`, `["/a"] => ["/a"]`}, nil},
	"filesystem.denyWrite":      {`["/a"]`, []string{`["b"] => ["/a","b"]`, `[] => ["/a"]`}, nil},
	"filesystem.allowProtected": {`["git-hooks","vscode"]`, []string{`["vscode"]`, `[]`}, []string{`["idea"]`}},
	"filesystem.newProtected":   {`"detect"`, []string{`"detect"`, `"prevent"`}, nil},
	"network.mode":              {`"allow"`, []string{`"allow"`, `"off"`}, []string{`"on"`}},
	"network.allow":             {`["a.org","*.b.org","c.org:443","10.0.0.1"]`, []string{`["a.org"]`, `["a.org:80"]`, `["x.b.org"]`, `["*.x.b.org:1"]`, `["*.b.org"]`, `["c.org:443","10.0.0.1:5"]`, `[]`}, []string{`["b.org"]`, `["xa.org"]`, `["c.org"]`, `["c.org:80"]`, `["*.a.org"]`, `["*.org"]`, `["xb.org"]`, `["10.0.0.2"]`}},
	"network.deny":              {`["a.org"]`, []string{`["b.org"] => ["a.org","b.org"]`, `[] => ["a.org"]`}, nil},
	"network.unixSockets":       {`["/run/a"]`, []string{`["/run/a"]`, `[]`}, []string{`["/run/b"]`, `["/run/a/b"]`}},
	"network.localPorts":        {`[1,2]`, []string{`[2]`, `[]`}, []string{`[3]`}},
	"network.upstream":          {`"http://p:1"`, nil, []string{`""`, `"http://p:1"`, `"http://q:1"`}},
	"env.pass":                  {`["A","B"]`, []string{`["B"]`, `[]`}, []string{`["C"]`, `["a"]`}},
	"env.set":                   {`{"A":"1"}`, nil, []string{`{}`, `{"A":"1"}`, `{"B":"1"}`}},
	"env.allowHooks":            {`["LD_*","NODE_OPTIONS"]`, []string{`["LD_PRELOAD"]`, `["LD_*"]`, `["LD_A*","NODE_OPTIONS"]`, `[]`}, []string{`["L*"]`, `["NODE_*"]`, `["PYTHONPATH"]`}},
	"limits.timeout":            {`"10s"`, []string{`"10s"`, `"5s"`}, []string{`"11s"`, `0`}},
	"limits.grace":              {`"2s"`, []string{`"2s"`, `"1s"`, `0 => ""`}, []string{`"3s"`}},
	"limits.memory":             {`"1GiB"`, []string{`"1GiB"`, `"512MiB"`}, []string{`"2GiB"`, `""`}},
	"limits.processes":          {`100`, []string{`100`, `2`}, []string{`101`, `0`}},
	"limits.cpus":               {`2`, []string{`2`, `1.5`}, []string{`2.5`, `0`}},
	"limits.output":             {`"1MiB"`, []string{`"1KiB"`}, []string{`"2MiB"`, `0`}},
	"limits.tmp":                {`"1MiB"`, []string{`"64KiB"`}, []string{`"2MiB"`, `0`}},
	"exec.startupAllowlist":     {`["/a","/b"]`, []string{`["/b"]`, `[]`}, []string{`["/c"]`, `["/a/x"]`}},
	"exec.nested":               {`true`, []string{`true`, `false`}, nil},
	"docker.image":              {`"a"`, nil, []string{`"a"`, `"b"`}},
	"docker.pull":               {`"always"`, nil, []string{`"always"`, `"never"`}},
	"docker.runtime":            {`"a"`, nil, []string{`"a"`, `""`}},
	"docker.host":               {`"unix:///a"`, nil, []string{`""`}},
	"docker.keep":               {`true`, nil, []string{`false`}},
	"macos.services":            {`["a","b"]`, []string{`["a"]`, `[]`}, []string{`["c"]`}},
	"windows.audit":             {`"best-effort"`, []string{`"best-effort"`, `"enforce"`}, nil},
}

// narrowingFromNarrow has the other end, for fields whose value above is the widest.
var narrowingFromNarrow = map[string]struct {
	below string
	wide  []string
}{
	"mode":         {`"strict"`, []string{`"compat"`}},
	"windowsMode":  {`"read-only"`, []string{`"workspace-write"`}},
	"network.mode": {`"off"`, []string{`"allow"`, `"on"`}},
	"exec.nested":  {`false`, []string{`true`}},

	"filesystem.newProtected": {`"prevent"`, []string{`"detect"`}},
	"windows.audit":           {`"enforce"`, []string{`"best-effort"`}},
	"limits.grace":            {`0`, []string{`"1ms"`}},
}

func TestWorkspaceFileOnlyNarrows(t *testing.T) {
	for _, f := range Fields() {
		row, ok := narrowing[f.Name]
		if !ok || len(row.ok)+len(row.wide) == 0 {
			t.Errorf("%s: no row in the table", f.Name)
			continue
		}
		if (f.Narrows == Fixed) != (row.ok == nil) {
			t.Errorf("%s: the table and the field's direction %q differ", f.Name, f.Narrows)
		}
		for _, v := range row.ok {
			checkNarrows(t, &f, row.below, v)
		}
		for _, v := range row.wide {
			checkWidens(t, &f, row.below, v)
		}
	}
	for name, row := range narrowingFromNarrow {
		f, _ := FieldNamed(name)
		for _, v := range row.wide {
			checkWidens(t, f, row.below, v)
		}
	}
}

// base is the layer below; network.allow is only of use in mode allow.
func base(t *testing.T, f *Field, below string) Layer {
	l := layerFrom(t, OriginFile, one(f.Name, below))
	if f.Name == "network.allow" {
		l.Network.Mode = new(NetworkAllow)
	}
	return l
}

func checkNarrows(t *testing.T, f *Field, below, value string) {
	t.Helper()
	value, result, differs := strings.Cut(value, " => ")
	if !differs {
		result = value
	}
	want, err := Merge(layerFrom(t, OriginFile, one(f.Name, result)))
	if err != nil {
		t.Fatal(err)
	}
	narrow := layerFrom(t, OriginFile, one(f.Name, value))
	narrow.NarrowOnly = true
	for _, l := range []Layer{layerFrom(t, OriginWorkspace, one(f.Name, value)), narrow} {
		e, err := Merge(base(t, f, below), l)
		if err != nil {
			t.Errorf("%s: %s over %s (%s): %v", f.Name, value, below, l.Origin, err)
			continue
		}
		got, _ := f.JSON(e.Policy)
		if w, _ := f.JSON(want.Policy); string(got) != string(w) {
			t.Errorf("%s: %s over %s gives %s, want %s", f.Name, value, below, got, w)
		}
	}
}

func checkWidens(t *testing.T, f *Field, below, value string) {
	t.Helper()
	narrow := layerFrom(t, OriginFile, one(f.Name, value))
	narrow.NarrowOnly = true
	for _, l := range []Layer{layerFrom(t, OriginWorkspace, one(f.Name, value)), narrow} {
		_, err := Merge(base(t, f, below), l)
		var e *fault.Error
		if !errors.As(err, &e) || e.Code != fault.PolicyInvalid || !strings.HasSuffix(e.Subject, ":"+f.Name) || !strings.Contains(e.Subject, "p.json") {
			t.Errorf("%s: %s over %s (%s) must be refused, got %v", f.Name, value, below, l.Origin, err)
			continue
		}
		if f.Name != "mode" && !strings.Contains(e.Hint, string(f.Narrows)) {
			t.Errorf("%s: the hint does not say the direction: %v", f.Name, err)
		}
	}
	// The allow twin: the same value in the user's own file is fine.
	if _, err := Merge(base(t, f, below), layerFrom(t, OriginFile, one(f.Name, value))); err != nil {
		t.Errorf("%s: %s in the user's file: %v", f.Name, value, err)
	}
}

// TestNarrowWritableReopensNothing: a more specific path would win over a denial.
func TestNarrowWritableReopensNothing(t *testing.T) {
	for _, c := range []struct {
		below, entry string
		ok           bool
	}{
		{`{"filesystem":{"writable":["/d"],"denyWrite":["/d/keep"]}}`, "/d/keep/x", false},
		{`{"filesystem":{"writable":["/d"],"denyWrite":["/d/keep"]}}`, "/d/keep", false},
		{`{"filesystem":{"writable":["/d"],"denyRead":["/d/**/secret"]}}`, "/d/a/secret/x", false},
		{`{"filesystem":{"writable":["/d"],"denyRead":["**/secret"]}}`, "/d/a", false}, // cannot be compared
		{`{"filesystem":{"writable":["/d"],"denyWrite":["/d/keep"]}}`, "/d/other", true},
		{`{"filesystem":{"writable":["/d"],"denyWrite":["/d/keep/deep"]}}`, "/d/keep", true}, // the denial is the more specific
		{`{"filesystem":{"writable":["/d"],"denyWrite":["/d/KEEP"]}}`, "/d/keep/x", false},
		{`{"filesystem":{"writable":["~"]}}`, "~/.ssh", false},
		{`{"filesystem":{"writable":["~"]}}`, "~/.bashrc", false},
		{`{"filesystem":{"writable":["/"]}}`, "/home/u/.aws/x", false},
		{`{"filesystem":{"writable":["/"]}}`, "/srv", true},
		{`{"filesystem":{"writable":["/d*"]}}`, "/data", false},
	} {
		w := Layer{Origin: Origin{Kind: OriginWorkspace}}
		w.Filesystem.Writable = &[]string{c.entry}
		e, err := Merge(layerFrom(t, OriginFile, c.below), w)
		if (err == nil) != c.ok {
			t.Errorf("%s over %s: ok %v, want %v (%v)", c.entry, c.below, err == nil, c.ok, err)
		}
		if err == nil && !slices.Equal(e.Policy.Filesystem.Writable, []string{c.entry}) {
			t.Errorf("%s over %s gives %v", c.entry, c.below, e.Policy.Filesystem.Writable)
		}
	}
}

func TestClimbs(t *testing.T) {
	for _, p := range []string{"..", "../x", "a/..", "a/../b", `\.\./x`, `.\./x`, "{a,..}/x", "{..,a}", `a\../x`, `..\x`, "{a,{b,..}}/c"} {
		if !climbs(p) {
			t.Errorf("climbs(%q) is false", p)
		}
	}
	for _, p := range []string{"a..b", "...", "a/.../b", "..a", "a.."} {
		if climbs(p) {
			t.Errorf("climbs(%q) is true", p)
		}
	}
}

func TestNetworkAllowNarrows(t *testing.T) {
	for _, c := range []struct {
		mode  string
		allow string
		ok    bool
	}{{"on", `["any.org"]`, true}, {"off", `["any.org"]`, false}, {"off", `[]`, true}, {"allow", `["any.org"]`, false}} {
		_, err := Merge(layerFrom(t, OriginFile, one("network.mode", `"`+c.mode+`"`)), layerFrom(t, OriginWorkspace, one("network.allow", c.allow)))
		if (err == nil) != c.ok {
			t.Errorf("%s below, %s: %v", c.mode, c.allow, err)
		}
	}
	// The workspace's own mode does not change what its list is held against.
	both := `{"network":{"mode":"allow","allow":["any.org"]}}`
	e, err := Merge(layerFrom(t, OriginFile, `{"network":{"mode":"on"}}`), layerFrom(t, OriginWorkspace, both))
	if err != nil || e.Policy.Network.Mode != NetworkAllow || !slices.Equal(e.Policy.Network.Allow, []string{"any.org"}) {
		t.Errorf("on to allow: %+v, %v", e.Policy.Network, err)
	}
	if _, err := Merge(layerFrom(t, OriginWorkspace, both)); err == nil {
		t.Error("off to allow must be refused")
	}
}

func TestPermissiveIsPerRun(t *testing.T) {
	for kind, ok := range map[OriginKind]bool{OriginBuiltIn: false, OriginStored: false, OriginFile: true, OriginWorkspace: false, OriginFlags: true} {
		_, err := Merge(Layer{Origin: Origin{Kind: kind}, Mode: new(Permissive)})
		if (err == nil) != ok {
			t.Errorf("%s: %v", kind, err)
		}
		if _, err = Merge(Layer{Origin: Origin{Kind: kind}, Mode: new(Permissive), NarrowOnly: true}); err == nil {
			t.Errorf("%s, narrow only: accepted", kind)
		}
	}
	// Not even when the layer below has it.
	if _, err := Merge(layerFrom(t, OriginFile, `{"mode":"permissive"}`), layerFrom(t, OriginWorkspace, `{"mode":"permissive"}`)); err == nil {
		t.Error("workspace over permissive: accepted")
	}
}

func TestFlagsAppend(t *testing.T) {
	file := layerFrom(t, OriginFile, `{"filesystem":{"writable":["a"],"readable":["r"],"denyRead":["d"]},"env":{"pass":["A"],"set":{"X":"1","Y":"1"}},"limits":{"timeout":"1s"}}`)
	flags := layerFrom(t, OriginFlags, `{"filesystem":{"writable":["b","a"],"readable":["s"],"denyRead":["e"]},"env":{"pass":["B"],"set":{"Y":"2"}},"limits":{"timeout":"2s"}}`)
	e, err := Merge(file, flags)
	if err != nil {
		t.Fatal(err)
	}
	p := e.Policy
	if !slices.Equal(p.Filesystem.Writable, []string{"a", "b"}) || !slices.Equal(p.Filesystem.Readable, []string{"s"}) || !slices.Equal(p.Filesystem.DenyRead, []string{"d", "e"}) ||
		!slices.Equal(p.Env.Pass, []string{"A", "B"}) || !reflect.DeepEqual(p.Env.Set, map[string]string{"X": "1", "Y": "2"}) || p.Limits.Timeout != 2e9 {
		t.Errorf("got %+v", p)
	}
	origins := map[string]OriginKind{}
	for _, x := range []struct{ field, entry string }{{"filesystem.writable", "a"}, {"filesystem.writable", "b"}, {"filesystem.readable", "s"}, {"env.set", "X"}, {"env.set", "Y"}} {
		origins[x.field+" "+x.entry] = e.EntryOrigins[x.field][x.entry].Kind
	}
	if want := map[string]OriginKind{"filesystem.writable a": OriginFile, "filesystem.writable b": OriginFlags, "filesystem.readable s": OriginFlags, "env.set X": OriginFile, "env.set Y": OriginFlags}; !reflect.DeepEqual(origins, want) {
		t.Errorf("origins %v, want %v", origins, want)
	}
	if e.Origins["limits.timeout"].Kind != OriginFlags || e.Origins["limits.grace"].Kind != OriginBuiltIn {
		t.Errorf("origins %v", e.Origins)
	}
}

func TestMergeReplacesAndKeeps(t *testing.T) {
	stored := layerFrom(t, OriginStored, `{"mode":"strict","env":{"pass":["A"]},"network":{"deny":["x.org"]}}`)
	file := layerFrom(t, OriginFile, `{"env":{"pass":[]},"network":{"deny":["y.org"]}}`)
	e, err := Merge(BuiltIn(), stored, file)
	if err != nil {
		t.Fatal(err)
	}
	if e.Policy.Mode != Strict || len(e.Policy.Env.Pass) != 0 || !slices.Equal(e.Policy.Network.Deny, []string{"y.org"}) {
		t.Errorf("got %+v", e.Policy)
	}
	if e.Origins["mode"] != stored.Origin || e.Origins["env.pass"] != file.Origin {
		t.Errorf("origins %v", e.Origins)
	}
	if _, err := Merge(file, stored); fault.CodeOf(err) != fault.Internal {
		t.Errorf("layers out of order: %v", err)
	}
	if _, err := Merge(Layer{Network: LayerNetwork{LocalPorts: &[]int{0}}}); fault.CodeOf(err) != fault.PolicyInvalid {
		t.Errorf("values of layers made in Go must be checked: %v", err)
	}
}

// TestMergeSharesNothing: changing a result does not change the layers or other results.
func TestMergeSharesNothing(t *testing.T) {
	l := layerFrom(t, OriginFile, `{"filesystem":{"writable":["a"]},"env":{"set":{"A":"1"}}}`)
	e, err := Merge(l)
	if err != nil {
		t.Fatal(err)
	}
	e.Policy.Filesystem.Writable[0], e.Policy.Env.Set["A"] = "z", "z"
	if (*l.Filesystem.Writable)[0] != "a" || (*l.Env.Set)["A"] != "1" {
		t.Error("the layer changed")
	}
}

func TestDefaults(t *testing.T) {
	e, err := Merge()
	if err != nil {
		t.Fatal(err)
	}
	def, err := Normalise(Default())
	if err != nil || !reflect.DeepEqual(e.Policy, def) {
		t.Errorf("Merge() is %+v, want %+v (%v)", e.Policy, def, err)
	}
	if e, err = Merge(BuiltIn()); err != nil || !reflect.DeepEqual(e.Policy, def) {
		t.Errorf("Merge(BuiltIn()) is %+v (%v)", e.Policy, err)
	}
	if def.AutoFallback != Manual || def.Mode != Compat || def.Network.Mode != NetworkOff || def.Limits.Processes != 4096 || def.Limits.Tmp != 2<<30 || def.Limits.Timeout != 0 {
		t.Errorf("defaults %+v", def)
	}
	text, err := Default().MarshalJSON()
	want := `{"version":1,"enabled":true,"backend":"auto","mode":"compat","autoFallback":"manual","windowsMode":"workspace-write","workspace":".",` +
		`"filesystem":{"writable":[],"readable":[],"denyRead":[],"denyWrite":[],"allowProtected":[],"newProtected":"detect"},` +
		`"network":{"mode":"off","allow":[],"deny":[],"unixSockets":[],"localPorts":[],"upstream":""},` +
		`"env":{"pass":[],"set":{},"allowHooks":[]},` +
		`"limits":{"timeout":"","grace":"2s","memory":"","processes":4096,"cpus":0,"output":"","tmp":"2GiB"},` +
		`"exec":{"startupAllowlist":[],"nested":false},"docker":{"image":"","pull":"never","runtime":"","host":"","keep":false},` +
		`"macos":{"services":[]},"windows":{"audit":"best-effort"}}`
	if err != nil || string(text) != want {
		t.Errorf("Default is written as\n%s\nwant\n%s", text, want)
	}
}

// TestFieldsCoverPolicy: a field of the struct without a row would be lost in silence.
func TestFieldsCoverPolicy(t *testing.T) {
	rows := map[any]bool{}
	var p Policy
	var l Layer
	for _, f := range Fields() {
		f.ops.lower(&l, new(Default()))
		rows[f.Name] = true
	}
	if n := countLeaves(reflect.TypeOf(p)); n != len(rows) {
		t.Errorf("Policy has %d fields, the table %d", n, len(rows))
	}
	if e, err := Merge(l); err != nil || !reflect.DeepEqual(e.Policy.Limits, Default().Limits) {
		t.Errorf("through a layer: %+v, %v", e.Policy, err)
	}
}

func countLeaves(t reflect.Type) int {
	n := 0
	for i := range t.NumField() {
		if f := t.Field(i).Type; f.Kind() == reflect.Struct {
			n += countLeaves(f)
		} else {
			n++
		}
	}
	return n
}

func BenchmarkMerge(b *testing.B) {
	l := layerFrom(b, OriginFile, fullFile)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Merge(BuiltIn(), l); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("p", []byte(fullFile)); err != nil {
			b.Fatal(err)
		}
	}
}
