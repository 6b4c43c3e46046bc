package policy

import "strings"

// SafeKeys gives the variables that pass from the host to every command (VAR-01),
// for a GOOS. A name with a * at its end stands for all names that start so. The
// caller may change the list.
func SafeKeys(goos string) []string {
	if goos == "windows" {
		return []string{
			"PATH", "SYSTEMROOT", "WINDIR", "SYSTEMDRIVE", "COMSPEC", "PATHEXT", "TEMP", "TMP",
			"USERPROFILE", "HOME", "LOCALAPPDATA", "APPDATA", "COMPUTERNAME", "USERNAME", "OS",
			"PROCESSOR_ARCHITECTURE", "LANG", "TZ",
		}
	}
	return []string{"PATH", "HOME", "USER", "SHELL", "LANG", "LC_*", "TZ", "TERM", "TMPDIR"}
}

// IsSafeKey reports whether a variable passes by itself. On Windows letter case does not count.
func IsSafeKey(goos, name string) bool {
	for _, k := range SafeKeys(goos) {
		if goos == "windows" && strings.EqualFold(k, name) || matchesName(k, name) {
			return true
		}
	}
	return false
}

// Hook is a variable, or with a * in its name a family of them, that makes a program
// load or run something that its command line does not show.
type Hook struct {
	Name   string
	Reason string
}

// Hooks is the table of loader and interpreter hooks (VAR-02). The caller must not change it.
func Hooks() []Hook { return hooks }

