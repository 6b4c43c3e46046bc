package protect

import (
	"strconv"
	"strings"
)

// harmless tells whether a git setting can neither run a program nor name a file or
// folder that can. It is a list of what is known to be so, from git-config(1); what
// is not on it is not. inRoot judges core.worktree, watched a remote that is a path.
func harmless(s setting, inRoot, watched func(path string) bool) bool {
	switch s.name() {
	case "core.fsmonitor": // true is git's own daemon; any other word is a program
		return s.noValue || isBool(s.value)
	case "core.worktree": // git checkout writes there
		return inRoot(s.value)
	case "remote.*.url", "remote.*.pushurl", "submodule.*.url", "branch.*.remote", "branch.*.pushremote",
		"remote.pushdefault", "extensions.partialclone", "checkout.defaultremote", "remote.*.promisor":
		path, local := localURL(s.value)
		return safeURL(s.value) && (!local || watched(path))
	case "submodule.*.update": // "!command" runs it
		return oneOf(s.value, "checkout", "rebase", "merge", "none")
	case "core.protecthfs", "core.protectntfs", "fetch.fsckobjects", "transfer.fsckobjects", "receive.fsckobjects":
		return s.noValue || s.value == "true" // never turned off
	case "extensions.refstorage": // newer git takes a place too
		return oneOf(s.value, "files", "reftable")
	case "color.pager", "commit.gpgsign", "tag.gpgsign", "push.gpgsign":
		return s.noValue || isBool(s.value)
	}
	return plainCore(s.name()) || plainOther(s.name()) || plainNamed(s.name()) ||
		!s.hasSub && (s.section == "advice" || s.section == "color") || s.hasSub && s.section == "color"
}

// plainCore lists settings of core and extensions that are numbers, switches or words.
func plainCore(name string) bool {
	switch name {
	case "core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates", "core.ignorecase",
		"core.precomposeunicode", "core.symlinks", "core.sparsecheckout", "core.sparsecheckoutcone", "core.autocrlf",
		"core.eol", "core.safecrlf", "core.abbrev", "core.quotepath",
		"core.compression", "core.loosecompression", "core.bigfilethreshold", "core.preloadindex", "core.untrackedcache",
		"core.trustctime", "core.checkstat", "core.commitgraph", "core.multipackindex", "core.longpaths",
		"core.hidedotfiles", "core.splitindex", "core.commentchar", "core.whitespace",
		"core.fscache", "core.warnambiguousrefs", "core.packedgitlimit", "core.packedgitwindowsize",
		"core.deltabasecachelimit", "core.checkroundtripencoding", "core.fsync", "core.fsyncmethod",
		"extensions.objectformat", "extensions.compatobjectformat", "extensions.worktreeconfig", "extensions.noop",
		"extensions.preciousobjects", "extensions.relativeworktrees":
		return true
	}
	return false
}

