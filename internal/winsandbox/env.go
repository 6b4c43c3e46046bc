package winsandbox

import (
	"sort"
	"strings"

	"github.com/qiming-sandbox/qsandbox/policy"
)

// Network says what the environment tells programs about the network. The zero value
// is off.
type Network uint8

// The states.
const (
	NetworkOff Network = iota
	NetworkOn
)

// EnvWish is what goes into the command's environment.
type EnvWish struct {
	Host    []string // the helper's own, KEY=value
	Pass    []string // names that the caller lets through, beside the safe list
	Network Network
	Temp    string // becomes TEMP and TMP
	Cache   string // tools' caches go there; "" leaves them
	Stubs   string // directory with ssh and scp that refuse; first in PATH when the network is off
}

// Environment makes the exact environment (VAR-01, WIN-08, WIN-09): the safe list, what
// the caller names, our own settings. Names are sorted as CreateProcess wants them.
// dropped lists names that were held back although they were named.
func Environment(w EnvWish) (env, dropped []string) {
	m := map[string]string{} // upper-case name -> KEY=value
	set := func(k, v string) { m[strings.ToUpper(k)] = k + "=" + v }
	for _, kv := range w.Host {
		k, v, ok := strings.Cut(kv, "=")
		if !ok || k == "" {
			continue // "=C:=C:\dir" is cmd.exe's own
		}
		named := contains(w.Pass, k)
		if strings.ContainsRune(v, 0) {
			if named {
				dropped = append(dropped, k)
			}
			continue
		}
		if policy.IsSafeKey("windows", k) || named {
			set(k, null(v))
		}
	}
	for _, k := range []string{"PAGER", "GIT_PAGER"} {
		if m[k] == "" {
			set(k, "more.com")
		}
	}
	if w.Temp != "" {
		set("TEMP", w.Temp)
		set("TMP", w.Temp)
	}
	caches(set, w.Cache)
	if w.Network == NetworkOff {
		offline(set, m, w.Stubs)
	}
	for _, kv := range m {
		env = append(env, kv)
	}
	sort.Slice(env, func(i, j int) bool { return name(env[i]) < name(env[j]) })
	sort.Strings(dropped)
	return env, dropped
}

func name(kv string) string { k, _, _ := strings.Cut(kv, "="); return strings.ToUpper(k) }

func contains(list []string, k string) bool {
	for _, n := range list {
		if strings.EqualFold(n, k) {
			return true
		}
	}
	return false
}

// null writes the null device as Windows calls it.
func null(v string) string {
	if v == "/dev/null" {
		return "NUL"
	}
	return v
}

// caches points tools to the private cache: APPDATA and LOCALAPPDATA are never
// writable (VAR-04, WIN-05).
func caches(set func(k, v string), dir string) {
	if dir == "" {
		return
	}
	for _, c := range [][2]string{
		{"XDG_CACHE_HOME", ""}, {"npm_config_cache", `\npm`}, {"YARN_CACHE_FOLDER", `\yarn`}, {"PIP_CACHE_DIR", `\pip`}, {"UV_CACHE_DIR", `\uv`},
		{"CARGO_HOME", `\cargo`}, {"GOCACHE", `\go-build`}, {"GOMODCACHE", `\go-mod`}, {"GRADLE_USER_HOME", `\gradle`}, {"NUGET_PACKAGES", `\nuget`},
	} {
		set(c[0], dir+c[1])
	}
}

// dead is a proxy that nobody serves: the discard port of this machine.
const dead = "http://127.0.0.1:9"

// offline tells programs that there is no network. It is advice: a program that opens
// a socket of its own does not ask (WIN-08).
func offline(set func(k, v string), m map[string]string, stubs string) {
	for _, k := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "FTP_PROXY"} {
		set(k, dead)
	}
	set("NO_PROXY", "")
	for k, v := range map[string]string{
		"PIP_NO_INDEX": "1", "npm_config_offline": "true", "CARGO_NET_OFFLINE": "true", "GOPROXY": "off", "UV_OFFLINE": "1",
		"YARN_ENABLE_NETWORK": "0", "GIT_SSH_COMMAND": "cmd /c exit 1", "GIT_ALLOW_PROTOCOL": "file", "GIT_TERMINAL_PROMPT": "0", "QSANDBOX_NETWORK": "off",
	} {
		set(k, v)
	}
	if stubs == "" {
		return
	}
	_, path, _ := strings.Cut(m["PATH"], "=")
	set("PATH", strings.TrimSuffix(stubs+";"+path, ";"))
	_, ext, _ := strings.Cut(m["PATHEXT"], "=")
	order := []string{".BAT", ".CMD"}
	for _, e := range strings.Split(ext, ";") {
		if e != "" && !contains(order, e) {
			order = append(order, e)
		}
	}
	if ext == "" {
		order = append(order, ".COM", ".EXE")
	}
	set("PATHEXT", strings.Join(order, ";"))
}

// Stubs are the files of the directory that stands first in PATH, by name.
func Stubs() map[string]string {
	out := map[string]string{}
	for _, n := range []string{"ssh", "scp", "sftp"} {
		out[n+".bat"] = "@echo " + n + ": the network is off in this sandbox 1>&2\r\n@exit /b 255\r\n"
	}
	return out
}