var hooks = []Hook{
	{"LD_*", "the Linux loader: libraries to load into every program, and where to find them"},
	{"DYLD_*", "the macOS loader: libraries to load into every program, and where to find them"},
	{"GLIBC_TUNABLES", "settings of the C library, parsed before main"},
	{"GCONV_PATH", "the C library loads converters, which are code, from there"},
	{"LOCPATH", "the C library loads locale files from there"},
	{"NLSPATH", "message files with format strings are read from there"},
	{"BASH_ENV", "a script that every non-interactive bash runs first"},
	{"ENV", "a script that sh runs first"},
	{"ZDOTDIR", "where zsh looks for its start files"},
	{"SHELLOPTS", "options of bash; xtrace runs PS4"},
	{"BASHOPTS", "options of bash"},
	{"PS4", "expanded, with command substitution, for every traced line"},
	{"PROMPT_COMMAND", "bash runs it before each prompt"},
	{"BASH_FUNC_*", "functions that bash imports; they replace commands"},
	{"NODE_OPTIONS", "options of node, --require among them"},
	{"NODE_PATH", "where node finds modules"},
	{"NODE_REPL_EXTERNAL_MODULE", "a module that node's prompt runs"},
	{"ELECTRON_RUN_AS_NODE", "makes an Electron program a plain node"},
	{"BUN_OPTIONS", "options of bun, --preload among them"},
	{"PYTHONSTARTUP", "a script that the Python prompt runs first"},
	{"PYTHONPATH", "where Python finds modules, sitecustomize among them"},
	{"PYTHONHOME", "where Python finds its own library"},
	{"PYTHONINSPECT", "makes Python go on to a prompt"},
	{"PYTHONUSERBASE", "where Python finds the user's modules"},
	{"PYTHONPLATLIBDIR", "where Python finds its own library"},
	{"PYTHONBREAKPOINT", "a function that breakpoint() calls"},
	{"PYTHONEXECUTABLE", "the program that Python takes itself for"},
	{"PYTHONWARNINGS", "names a class, whose module Python imports"},
	{"PERL5OPT", "options of perl, -M among them"},
	{"PERL5LIB", "where perl finds modules"},
	{"PERLLIB", "where perl finds modules"},
	{"PERL5DB", "code that perl's debugger runs"},
	{"PERLIO_DEBUG", "a file that perl writes to"},
	{"RUBYOPT", "options of ruby, -r among them"},
	{"RUBYLIB", "where ruby finds libraries"},
	{"GEM_HOME", "where ruby finds gems"},
	{"GEM_PATH", "where ruby finds gems"},
	{"BUNDLE_GEMFILE", "a Gemfile, which is code"},
	{"PHPRC", "where php finds its settings, auto_prepend_file among them"},
	{"PHP_INI_SCAN_DIR", "where php finds its settings, auto_prepend_file among them"},
	{"LUA_INIT*", "code that lua runs first"},
	{"LUA_PATH*", "where lua finds modules"},
	{"LUA_CPATH*", "where lua finds libraries"},
	{"R_PROFILE*", "a script that R runs first"},
	{"R_ENVIRON*", "variables that R sets first"},
	{"JULIA_LOAD_PATH", "where julia finds packages"},
	{"JULIA_DEPOT_PATH", "where julia finds startup.jl and packages"},
	{"ERL_FLAGS", "options of erl, -eval among them"},
	{"ERL_AFLAGS", "options of erl, -eval among them"},
	{"ERL_ZFLAGS", "options of erl, -eval among them"},
	{"ERL_LIBS", "where erl finds libraries"},
	{"TCLLIBPATH", "where tcl finds packages"},
	{"JAVA_TOOL_OPTIONS", "options of every JVM, -javaagent among them"},
	{"_JAVA_OPTIONS", "options of every JVM, -javaagent among them"},
	{"JDK_JAVA_OPTIONS", "options of java, -javaagent among them"},
	{"JAVA_OPTS", "options that start scripts give to java"},
	{"CLASSPATH", "where java finds classes"},
	{"MAVEN_OPTS", "options of Maven's JVM"},
	{"MAVEN_ARGS", "options of Maven"},
	{"GRADLE_OPTS", "options of Gradle's JVM"},
	{"ANT_OPTS", "options of Ant's JVM"},
	{"SBT_OPTS", "options of sbt's JVM"},
	{"GIT_SSH", "a program that git runs to connect"},
	{"GIT_SSH_COMMAND", "a command that git runs to connect"},
	{"GIT_SSH_VARIANT", "how git calls that program"},
	{"GIT_EXTERNAL_DIFF", "a program that git diff runs"},
	{"GIT_PAGER", "a command that git shows its output with"},
	{"GIT_EDITOR", "a command that git edits with"},
	{"GIT_SEQUENCE_EDITOR", "a command that git rebase edits with"},
	{"GIT_ASKPASS", "a program that git asks for passwords"},
	{"GIT_CONFIG*", "settings of git, core.fsmonitor and core.hooksPath among them"},
	{"GIT_EXEC_PATH", "where git finds its own programs"},
	{"GIT_TEMPLATE_DIR", "hooks that git copies into new repositories"},
	{"GIT_PROXY_COMMAND", "a command that git runs to connect"},
	{"SSH_ASKPASS", "a program that ssh asks for passwords"},
	{"SUDO_ASKPASS", "a program that sudo asks for passwords"},
	{"LESSOPEN", "a command that less runs for each file"},
	{"LESSCLOSE", "a command that less runs for each file"},
	{"RUSTC", "the compiler that cargo runs"},
	{"RUSTDOC", "a program that cargo runs"},
	{"RUSTC_WRAPPER", "a program that cargo runs for the compiler"},
	{"RUSTC_WORKSPACE_WRAPPER", "a program that cargo runs for the compiler"},
	{"RUSTFLAGS", "options of rustc, -C linker among them"},
	{"CARGO_BUILD_RUSTC*", "the compiler that cargo runs, and its wrapper"},
	{"CARGO_BUILD_RUSTDOC*", "a program that cargo runs"},
	{"CARGO_BUILD_RUSTFLAGS", "options of rustc, -C linker among them"},
	{"CARGO_TARGET_*_LINKER", "the linker that cargo runs"},
	{"CARGO_TARGET_*_RUNNER", "what cargo runs programs with"},
	{"CARGO_TARGET_*_RUSTFLAGS", "options of rustc, -C linker among them"},
	{"CARGO_ENCODED_RUSTFLAGS", "options of rustc, -C linker among them"},
	{"GOFLAGS", "options of go, -toolexec among them"},
	{"GOENV", "a file with go's settings"},
	{"GOROOT", "where go finds its own programs"},
	{"MAKEFLAGS", "options of make, --eval among them"},
	{"GNUMAKEFLAGS", "options of make, --eval among them"},
	{"MAKEFILES", "makefiles that make reads first"},
	{"CMAKE_TOOLCHAIN_FILE", "code that cmake runs first"},
	{"npm_config_script_shell", "the shell that npm runs scripts with"},
	{"npm_config_node_options", "options of node, --require among them"},
	{"npm_config_*config", "files with npm's settings: userconfig and globalconfig"},
	{"npm_config_git", "the git that npm runs"},
	{"npm_config_prefix", "where npm finds its global settings and programs"},
	{"YARN_RC_FILENAME", "yarn's settings, yarnPath among them"},
	{"OPENSSL_CONF", "settings of OpenSSL, which may load an engine"},
	{"OPENSSL_ENGINES", "where OpenSSL loads engines from"},
	{"OPENSSL_MODULES", "where OpenSSL loads providers from"},
	{"GTK_MODULES", "libraries that GTK loads"},
	{"GTK_PATH", "where GTK loads libraries from"},
	{"GIO_EXTRA_MODULES", "where GIO loads libraries from"},
	{"GIO_MODULE_DIR", "where GIO loads libraries from"},
	{"QT_PLUGIN_PATH", "where Qt loads libraries from"},
	{"VIMINIT", "commands that vim runs first"},
	{"EXINIT", "commands that vi runs first"},
	{"INPUTRC", "readline's settings; a key may run a command"},
	{"DOTNET_STARTUP_HOOKS", "assemblies that every .NET program runs first"},
	{"DOTNET_ADDITIONAL_DEPS", "assemblies that every .NET program may load"},
	{"DOTNET_SHARED_STORE", "where .NET finds assemblies"},
	{"DOTNET_ROOT*", "where .NET finds itself"},
	{"COR_ENABLE_PROFILING", ".NET loads a profiler"},
	{"COR_PROFILER*", "the profiler that .NET loads"},
	{"CORECLR_*", "the profiler that .NET loads"},
	{"COMPlus_*", "settings of .NET, profilers among them"},
	{"MSBUILD*", "MSBuild's settings: loggers, SDKs and start options"},
	{"PSModulePath", "where PowerShell finds modules, which load by themselves"},
	{"__COMPAT_LAYER", "compatibility shims that Windows puts into programs"},
	{"__PSLockdownPolicy", "PowerShell's language mode"},
}

