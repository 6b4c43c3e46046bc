package winsandbox

import (
	"strings"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// maxCommandLine is what CreateProcess takes, in UTF-16 units with the final NUL.
const maxCommandLine = 32767

// CommandLine joins arguments so that CommandLineToArgvW and the C runtime take them
// apart again. Program is the file that will be started.
//
// SECURITY: a batch file is started by cmd.exe, which reads the line by rules of its
// own ("BatBadBut", CVE-2024-24576): there an argument with a character that means
// something to cmd.exe is refused instead of being quoted in a way that does not hold.
// CreateProcess gives cmd.exe this line and not the file's name, so that the line must
// begin with the whole path: by a bare name cmd.exe would look in the directory to start
// in first, and find another file than LookUp.
func CommandLine(program string, argv []string) (string, error) {
	batch := isBatch(program)
	var b strings.Builder
	for i, a := range argv {
		if err := checkArg(program, argv, i, batch); err != nil {
			return "", err
		}
		switch {
		case i == 0 && batch:
			quoteProgram(&b, program)
		case i == 0:
			quoteProgram(&b, a)
		default:
			b.WriteByte(' ')
			quoteArg(&b, a, batch)
		}
	}
	if n := utf16Len(b.String()); n >= maxCommandLine {
		return "", fault.New(fault.UsageInvalid, "run", argv[0], "the command line is longer than the 32,766 characters that Windows takes")
	}
	return b.String(), nil
}

func isBatch(program string) bool {
	lower := fold(program)
	return strings.HasSuffix(lower, ".bat") || strings.HasSuffix(lower, ".cmd")
}

// checkArg refuses what cannot be passed. The path of a batch file stands in quotes, in
// which cmd.exe still replaces variables.
func checkArg(program string, argv []string, i int, batch bool) error {
	switch a := argv[i]; {
	case strings.IndexByte(a, 0) >= 0:
		return fault.New(fault.UsageInvalid, "run", argv[0], "an argument cannot contain a NUL byte")
	case batch && i == 0 && strings.ContainsAny(program, "%!\r\n"):
		return fault.New(fault.UsageInvalid, "run", argv[0], "it is the batch file "+program+", and cmd.exe would replace what stands between the % or ! of its path; move it")
	case batch && i > 0 && strings.ContainsAny(a, "\"%!^&|<>()\r\n"):
		return fault.New(fault.UsageInvalid, "run", argv[0],
			"it is a batch file, and the argument "+a+" has a character that cmd.exe would act on; start another program, or put the argument into a file")
	}
	return nil
}

// quoteProgram: the first part ends at the first quote, whatever stands before it.
func quoteProgram(b *strings.Builder, a string) {
	b.WriteString(`"` + strings.ReplaceAll(a, `"`, "") + `"`)
}

// quoteArg: for a batch file also what cmd.exe takes for the end of an argument.
func quoteArg(b *strings.Builder, a string, batch bool) {
	if a != "" && !strings.ContainsAny(a, " \t\n\v\"") && !(batch && strings.ContainsAny(a, ",;=\f\v\u00a0")) {
		b.WriteString(a)
		return
	}
	b.WriteByte('"')
	slashes := 0
	for i := range len(a) {
		switch a[i] {
		case '\\':
			slashes++
			continue
		case '"':
			b.WriteString(strings.Repeat(`\`, 2*slashes+1))
		default:
			b.WriteString(strings.Repeat(`\`, slashes))
		}
		slashes = 0
		b.WriteByte(a[i])
	}
	b.WriteString(strings.Repeat(`\`, 2*slashes) + `"`)
}

func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}

// SplitCommandLine takes a line apart as the C runtime does. It is here for tests and
// for messages: it is how we know that CommandLine is right.
func SplitCommandLine(line string) []string {
	var out []string
	rest := line
	if strings.HasPrefix(rest, `"`) {
		prog, tail, _ := strings.Cut(rest[1:], `"`)
		out, rest = append(out, prog), tail
	} else if i := strings.IndexAny(rest, " \t"); i >= 0 {
		out, rest = append(out, rest[:i]), rest[i:]
	} else {
		return []string{rest}
	}
	for {
		rest = strings.TrimLeft(rest, " \t")
		if rest == "" {
			return out
		}
		var arg string
		arg, rest = nextArg(rest)
		out = append(out, arg)
	}
}

func nextArg(s string) (arg, rest string) {
	var b strings.Builder
	quoted := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\':
			n := i
			for n < len(s) && s[n] == '\\' {
				n++
			}
			if n < len(s) && s[n] == '"' {
				b.WriteString(strings.Repeat(`\`, (n-i)/2))
				if (n-i)%2 == 1 {
					b.WriteByte('"')
					n++
				}
			} else {
				b.WriteString(s[i:n])
			}
			i = n - 1
		case c == '"':
			quoted = !quoted
		case (c == ' ' || c == '\t') && !quoted:
			return b.String(), s[i:]
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), ""
}
