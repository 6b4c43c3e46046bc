package policy

import (
	"strings"
	"sync"
)

// Fields is the table: one row per field, in the order of the policy file. It is
// built at first use, so that a program that needs no policy does not pay for it.
// Callers must not change it.
func Fields() []Field { return fields() }

var fields = sync.OnceValue(func() []Field {
	var t []Field
	t = append(t, topFields()...)
	t = append(t, filesystemFields()...)
	t = append(t, networkFields()...)
	t = append(t, envFields()...)
	t = append(t, limitFields()...)
	return append(t, backendFields()...)
})

// fieldIndex has the row of each field by name, and -1 for each group.
var fieldIndex = sync.OnceValue(func() map[string]int {
	index := make(map[string]int, 64)
	for i, f := range Fields() {
		index[f.Name] = i
		if group, _, ok := strings.Cut(f.Name, "."); ok {
			index[group] = -1
		}
	}
	return index
})

// FieldNamed gives the row of a field such as "network.allow".
func FieldNamed(name string) (*Field, bool) {
	i, ok := fieldIndex()[name]
	if !ok || i < 0 {
		return nil, false
	}
	return &Fields()[i], true
}

// isGroup reports whether name is an object of fields, such as "filesystem".
func isGroup(name string) bool { return fieldIndex()[name] < 0 }

func field[T any](name string, dir Direction, r row[T], doc string) Field {
	return Field{Name: name, Type: r.typ, Values: r.values, Narrows: dir, Doc: doc, schema: r.schema, ops: r}
}

func topFields() []Field {
	return []Field{
		field("version", Anything, row[int]{codec: integers(`{"const":1}`, checkVersion),
			of: func(p *Policy) *int { return &p.Version }, in: func(l *Layer) **int { return &l.Version }, within: freely[int]},
			"The version of the file; always 1."),
		field("enabled", Fixed, row[bool]{codec: booleans,
			of: func(p *Policy) *bool { return &p.Enabled }, in: func(l *Layer) **bool { return &l.Enabled }},
			"Whether commands run in a sandbox at all."),
		field("backend", Fixed, row[Backend]{codec: enum[Backend](backendNames),
			of: func(p *Policy) *Backend { return &p.Backend }, in: func(l *Layer) **Backend { return &l.Backend }},
			"What carries out the sandbox; `auto` picks the one of the platform, `none` is no sandbox and is never picked by itself."),
		field("mode", TowardStrict, row[Mode]{codec: enum[Mode](modeNames),
			of: func(p *Policy) *Mode { return &p.Mode }, in: func(l *Layer) **Mode { return &l.Mode }, within: rank(modeRank)},
			"How closed the sandbox is: `strict` has only system directories and the workspace, `compat` the whole file system read-only, `permissive` no isolation (per run only)."),
		field("autoFallback", Fixed, row[AutoFallback]{codec: enum[AutoFallback](autoFallbackNames),
			of: func(p *Policy) *AutoFallback { return &p.AutoFallback }, in: func(l *Layer) **AutoFallback { return &l.AutoFallback }},
			"What happens when the backend is not available: `manual` is an error, the others run without a sandbox and report it. `strict` never falls back."),
		field("windowsMode", TowardRead, row[WindowsMode]{codec: enum[WindowsMode](windowsModeNames),
			of: func(p *Policy) *WindowsMode { return &p.WindowsMode }, in: func(l *Layer) **WindowsMode { return &l.WindowsMode }, within: rank(windowsModeRank)},
			"The Windows helper's sub-mode: whether the workspace may be written."),
		field("workspace", Fixed, row[string]{codec: strs("path", `{"type":"string"}`, checkWorkspace),
			of: func(p *Policy) *string { return &p.Workspace }, in: func(l *Layer) **string { return &l.Workspace }},
			"The folder the command works in; always writable. It is set by the host, never by a request."),
	}
}