// plainOther lists settings without a subsection.
func plainOther(name string) bool {
	switch name {
	case "user.name", "user.email", "user.signingkey", "user.useconfigonly",
		"author.name", "author.email", "committer.name", "committer.email",
		"init.defaultbranch", "pull.rebase", "pull.ff", "push.default", "push.autosetupremote", "push.followtags",
		"push.recursesubmodules", "fetch.prune", "fetch.prunetags", "fetch.parallel", "fetch.recursesubmodules",
		"fetch.writecommitgraph", "fetch.unpacklimit",
		"merge.conflictstyle", "merge.ff", "merge.renames", "merge.renamelimit", "merge.log", "merge.stat", "merge.autostash",
		"rebase.autosquash", "rebase.autostash", "rebase.updaterefs", "rebase.abbreviatecommands", "rebase.stat",
		"branch.autosetupmerge", "branch.autosetuprebase", "branch.sort", "tag.sort", "log.date", "log.decorate", "log.follow",
		"log.abbrevcommit", "diff.algorithm", "diff.renames", "diff.renamelimit", "diff.ignoresubmodules", "diff.submodule",
		"diff.context", "diff.noprefix", "diff.mnemonicprefix", "diff.colormoved", "status.short", "status.branch",
		"status.showuntrackedfiles", "status.submodulesummary", "status.showstash", "commit.verbose", "commit.status",
		"commit.cleanup", "gc.auto", "gc.autodetach", "gc.autopacklimit", "gc.pruneexpire", "gc.worktreepruneexpire",
		"gc.reflogexpire", "gc.reflogexpireunreachable", "gc.packrefs", "index.version", "index.sparse", "index.threads",
		"pack.window", "pack.depth", "pack.threads", "pack.compression", "pack.packsizelimit", "pack.windowmemory",
		"repack.usedeltabaseoffset", "repack.writebitmaps", "feature.manyfiles", "feature.experimental",
		"maintenance.auto", "maintenance.strategy", "rerere.enabled", "rerere.autoupdate", "submodule.active",
		"submodule.recurse", "submodule.fetchjobs", "submodule.propagatebranches", "receive.denycurrentbranch",
		"receive.denynonfastforwards", "receive.denydeletes", "receive.autogc", "i18n.commitencoding",
		"i18n.logoutputencoding", "checkout.guess", "checkout.workers", "worktree.guessremote", "worktree.userelativepaths",
		"stash.showpatch", "stash.showstat", "column.ui", "lfs.repositoryformatversion", "apply.whitespace":
		return true
	}
	return false
}

// plainNamed lists settings with a subsection. The last four are notes that tools
// leave for themselves.
func plainNamed(name string) bool {
	switch name {
	case "remote.*.fetch", "remote.*.push", "remote.*.mirror", "remote.*.tagopt", "remote.*.prune", "remote.*.prunetags",
		"remote.*.skipdefaultupdate", "remote.*.skipfetchall", "remote.*.partialclonefilter", "remote.*.followremotehead",
		"branch.*.merge", "branch.*.rebase", "branch.*.description",
		"submodule.*.active", "submodule.*.branch", "submodule.*.ignore", "submodule.*.fetchrecursesubmodules", "submodule.*.shallow",
		"maintenance.*.enabled", "maintenance.*.schedule", "lfs.*.access", "lfs.*.locksverify",
		"remote.*.gh-resolved", "branch.*.vscode-merge-base", "branch.*.gh-merge-base", "branch.*.github-pr-owner-number":
		return true
	}
	return false
}

// safeURL tells whether git reaches a remote without a helper program that the
// value names: "ext::command" and "helper::address" run git-remote-helper, and so
// does an unknown scheme.
func safeURL(v string) bool {
	if strings.HasPrefix(v, "-") {
		return false // an option, to a careless program
	}
	if i := strings.Index(v, "::"); i >= 0 && isHelper(v[:i]) {
		return false
	}
	scheme, _, ok := strings.Cut(v, "://")
	return !ok || !isHelper(scheme) || oneOf(scheme, "http", "https", "ssh", "git", "file", "git+ssh", "ssh+git", "ftp", "ftps")
}

// localURL gives the path of a remote on this machine, as git tells it from
// host:path (connect.c: url_is_local_not_ssh).
func localURL(v string) (path string, ok bool) {
	if rest, file := strings.CutPrefix(v, "file://"); file {
		return "/" + strings.TrimLeft(rest, "/"), true
	}
	colon, slash := strings.IndexByte(v, ':'), strings.IndexByte(v, '/')
	return v, v != "" && (colon < 0 || slash >= 0 && slash < colon)
}

// isHelper follows git's is_urlschemechar.
func isHelper(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isKeyChar(c) && c != '+' && c != '.' {
			return false
		}
	}
	return true
}

// isBool follows git's own reading of a switch.
func isBool(v string) bool {
	if oneOf(strings.ToLower(v), "", "true", "false", "yes", "no", "on", "off") {
		return true
	}
	_, err := strconv.Atoi(v)
	return err == nil && len(v) < 9
}

func oneOf(v string, words ...string) bool {
	for _, w := range words {
		if v == w {
			return true
		}
	}
	return false
}
