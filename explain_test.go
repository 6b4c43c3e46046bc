package qsandbox

import "testing"

func TestHostOfTakesURLsApart(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"Example.COM", "example.com"},
		{"example.com:8080", "example.com:8080"},
		{"https://example.com/a:b", "example.com:443"},
		{"https://user:pass@Example.com", "example.com:443"},
		{"http://example.com:8080/x", "example.com:8080"},
		{"https://good.example@evil.example/", "evil.example:443"},
		{"https://evil.example#@good.example/", "evil.example:443"},
		{"https://evil.example?@good.example", "evil.example:443"},
		{`https://evil.example\@good.example`, "evil.example:443"},
		{"https://good.example/@evil.example", "good.example:443"},
		{"ftp://example.com", "example.com"},
		{"[::1]", "::1"},
		{"::1", "::1"},
		{"[::1]:80", "[::1]:80"},
		{"https://[::1]/", "[::1]:443"},
		{"https://[::1]:8443/", "[::1]:8443"},
	} {
		if got := hostOf(c.in); got != c.want {
			t.Errorf("hostOf(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