func filesystemFields() []Field {
	globs := stringList("paths or globs", checkPathEntry)
	return []Field{
		field("filesystem.writable", FewerRoots, row[[]string]{codec: globs,
			of: func(p *Policy) *[]string { return &p.Filesystem.Writable }, in: func(l *Layer) **[]string { return &l.Filesystem.Writable },
			appends: union[string], within: narrowWritable},
			"What may be written besides the workspace."),
		field("filesystem.readable", FewerEntries, row[[]string]{codec: globs,
			of: func(p *Policy) *[]string { return &p.Filesystem.Readable }, in: func(l *Layer) **[]string { return &l.Filesystem.Readable },
			within: subset[string]},
			"What may be read although a less specific rule hides it."),
		field("filesystem.denyRead", MoreEntries, row[[]string]{codec: globs,
			of: func(p *Policy) *[]string { return &p.Filesystem.DenyRead }, in: func(l *Layer) **[]string { return &l.Filesystem.DenyRead },
			appends: union[string], within: more[string]},
			"What is hidden: files and whole trees."),
		field("filesystem.denyWrite", MoreEntries, row[[]string]{codec: globs,
			of: func(p *Policy) *[]string { return &p.Filesystem.DenyWrite }, in: func(l *Layer) **[]string { return &l.Filesystem.DenyWrite },
			appends: union[string], within: more[string]},
			"What may not be written although a writable root holds it."),
		field("filesystem.allowProtected", FewerEntries, row[[]string]{codec: stringList("protected names", checkProtectedName),
			of: func(p *Policy) *[]string { return &p.Filesystem.AllowProtected }, in: func(l *Layer) **[]string { return &l.Filesystem.AllowProtected },
			within: subset[string]},
			"Protected names (listed below) that may be written after all."),
		field("filesystem.newProtected", TowardStop, row[NewNames]{codec: enum[NewNames](newNamesNames),
			of: func(p *Policy) *NewNames { return &p.Filesystem.NewProtected }, in: func(l *Layer) **NewNames { return &l.Filesystem.NewProtected }, within: rank(newNamesRank)},
			"Linux: new protected names are kept from coming into being (`prevent`: each creating call then costs about 50 µs more), or found after the run and moved away (`detect`). `strict` always prevents."),
	}
}

func networkFields() []Field {
	return []Field{
		field("network.mode", TowardOff, row[NetworkMode]{codec: enum[NetworkMode](networkModeNames),
			of: func(p *Policy) *NetworkMode { return &p.Network.Mode }, in: func(l *Layer) **NetworkMode { return &l.Network.Mode }, within: rank(networkRank)},
			"What may be reached: nothing, everything, or what `network.allow` lists."),
		field("network.allow", Covered, row[[]string]{codec: stringList("hosts", checkHostRule),
			of: func(p *Policy) *[]string { return &p.Network.Allow }, in: func(l *Layer) **[]string { return &l.Network.Allow }, within: narrowHosts},
			"Hosts that may be reached in mode `allow`: `name`, `*.name` (below name, not name itself), either with `:port`, or an address."),
		field("network.deny", MoreEntries, row[[]string]{codec: stringList("hosts", checkHostRule),
			of: func(p *Policy) *[]string { return &p.Network.Deny }, in: func(l *Layer) **[]string { return &l.Network.Deny },
			appends: union[string], within: more[string]},
			"Hosts that may not be reached; wins over `network.allow`."),
		field("network.unixSockets", FewerEntries, row[[]string]{codec: stringList("absolute paths", checkLiteralPath),
			of: func(p *Policy) *[]string { return &p.Network.UnixSockets }, in: func(l *Layer) **[]string { return &l.Network.UnixSockets }, within: subset[string]},
			"Sockets of the host that may be reached, by path."),
		field("network.localPorts", FewerEntries, row[[]int]{codec: listOf("ports", `{"type":"integer","minimum":1,"maximum":65535}`, integers("", fine[int]).decode, checkPort),
			of: func(p *Policy) *[]int { return &p.Network.LocalPorts }, in: func(l *Layer) **[]int { return &l.Network.LocalPorts }, within: subset[int]},
			"Ports of the host's loopback that may be reached."),
		field("network.upstream", Fixed, row[string]{codec: strs("URL", `{"type":"string","pattern":"^$|^(http|https|socks5)://"}`, checkUpstream),
			of: func(p *Policy) *string { return &p.Network.Upstream }, in: func(l *Layer) **string { return &l.Network.Upstream }},
			"The corporate proxy to go through: an http, https or socks5 URL."),
	}
}

func envFields() []Field {
	return []Field{
		field("env.pass", FewerEntries, row[[]string]{codec: stringList("names", checkPassName),
			of: func(p *Policy) *[]string { return &p.Env.Pass }, in: func(l *Layer) **[]string { return &l.Env.Pass },
			appends: union[string], within: subset[string]},
			"Variables passed on from the host besides the safe ones."),
		field("env.set", Fixed, row[map[string]string]{codec: variables(),
			of: func(p *Policy) *map[string]string { return &p.Env.Set }, in: func(l *Layer) **map[string]string { return &l.Env.Set }, appends: join},
			"Variables with their values."),
		field("env.allowHooks", Covered, row[[]string]{codec: stringList("names, or prefixes with *", checkHookPattern),
			of: func(p *Policy) *[]string { return &p.Env.AllowHooks }, in: func(l *Layer) **[]string { return &l.Env.AllowHooks }, within: narrowHooks},
			"Loader and interpreter hooks (listed below) that may be passed or set."),
	}
}

