package render

import (
	"crypto/sha256"
	"encoding/base64"
	"testing"
)

func TestHashesAreThoseOfTheFiles(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{{"page.css", css, cssHash}, {"page.js", script, scriptHash}} {
		sum := sha256.Sum256([]byte(c.text))
		if got := base64.StdEncoding.EncodeToString(sum[:]); got != c.want {
			t.Errorf("the sum of %s is %q now", c.name, got)
		}
	}
}
