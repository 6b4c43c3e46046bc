package protect

import "testing"

// TestRestoreForPowerShell: no name can end the string, and none is read as a pattern.
func TestRestoreForPowerShell(t *testing.T) {
	for name, want := range map[string]string{
		`C:\w s\.git`:            `'C:\w s\.git'`,
		`C:\it's [1] $x %y%`:     `'C:\it''s [1] $x %y%'`,
		"C:\\é中":                 "'C:\\é中'",
		"a\u2019; calc; \u2018b": "('a'+[char]8217+'; calc; '+[char]8216+'b')",
		"\u202egpj":              "(''+[char]8238+'gpj')",
		"\U0001F600":             "(''+[char]55357+[char]56832)",
		"\xed\xa0\x80x":          "(''+[char]55296+'x')",
		"":                       "''",
	} {
		if got := powerShell(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
	}
	if got := restorePowerShell(`C:\q\000-x`, `D:\ws\.git`); got != `[IO.Directory]::Move('C:\q\000-x', 'D:\ws\.git')` {
		t.Error(got)
	}
}