func limitFields() []Field {
	return []Field{
		field("limits.timeout", Lower, row[durationT]{codec: durations(checkDuration),
			of: func(p *Policy) *durationT { return &p.Limits.Timeout }, in: func(l *Layer) **durationT { return &l.Limits.Timeout }, within: lower(durationText)},
			"Wall time of the run."),
		field("limits.grace", LowerToZero, row[durationT]{codec: durations(checkDuration),
			of: func(p *Policy) *durationT { return &p.Limits.Grace }, in: func(l *Layer) **durationT { return &l.Limits.Grace }, within: lowerToZero(durationText)},
			"Time between TERM and KILL; 0 kills at once."),
		field("limits.memory", Lower, row[Size]{codec: sizes(checkMemory),
			of: func(p *Policy) *Size { return &p.Limits.Memory }, in: func(l *Layer) **Size { return &l.Limits.Memory }, within: lower(Size.String)},
			"Memory of the whole tree of processes."),
		field("limits.processes", Lower, row[int]{codec: integers(`{"type":"integer","anyOf":[{"const":0},{"minimum":2}]}`, checkProcesses),
			of: func(p *Policy) *int { return &p.Limits.Processes }, in: func(l *Layer) **int { return &l.Limits.Processes }, within: lower(plain[int])},
			"Processes and threads at a time."),
		field("limits.cpus", Lower, row[float64]{codec: numbers(checkCPUs),
			of: func(p *Policy) *float64 { return &p.Limits.CPUs }, in: func(l *Layer) **float64 { return &l.Limits.CPUs }, within: lower(plain[float64])},
			"Processors' worth of time; 1.5 is one and a half."),
		field("limits.output", Lower, row[Size]{codec: sizes(checkSize),
			of: func(p *Policy) *Size { return &p.Limits.Output }, in: func(l *Layer) **Size { return &l.Limits.Output }, within: lower(Size.String)},
			"Bytes kept of each of stdout and stderr."),
		field("limits.tmp", Lower, row[Size]{codec: sizes(checkTmp),
			of: func(p *Policy) *Size { return &p.Limits.Tmp }, in: func(l *Layer) **Size { return &l.Limits.Tmp }, within: lower(Size.String)},
			"Size of /tmp and of /dev/shm, each."),
	}
}

func backendFields() []Field {
	return []Field{
		field("exec.startupAllowlist", FewerEntries, row[[]string]{codec: stringList("absolute paths", checkLiteralPath),
			of: func(p *Policy) *[]string { return &p.Exec.StartupAllowlist }, in: func(l *Layer) **[]string { return &l.Exec.StartupAllowlist }, within: subset[string]},
			"macOS, compat: more executables that may be started."),
		field("exec.nested", TowardFalse, row[bool]{codec: booleans,
			of: func(p *Policy) *bool { return &p.Exec.Nested }, in: func(l *Layer) **bool { return &l.Exec.Nested }, within: towardFalse},
			"Linux: whether the command may make user namespaces of its own."),
		field("docker.image", Fixed, row[string]{codec: strs("image reference", `{"type":"string"}`, checkDockerWord),
			of: func(p *Policy) *string { return &p.Docker.Image }, in: func(l *Layer) **string { return &l.Docker.Image }},
			"The image that the command runs in."),
		field("docker.pull", Fixed, row[string]{codec: choice("never", "missing", "always"),
			of: func(p *Policy) *string { return &p.Docker.Pull }, in: func(l *Layer) **string { return &l.Docker.Pull }},
			"When the image may be pulled."),
		field("docker.runtime", Fixed, row[string]{codec: strs("name", `{"type":"string"}`, checkDockerWord),
			of: func(p *Policy) *string { return &p.Docker.Runtime }, in: func(l *Layer) **string { return &l.Docker.Runtime }},
			"The engine's runtime, such as runsc; empty is the engine's own default."),
		field("docker.host", Fixed, row[string]{codec: strs("URL", `{"type":"string","pattern":"^$|^(unix|tcp|npipe|ssh|http|https)://"}`, checkDockerHost),
			of: func(p *Policy) *string { return &p.Docker.Host }, in: func(l *Layer) **string { return &l.Docker.Host }},
			"The engine; empty is DOCKER_HOST or the local one."),
		field("docker.keep", Fixed, row[bool]{codec: booleans,
			of: func(p *Policy) *bool { return &p.Docker.Keep }, in: func(l *Layer) **bool { return &l.Docker.Keep }},
			"Whether the container is kept for the next command."),
		field("macos.services", FewerEntries, row[[]string]{codec: stringList("names", checkServiceName),
			of: func(p *Policy) *[]string { return &p.Macos.Services }, in: func(l *Layer) **[]string { return &l.Macos.Services }, within: subset[string]},
			"Named groups of Mach services that may be looked up."),
		field("windows.audit", TowardForce, row[string]{codec: auditCodec(),
			of: func(p *Policy) *string { return &p.Windows.Audit }, in: func(l *Layer) **string { return &l.Windows.Audit }, within: narrowAudit},
			"What happens when the check for world-writable folders cannot finish: carry on and say so, or refuse to run."),
	}
}
