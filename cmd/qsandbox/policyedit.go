package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/policy"
)

func newPolicyEdit() *cobra.Command {
	return storeCommand("edit", "Edit the stored policy in an editor",
		`Edit opens the stored policy in the editor that VISUAL or EDITOR names (vi without one)
and stores what it leaves, once that is a legal policy. What is not legal is kept in a
file, so that nothing typed is lost.`,
		`  qsandbox policy edit
  EDITOR='code --wait' qsandbox policy edit`,
		arguments(0, 0, "no arguments"),
		func(s *qsandbox.PolicyStore, _ []string) (*qsandbox.StoreResult, error) { return edit(s) })
}

func edit(s *qsandbox.PolicyStore) (*qsandbox.StoreResult, error) {
	l, _, err := s.Layer(context.Background())
	if err != nil {
		return nil, err
	}
	before, err := editable(l)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "qsandbox-edit-") // for its owner alone
	if err != nil {
		return nil, fault.Wrap(fault.UsageInvalid, "edit policy", "", err)
	}
	name := filepath.Join(dir, "policy.jsonc")
	after, err := editFile(name, before)
	if err != nil || bytes.Equal(after, before) {
		os.RemoveAll(dir)
		return &qsandbox.StoreResult{}, err
	}
	next, err := policy.Parse(name, after)
	var r *qsandbox.StoreResult
	if err == nil {
		r, err = s.Replace(context.Background(), "edit", next)
	}
	if err != nil {
		remark("what you wrote is kept in " + name + "; mend it and use qsandbox policy import")
		return nil, err
	}
	return r, os.RemoveAll(dir)
}

// editable is the stored policy as a person edits it. What this version does not know is
// not shown, and stays.
func editable(l policy.Layer) ([]byte, error) {
	l.Version = nil
	raw, err := l.MarshalJSON()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("// The stored policy: JSON with comments. qsandbox policy show lists the fields.\n")
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		return nil, err
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// editFile lets the user's own editor change a file, and gives what it leaves.
func editFile(name string, text []byte) ([]byte, error) {
	if err := os.WriteFile(name, text, 0o600); err != nil {
		return nil, fault.Wrap(fault.UsageInvalid, "edit policy", name, err)
	}
	named := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR"))
	if named == "" && !term.IsTerminal(int(os.Stdin.Fd())) { // vi would wait for ever
		return nil, fault.New(fault.UsageInvalid, "run editor", "vi", "it needs a terminal: set VISUAL or EDITOR, or use qsandbox policy set or import; nothing was changed")
	}
	words := strings.Fields(cmp.Or(named, "vi"))
	cmd := exec.Command(words[0], append(words[1:], name)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return nil, fault.Wrap(fault.UsageInvalid, "run editor", words[0], err).WithHint("set VISUAL or EDITOR; nothing was changed")
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fault.Wrap(fault.UsageInvalid, "edit policy", name, err)
	}
	return data, nil
}
