package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// programs are what agents run all day. Each makes a file, or prints, by what it read in
// the workspace.
var programs = []struct {
	name string
	args []string
	file string // that is looked at; "": what it printed
	want string
}{
	{"esbuild.exe", []string{"entry.js", "--bundle", "--outfile=out.js"}, "out.js", "the needle"},
	{"rg.exe", []string{"--no-config", "-n", "needle", "m.js"}, "", "1:export const x"},
	{"7za.exe", []string{"a", "-bd", "all.7z", "entry.js", "m.js"}, "all.7z", "7z\xbc\xaf"},
	{"node.exe", []string{"-e", "require('fs').writeFileSync('n.txt', require('child_process').execFileSync(process.execPath, ['-p', '6*7']))"}, "n.txt", "42"},
	{"node.exe", []string{"-e", "const p=require('child_process').spawn(process.execPath,['-e','process.stdin.pipe(process.stdout)']);p.stdout.pipe(process.stdout);p.stdin.end('through pipes')"}, "", "through pipes"},
	{"gosh.exe", []string{"-c", "for i in 1 2 3; do echo line $i; done >sh.txt; while read -r l; do echo got $l; done <sh.txt; exit 0"}, "sh.txt", "line 3"},
	{"gosh.exe", []string{"-c", "echo a | while read -r l; do echo piped $l; done"}, "", "piped a"},
}

// TestPrograms runs real programs, with run and with serve --write-restricted.
// QSANDBOX_PROGRAMS names the directory that scripts/windows-programs filled.
func TestPrograms(t *testing.T) {
	dir := os.Getenv("QSANDBOX_PROGRAMS")
	if dir == "" {
		t.Skip("set QSANDBOX_PROGRAMS to a directory of scripts/windows-programs")
	}
	ran := 0
	for _, p := range programs {
		exe := filepath.Join(dir, p.name)
		if _, err := os.Stat(exe); err != nil {
			t.Logf("%s left out: it is not in %s", p.name, dir)
			continue
		}
		r := newRig(t)
		if code := plant([]string{filepath.Join(r.ws, "entry.js")}); code != 0 {
			t.Fatal("no workspace")
		}
		os.WriteFile(filepath.Join(r.ws, "entry.js"), []byte("import {x} from './m.js'; console.log(x)\n"), 0o644)
		os.WriteFile(filepath.Join(r.ws, "m.js"), []byte("export const x = 'the needle'\n"), 0o644)
		for _, sub := range []string{"run", "serve"} {
			if p.file != "" {
				os.Remove(filepath.Join(r.ws, p.file))
			}
			c := r.cmd(sub, []string{"--write-restricted", "--timeout", "120s"}, append([]string{exe}, p.args...)...)
			var errs bytes.Buffer
			c.Stderr = &errs
			out, err := c.Output()
			text := string(out)
			if p.file != "" {
				data, _ := os.ReadFile(filepath.Join(r.ws, p.file))
				text = string(data)
			}
			if err != nil || !strings.Contains(text, p.want) {
				t.Errorf("%s %s %q: %v, no %q in %.300q; %.300q %.300q", sub, p.name, p.args, err, p.want, text, out, errs.String())
			}
			ran++
		}
	}
	t.Logf("%d runs of real programs", ran)
}