// HookFor gives the row of Hooks that a variable falls under. Letter case does not
// count: on Windows NODE_OPTIONS has many spellings, and elsewhere nothing is lost.
func HookFor(name string) (Hook, bool) {
	for _, h := range hooks {
		if matchesName(h.Name, name) || foldedMatch(h.Name, name) {
			return h, true
		}
	}
	return Hook{}, false
}

// IsHook reports whether a variable is a loader or interpreter hook.
func IsHook(name string) bool { _, ok := HookFor(name); return ok }

// HookAllowed reports whether env.allowHooks names the variable, or a prefix of it
// with a *. Letter case does not count, as in HookFor.
func HookAllowed(name string, allowHooks []string) bool {
	for _, a := range allowHooks {
		if foldedMatch(a, name) {
			return true
		}
	}
	return false
}

// matchesName compares a name with a pattern that may have one * for any text.
func matchesName(pattern, name string) bool {
	stem, tail, open := strings.Cut(pattern, "*")
	return pattern == name ||
		open && len(name) >= len(stem)+len(tail) && strings.HasPrefix(name, stem) && strings.HasSuffix(name, tail)
}

func foldedMatch(pattern, name string) bool {
	return matchesName(strings.ToUpper(pattern), strings.ToUpper(name))
}

// hookCovers reports whether the entry below lets through all that entry does.
func hookCovers(below, entry string) bool {
	return strings.EqualFold(below, entry) || strings.HasSuffix(below, "*") && foldedMatch(below, entry)
}
