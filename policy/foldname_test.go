package policy

import "testing"

func TestFoldName(t *testing.T) {
	for in, want := range map[string]string{
		".git": ".git", ".GIT": ".git", ".VsCode": ".vscode", ".v\u017fcode": ".vscode", "hoo\u212As": "hooks", ".g\u200cit": ".git",
		".\uFEFFgit": ".git", "con\uFB01g": "config", ".ba\u00DFh": ".bassh", "\uFB06x": "stx", ".gi\uFE0Ft": ".git", "": "",
		".git\xff": ".git\xff", ".G\uFFFD": ".g\uFFFD", "ÄÖ": "äö", ".gi\u0442": ".gi\u0442", ".git ": ".git ", "日本": "日本", "\u034F.idea": ".idea",
	} {
		if got := FoldName(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if again := FoldName(FoldName(in)); again != want {
			t.Errorf("%q: twice %q", in, again)
		}
	}
}
