package qsandbox

import (
	"errors"
	"io/fs"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"

	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// absolute makes the target absolute; false for a program that PATH does not have.
// Its ".." stay: what they mean is known when the links before them are followed.
func (v *Verdict) absolute(h host.Host, s *spec.Spec) (string, bool) {
	p := v.Target
	switch {
	case v.Operation == OpExec && filepath.Base(p) == p && p != "." && p != "..":
		return lookPath(h, s, p)
	case p == "~" || strings.HasPrefix(p, "~/"):
		p = filepath.Join(s.User.Home, p[1:])
	}
	if !filepath.IsAbs(p) {
		p = s.Cwd + string(filepath.Separator) + p
	}
	if !climbs(h, p) {
		p = filepath.Clean(p)
	}
	return p, true
}

// climbs tells whether a path has a ".." that a link before it may change the
// meaning of. Windows takes ".." away before it looks at anything.
func climbs(h host.Host, p string) bool {
	return h.GOOS != "windows" && slices.Contains(strings.Split(filepath.ToSlash(p), "/"), "..")
}

// follow gives the place where a path lands, and notes what it met on the way.
func (v *Verdict) follow(h host.Host, p string) string {
	real, remark := landing(h, p, maxLinks)
	if remark != "" {
		v.Notes = append(v.Notes, remark)
	}
	if st, err := h.Stat(real); v.Operation == OpExec && err == nil && (st.IsDir() || st.Mode.Perm()&0o111 == 0) && h.GOOS != "windows" {
		v.Notes = append(v.Notes, "it is a directory, or has no mode bit that lets anyone execute it")
	}
	return real
}

// asked gives the path that was asked for, "" for a host.
func (v *Verdict) asked(h host.Host, s *spec.Spec) string {
	if v.Operation == OpConnect {
		return ""
	}
	p, _ := v.absolute(h, s)
	return p
}

// hiddenLink gives the first link on the way to a path that the command cannot
// follow, because the folder that holds it is hidden; "" for none. On Linux alone:
// elsewhere what is hidden may still be walked through.
func hiddenLink(h host.Host, s *spec.Spec, path string) string {
	if s.GOOS != "linux" || path == "" || !s.Isolated() {
		return ""
	}
	cur, rest := "/", strings.Split(path, "/")
	for links := 0; len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		if part == ".." {
			cur = filepath.Dir(cur)
			continue
		}
		next := filepath.Join(cur, part)
		target, err := h.Readlink(next)
		if err != nil || part == "" || part == "." {
			cur = next
			continue
		}
		if links++; links > maxLinks || !shownAt(s, cur, next) {
			return next
		}
		if filepath.IsAbs(target) {
			cur = "/"
		}
		rest = append(strings.Split(target, "/"), rest...)
	}
	return ""
}

// shownAt tells whether a link is in sight: its folder is, or it is the name of one
// of strict's directories, which are there under that name too.
func shownAt(s *spec.Spec, dir, link string) bool {
	for _, r := range s.System {
		if spec.Within(link, r.Given) {
			return true
		}
	}
	return spec.Decide(s, spec.Query{Op: spec.OpRead, Path: dir}).Allowed
}

// lookPath finds a plain name as the command would, in its own PATH.
func lookPath(h host.Host, s *spec.Spec, name string) (string, bool) {
	for _, dir := range filepath.SplitList(pathOf(s)) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(s.Cwd, dir)
		}
		p := filepath.Join(dir, name)
		if st, err := h.Stat(p); err == nil && !st.IsDir() {
			return p, true
		}
	}
	return "", false
}

func pathOf(s *spec.Spec) string {
	for _, kv := range s.Env {
		if list, ok := strings.CutPrefix(kv, "PATH="); ok {
			return list
		}
	}
	return ""
}

// maxLinks is what the kernel follows too (path_resolution(7)).
const maxLinks = 40

// landing gives the place that a path leads to: the real path of the deepest
// ancestor that exists, with the rest appended. A link that points to nothing is
// followed by its text: writing through it creates its target. The remark says
// what could not be looked at.
//
// SECURITY: ".." is taken as the kernel takes it, from where the links before it
// lead: "link/../file" lies beside the link's target, not beside the link.
func landing(h host.Host, p string, links int) (real, remark string) {
	real, err := h.RealPath(p)
	if err == nil {
		return real, ""
	}
	if p, remark = climbed(h, p, links); remark != "" {
		return p, remark
	}
	if st, lerr := h.Lstat(p); lerr == nil && st.IsLink() {
		target, lerr := h.Readlink(p)
		if lerr != nil || links == 0 {
			return p, "the link " + p + " leads nowhere"
		}
		if !filepath.IsAbs(target) {
			target = filepath.Dir(p) + string(filepath.Separator) + target
		}
		return landing(h, target, links-1)
	}
	remark = "nothing is there now"
	if !errors.Is(err, fs.ErrNotExist) {
		remark = "it could not be looked at: " + err.Error()
	}
	dir := filepath.Dir(p)
	if dir == p {
		return p, remark
	}
	parent, above := landing(h, dir, links)
	if above != "" {
		remark = above
	}
	return filepath.Join(parent, filepath.Base(p)), remark
}

// climbed takes the ".." out of a path, part by part from the left. The remark is set
// when the links on the way lead nowhere.
func climbed(h host.Host, p string, links int) (clean, remark string) {
	if !climbs(h, p) {
		return filepath.Clean(p), ""
	}
	if links == 0 {
		return p, "the links of " + p + " lead nowhere"
	}
	cur := "/"
	for _, part := range strings.Split(p, "/") {
		if part == ".." {
			cur, _ = landing(h, cur, links-1)
		}
		cur = filepath.Join(cur, part)
	}
	return cur, ""
}

// hostOf takes the host and port out of a URL, and leaves anything else as it is.
func hostOf(target string) string {
	scheme, rest, ok := strings.Cut(target, "://")
	if !ok {
		return bare(strings.ToLower(target))
	}
	if i := strings.IndexAny(rest, `/?#\`); i >= 0 {
		rest = rest[:i]
	}
	rest = bare(strings.ToLower(rest[strings.LastIndexByte(rest, '@')+1:]))
	if port := ports[strings.ToLower(scheme)]; port != "" && !hasPort(rest) {
		rest = net.JoinHostPort(rest, port)
	}
	return rest
}

// bare takes the brackets off an address without a port.
func bare(host string) string {
	if strings.HasPrefix(host, "[") && strings.HasSuffix(host, "]") {
		return host[1 : len(host)-1]
	}
	return host
}

var ports = map[string]string{"https": "443", "http": "80", "ssh": "22", "git": "9418"}

// hasPort tells "h:1" and "[::1]:1" from "h", "::1" and "[::1]".
func hasPort(s string) bool {
	if strings.HasPrefix(s, "[") {
		return strings.Contains(s, "]:")
	}
	return strings.Count(s, ":") == 1
}

// noteHost says what the answer leaves open.
func (v *Verdict) noteHost(s *spec.Spec, hostport string) {
	if s.Policy.Network.Mode != policy.NetworkAllow || !s.Isolated() {
		return
	}
	if !hasPort(hostport) {
		v.Notes = append(v.Notes, "rules with a port count only for host:port")
	}
	if _, err := netip.ParseAddr(hostport); err != nil {
		v.Notes = append(v.Notes, "each address that the name stands for is checked too when it is dialled")
	}
}
