package random

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Kind is what a node of a tree is.
type Kind string

// The kinds of nodes.
const (
	Dir    Kind = "dir"
	File   Kind = "file"
	Script Kind = "script" // ends with 7
	Link   Kind = "link"   // symbolic
	Hard   Kind = "hard"   // another name of a file
)

// Node is one name of a tree.
type Node struct {
	Path   string // below the world: ws/…, out/… or home/…
	Kind   Kind
	Target string // of a link: its text, in which @ is the world; of a hard link: a path like Path
}

// Rules are the part of a policy that is about files. An entry that starts with
// @/ is absolute: @ is the world.
type Rules struct {
	Mode                                    string // strict or compat
	Prevent                                 bool   // newProtected
	Writable, Readable, DenyRead, DenyWrite []string
	AllowProtected                          []string
}

// Verb is what an operation does.
type Verb string

// The verbs. Linking and renaming may be refused for reasons of the kernel's own
// (EXDEV, EBUSY); when they work both ends must be writable.
const (
	Read   Verb = "read"
	List   Verb = "list"
	Write  Verb = "write"  // append to what is there
	Create Verb = "create" // a file that is not there
	Mkdir  Verb = "mkdir"
	Exec   Verb = "exec"
	HardTo Verb = "link"
	Rename Verb = "rename"
)

// Op is one operation.
type Op struct {
	Verb Verb
	Path string // like Node.Path
	To   string // of link and rename
}

// World is one trial.
type World struct {
	Seed  uint64
	Nodes []Node
	Rules Rules
	Ops   []Op
}

// tops are the folders that each world has.
var tops = []string{"ws", "out", "home"}

// Build makes the tree below root, which must not exist.
func (w *World) Build(root string) error {
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	for _, d := range tops {
		if err := os.Mkdir(filepath.Join(root, d), 0o755); err != nil {
			return err
		}
	}
	for i, n := range w.Nodes {
		if err := n.build(root, i); err != nil {
			return fmt.Errorf("build %q: %w", n.Path, err)
		}
	}
	return nil
}

func (n Node) build(root string, i int) error {
	p := filepath.Join(root, n.Path)
	switch n.Kind {
	case Dir:
		return os.Mkdir(p, 0o755)
	case Script:
		return os.WriteFile(p, fmt.Appendf(nil, "#!/bin/sh\nexit 7 # %d\n", i), 0o755)
	case Link:
		return os.Symlink(absolute(root, n.Target), p)
	case Hard:
		return os.Link(filepath.Join(root, n.Target), p)
	}
	return os.WriteFile(p, fmt.Appendf(nil, "file %d\n", i), 0o644)
}

// absolute puts the world's place where @ stands for it.
func absolute(root, text string) string {
	if rest, ok := strings.CutPrefix(text, "@/"); ok {
		return root + "/" + rest
	}
	return text
}

// needs tells whether a node lies below another, or is another name of it.
func (n Node) needs(other string) bool {
	return strings.HasPrefix(n.Path, other+"/") || n.Kind == Hard && (n.Target == other || strings.HasPrefix(n.Target, other+"/"))
}
