package spec

import (
	"path/filepath"
	"sort"
	"strings"

	"github.com/qiming-sandbox/qsandbox/policy"
)

// environment makes the exact environment of the command: the safe list from
// the host, what the policy names, our own settings, the caller's values last
// (VAR-01, VAR-02, VAR-04).
func (b *binder) environment() error {
	env := map[string]string{}
	for _, kv := range b.h.Environ() {
		k, v, ok := strings.Cut(kv, "=")
		if ok && (policy.IsSafeKey(b.h.GOOS, k) || b.passes(k)) {
			env[k] = v
		}
	}
	b.account(env)
	b.caches(env)
	for k, v := range b.eff.Policy.Env.Set {
		b.give(env, k, v, "env.set")
	}
	for k, v := range b.cmd.Env {
		b.give(env, k, v, "request")
	}
	for k, v := range env {
		b.s.Env = append(b.s.Env, k+"="+v)
	}
	sort.Strings(b.s.Env)
	return nil
}

// passes tells whether the policy names a variable of the host in env.pass.
func (b *binder) passes(key string) bool {
	for _, p := range b.eff.Policy.Env.Pass {
		if p == key || strings.HasSuffix(p, "*") && strings.HasPrefix(key, strings.TrimSuffix(p, "*")) {
			return b.hookAllowed(key, "env.pass")
		}
	}
	return false
}

// give sets a variable that was asked for, unless it is a loader or interpreter
// hook without the policy's word.
func (b *binder) give(env map[string]string, k, v, from string) {
	if b.hookAllowed(k, from) {
		env[k] = v
	}
}

func (b *binder) hookAllowed(k, from string) bool {
	if !policy.IsHook(k) || policy.HookAllowed(k, b.eff.Policy.Env.AllowHooks) {
		return true
	}
	b.s.notice("env:dropped", k+" from "+from+" was dropped: it makes programs load code; name it in env.allowHooks to pass it")
	return false
}

// account sets what follows from the user and the private /tmp.
func (b *binder) account(env map[string]string) {
	if b.h.GOOS == "windows" {
		return
	}
	if b.s.User.Switch {
		env["HOME"], env["USER"], env["SHELL"] = b.s.User.Home, b.s.User.Name, b.s.User.Shell
	}
	if env["HOME"] == "" && b.s.User.Home != "" {
		env["HOME"] = b.s.User.Home
	}
	if env["PATH"] == "" {
		env["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
	}
	if b.h.GOOS == "linux" && b.s.Isolated() {
		env["TMPDIR"] = "/tmp"
	}
	if b.s.TTY && env["TERM"] == "" {
		env["TERM"] = "xterm"
	}
}

// cacheVars says which variable moves which tool's cache, and where to.
var cacheVars = []struct{ name, sub string }{
	{"XDG_CACHE_HOME", ""},
	{"npm_config_cache", "npm"},
	{"YARN_CACHE_FOLDER", "yarn"},
	{"PIP_CACHE_DIR", "pip"},
	{"UV_CACHE_DIR", "uv"},
	{"CARGO_HOME", "cargo"},
	{"GOCACHE", "go-build"},
	{"GOMODCACHE", "go-mod"},
	{"GRADLE_USER_HOME", "gradle"},
	{"NUGET_PACKAGES", "nuget"},
}

// caches points tools to the private cache (VAR-04).
func (b *binder) caches(env map[string]string) {
	if !b.s.Isolated() || b.h.GOOS == "windows" {
		return
	}
	dir := b.s.Cache
	if dir == "" {
		dir = "/tmp/.cache"
	}
	for _, c := range cacheVars {
		env[c.name] = filepath.Join(dir, c.sub)
	}
	env["MAVEN_OPTS"] = "-Dmaven.repo.local=" + filepath.Join(dir, "maven")
	if b.eff.Policy.Network.Mode == policy.NetworkOff {
		// Without a network the host's module cache, read-only, is the one source there is.
		mods := b.h.Getenv("GOMODCACHE")
		if mods == "" {
			mods = filepath.Join(b.s.User.Home, "go", "pkg", "mod")
		}
		env["GOPROXY"], env["GONOSUMDB"] = "file://"+filepath.Join(mods, "cache", "download"), "*"
	}
}
