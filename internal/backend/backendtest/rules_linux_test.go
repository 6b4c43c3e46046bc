package backendtest

// rules: FS-02, the most specific rule wins; on a tie deny, then read-only, then writable.
var rules = []pair{
	compat(pair{req: "FS-02", name: "deny inside writable", policy: Policy{Writable: []string{"$OUT/a"}, DenyRead: []string{"$OUT/a/b"}}, setup: tree,
		deny: `cat "$OUT/a/b/x"`, allow: `echo y > "$OUT/a/y" && cat "$OUT/a/x"`}),
	compat(pair{req: "FS-02", name: "readable inside deny inside writable is read-only", policy: Policy{Writable: []string{"$OUT/a"}, DenyRead: []string{"$OUT/a/b"}, Readable: []string{"$OUT/a/b/c"}}, setup: tree,
		deny: `echo y > "$OUT/a/b/c/y"`, allow: `cat "$OUT/a/b/c/x" && ! cat "$OUT/a/b/x"`}),
	compat(pair{req: "FS-02", name: "writable inside deny", policy: Policy{DenyRead: []string{"$OUT/a"}, Writable: []string{"$OUT/a/b"}}, setup: tree,
		deny: `cat "$OUT/a/x"`, allow: `cat "$OUT/a/b/x" && echo y > "$OUT/a/b/y"`, after: `[ -e "$OUT/a/b/y" ]`}),
	compat(pair{req: "FS-02", name: "writable inside readable inside deny", policy: Policy{DenyRead: []string{"$OUT/a"}, Readable: []string{"$OUT/a/b"}, Writable: []string{"$OUT/a/b/c"}}, setup: tree,
		deny: `echo y > "$OUT/a/b/y"`, allow: `cat "$OUT/a/b/x" && echo y > "$OUT/a/b/c/y"`}),
	compat(pair{req: "FS-02", name: "deny wins over writable for one path", policy: Policy{Writable: []string{"$OUT/a"}, DenyRead: []string{"$OUT/a"}}, setup: tree,
		deny: `cat "$OUT/a/x"`, allow: `cat "$OUT/secret.txt"`}),
	compat(pair{req: "FS-02", name: "read-only wins over writable for one path", policy: Policy{Writable: []string{"$OUT/a"}, DenyWrite: []string{"$OUT/a"}}, setup: tree,
		deny: `echo y > "$OUT/a/y"`, allow: `cat "$OUT/a/x"`}),
	compat(pair{req: "FS-02", name: "deny wins over readable for one path", policy: Policy{Readable: []string{"$OUT/a"}, DenyRead: []string{"$OUT/a"}}, setup: tree,
		deny: `cat "$OUT/a/x"`, allow: `cat "$OUT/secret.txt"`}),
	{req: "FS-02", name: "read-only inside the workspace", policy: Policy{DenyWrite: []string{"sub"}}, deny: `echo y > "$WS/sub/y"`, allow: `cat "$WS/sub/deep/file.txt" && echo y > "$WS/y"`},
	{req: "FS-02", name: "a read-only file inside the workspace", policy: Policy{DenyWrite: []string{"own.txt"}}, deny: `echo y > "$WS/own.txt"`, allow: `cat "$WS/own.txt" && echo y > "$WS/y"`, after: `[ "$(cat "$WS/own.txt")" = own ]`},
	compat(pair{req: "FS-02", name: "read-only inside the workspace beside a writable sibling of a longer name", policy: Policy{Writable: []string{"$WS-other"}, DenyWrite: []string{"sub"}}, setup: `mkdir "$WS-other"`,
		deny: `echo y > "$WS/sub/y"`, allow: `echo y > "$WS-other/y"`, after: `[ ! -e "$WS/sub/y" ]`}),
	{req: "FS-02", name: "a read-only file cannot be replaced", policy: Policy{DenyWrite: []string{"own.txt"}}, deny: `echo y > "$WS/y" && mv -f "$WS/y" "$WS/own.txt"`, allow: `cat "$WS/own.txt"`, after: `[ "$(cat "$WS/own.txt")" = own ]`},
	{req: "FS-02", name: "a read-only file cannot be replaced by moving its directory", policy: Policy{DenyWrite: []string{"sub/deep/file.txt"}},
		deny:  `mv "$WS/sub" "$WS/sub2" && mkdir -p "$WS/sub/deep" && echo y > "$WS/sub/deep/file.txt"`,
		allow: `cat "$WS/sub/deep/file.txt"`, after: `[ "$(cat "$WS/sub/deep/file.txt")" = deep ]`},
	compat(pair{req: "FS-02", name: "a user's entry replaces a built-in one", policy: Policy{Readable: []string{"~/.ssh"}},
		deny: `cat "$HOME/.aws/deep/decoy"`, allow: `cat "$HOME/.ssh/deep/decoy"`}),
	compat(pair{req: "FS-02", name: "a file below a hidden built-in directory can be shown alone", policy: Policy{Readable: []string{"~/.ssh/deep/decoy"}}, setup: `echo x > "$HOME/.ssh/other-$U"`,
		deny: `cat "$HOME/.ssh/other-$U"`, allow: `cat "$HOME/.ssh/deep/decoy"`, after: `rm "$HOME/.ssh/other-$U"`}),
	compat(pair{req: "FS-02", name: "a pattern hides what a writable folder below a hidden one holds", policy: Policy{DenyRead: []string{"$OUT/a/**"}, Writable: []string{"$OUT/a/b"}}, setup: tree,
		deny: `cat "$OUT/a/b/x" || cat "$OUT/a/b/c/x"`, allow: `echo y > "$OUT/a/b/y" && cat "$OUT/a/b/y"`, after: `[ -e "$OUT/a/b/y" ]`}),
	compat(pair{req: "FS-02", name: "another pattern counts in what is shown below a hidden folder", policy: Policy{DenyRead: []string{"$OUT/[a]", "$OUT/**/x"}, Readable: []string{"$OUT/a/b"}}, setup: tree + `echo z > "$OUT/a/b/z"`,
		deny: `cat "$OUT/a/b/x" || cat "$OUT/a/b/c/x"`, allow: `cat "$OUT/a/b/z"`}),
	compat(pair{req: "FS-02", name: "readable at its real place does not open a link's neighbours", policy: Policy{DenyRead: []string{"$OUT/a"}, Readable: []string{"$OUT/l"}}, setup: tree + `ln -s a/b/c "$OUT/l"`,
		deny: `cat "$OUT/a/b/x"`, allow: `cat "$OUT/a/b/c/x" && cat "$OUT/l/x"`}),
}

// tree is $OUT/a/b/c with a file x in each.
const tree = `mkdir -p "$OUT/a/b/c"; for d in a a/b a/b/c; do echo x > "$OUT/$d/x"; done;`
