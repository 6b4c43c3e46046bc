package backendtest

const envs = `mkdir -p "$WS/p/q"; for f in .env p/.env p/q/.env; do echo K=` + Secret + ` > "$WS/$f"; done; echo ok > "$WS/p/env";`

// hidden hides a file, a directory and all .env files of the workspace.
var hidden = Policy{DenyRead: []string{"own.txt", "sub", "**/.env"}}

// reads: FS-03, what denyRead names cannot be read in any way.
var reads = []pair{
	{req: "FS-03", name: "a hidden file", policy: hidden, deny: `cat "$WS/own.txt"`, allow: `echo x > "$WS/x" && cat "$WS/x"`},
	{req: "FS-03", name: "a hidden file cannot be copied", policy: hidden, deny: `cp "$WS/own.txt" "$WS/copy"`, allow: `echo x > "$WS/x" && cp "$WS/x" "$WS/copy"`},
	{req: "FS-03", name: "a hidden file cannot be written", policy: hidden, deny: `echo x > "$WS/own.txt"`, allow: `echo x > "$WS/x"`, after: `[ "$(cat "$WS/own.txt")" = own ]`},
	{req: "FS-03", name: "a hidden file cannot be removed", policy: hidden, deny: `rm "$WS/own.txt"`, allow: `touch "$WS/x" && rm "$WS/x"`, after: `[ -e "$WS/own.txt" ]`},
	{req: "FS-03", name: "a hidden file cannot be moved and read", policy: hidden, deny: `mv "$WS/own.txt" "$WS/x" && cat "$WS/x"`, allow: `true`, after: `[ -e "$WS/own.txt" ]`},
	{req: "FS-03", name: "a hidden file cannot be linked and read", policy: hidden, deny: `ln "$WS/own.txt" "$WS/x" && cat "$WS/x"`, allow: `true`},
	{req: "FS-03", name: "a hidden file through a link made inside", policy: hidden, deny: `ln -s own.txt "$WS/l" && cat "$WS/l"`, allow: `echo x > "$WS/x" && ln -s x "$WS/l2" && cat "$WS/l2"`},
	{req: "FS-03", name: "a hidden file through /proc/self/root", policy: hidden, deny: `cat "/proc/self/root$WS/own.txt"`, allow: `true`},
	{req: "FS-03", name: "a hidden file after its directory was moved", policy: Policy{DenyRead: []string{"sub/deep/file.txt"}}, deny: `mv "$WS/sub" "$WS/s2"; cat "$WS/s2/deep/file.txt"`, allow: `true`},
	{req: "FS-03", name: "a hidden directory", policy: hidden, deny: `cat "$WS/sub/deep/file.txt"`, allow: `true`},
	{req: "FS-03", name: "the names in a hidden directory", policy: hidden, deny: `ls "$WS/sub" | grep deep`, allow: `ls "$WS" | grep sub`},
	{req: "FS-03", name: "a hidden directory cannot be moved and read", policy: hidden, deny: `mv "$WS/sub" "$WS/s2" && cat "$WS/s2/deep/file.txt"`, allow: `true`, after: `[ -e "$WS/sub/deep/file.txt" ]`},
	{req: "FS-03", name: "nothing can be put into a hidden directory", policy: hidden, deny: `echo x > "$WS/sub/x"`, allow: `echo x > "$WS/x"`, after: `[ ! -e "$WS/sub/x" ]`},
	{req: "FS-03", name: "a hidden directory through an archiver", policy: hidden, deny: `tar -C "$WS" -cf - sub | tar -tf - | grep file.txt`, allow: `true`},
	{req: "FS-03", name: "what a pattern names at the top", policy: hidden, setup: envs, deny: `cat "$WS/.env"`, allow: `cat "$WS/p/env"`},
	{req: "FS-03", name: "what a pattern names deep down", policy: hidden, setup: envs, deny: `cat "$WS/p/q/.env"`, allow: `cat "$WS/p/env"`},
	compat(pair{req: "FS-03", name: "a pattern with an absolute base", policy: Policy{DenyRead: []string{"$OUT/*/inner.*"}}, deny: `cat "$OUT/dir/inner.txt"`, allow: `cat "$OUT/secret.txt"`}),
	{req: "FS-03", name: "a pattern holds in every writable root", policy: Policy{Writable: []string{"$OUT/rw"}, DenyRead: []string{"**/.env"}}, setup: `mkdir -p "$OUT/rw/d"; echo x > "$OUT/rw/d/.env"; echo x > "$OUT/rw/d/y"`,
		deny: `cat "$OUT/rw/d/.env"`, allow: `cat "$OUT/rw/d/y"`},
	{req: "FS-03", name: "re-allow one file of a pattern", policy: Policy{DenyRead: []string{"**/.env"}, Readable: []string{"p/.env"}}, setup: envs, deny: `cat "$WS/.env"`, allow: `cat "$WS/p/.env"`},
	compat(pair{req: "FS-03", name: "a hidden file outside the workspace", policy: Policy{DenyRead: []string{"$OUT/secret.txt"}}, deny: `cat "$OUT/secret.txt"`, allow: `cat "$OUT/dir/inner.txt"`}),
	compat(pair{req: "FS-03", name: "a hidden file given by a link is hidden at its real place", policy: Policy{DenyRead: []string{"$OUT/l"}}, setup: `ln -s secret.txt "$OUT/l"`, deny: `cat "$OUT/secret.txt" || cat "$OUT/l"`, allow: `cat "$OUT/dir/inner.txt"`}),
	compat(pair{req: "FS-03", name: "the system's passwords as root", root: true, deny: `cat /etc/shadow`, allow: `cat /etc/passwd`}),
	strict(pair{req: "FS-03", name: "the system's passwords as root in strict", root: true, deny: `cat /etc/shadow`, allow: `cat /etc/passwd`}),
	{req: "FS-03", name: "the backup of the system's passwords as root", root: true, deny: `cat /etc/shadow-`, allow: `cat /etc/passwd`},
	{req: "FS-03", name: "the group passwords as root", root: true, deny: `cat /etc/gshadow`, allow: `cat /etc/group`},
	compat(pair{req: "FS-03", name: "the system's passwords can be shown again", root: true, policy: Policy{Readable: []string{"/etc/shadow"}}, deny: `cat /etc/gshadow`, allow: `cat /etc/shadow`}),
	compat(pair{req: "FS-01", name: "compat shows the rest of the host", deny: `echo x > "$OUT/x"`, allow: `cat "$OUT/secret.txt" && cat "$HOME/notes.txt" && ls /usr`}),
	strict(pair{req: "LNX-03", name: "strict does not show the rest of the host", deny: `cat "$OUT/secret.txt"`, allow: `cat "$WS/own.txt" && ls /usr/bin && cat /etc/passwd`}),
	strict(pair{req: "LNX-03", name: "strict does not show the home directory", deny: `cat "$HOME/notes.txt"`, allow: `[ -n "$HOME" ]`}),
	strict(pair{req: "LNX-03", name: "strict shows a readable path", policy: Policy{Readable: []string{"$OUT/dir"}}, deny: `cat "$OUT/secret.txt"`, allow: `cat "$OUT/dir/inner.txt"`}),
	strict(pair{req: "LNX-03", name: "nothing can be made in strict's root", noControl: "it would litter the host", deny: `mkdir /made-here || mkdir "$T/made-here" || touch /x`, allow: `mkdir "$WS/made"`}),
}
