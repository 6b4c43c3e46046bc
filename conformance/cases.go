package conformance

import (
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/qiming-sandbox/qsandbox/fault"
)

//go:embed cases
var embedded embed.FS

// ending is what the name of a case file ends with.
const ending = ".case"

// Embedded gives the cases that are part of the program, by id.
func Embedded() ([]*Case, error) {
	sub, err := fs.Sub(embedded, "cases")
	if err != nil {
		return nil, err
	}
	return read(sub, "cases")
}

// Load reads the cases below a directory of the user's.
//
// SECURITY: their shell runs outside the sandbox. They are read only from where the
// user says, never from a workspace by themselves (CNF-02).
func Load(dir string) ([]*Case, error) { return read(os.DirFS(dir), dir) }

func read(tree fs.FS, top string) ([]*Case, error) {
	var out []*Case
	at := map[string]string{}
	err := fs.WalkDir(tree, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() || !strings.HasSuffix(name, ending) {
			return err
		}
		if info, err := e.Info(); err != nil || info.Size() > maxCase {
			return fault.New(fault.UsageInvalid, "read case", path.Join(top, name), fmt.Sprintf("it is larger than %d bytes, or cannot be looked at", maxCase))
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		c, err := Parse(path.Join(top, name), data)
		if err != nil {
			return err
		}
		if path.Base(name) != c.ID+ending {
			return fault.New(fault.UsageInvalid, "read case", path.Join(top, name), "name the file after its id: "+c.ID+ending)
		}
		if other := at[c.ID]; other != "" {
			return fault.New(fault.UsageInvalid, "read case", c.ID, "it is in "+other+" and in "+path.Join(top, name))
		}
		at[c.ID] = path.Join(top, name)
		out = append(out, c)
		return nil
	})
	if err != nil {
		return nil, asUsage("read cases", top, err)
	}
	if len(out) == 0 {
		return nil, fault.New(fault.UsageInvalid, "read cases", top, "there is no file that ends with "+ending)
	}
	slices.SortFunc(out, func(a, b *Case) int { return strings.Compare(a.ID, b.ID) })
	return out, nil
}

// asUsage keeps an error that has a code.
func asUsage(op, subject string, err error) error {
	if fault.CodeOf(err) != fault.Internal {
		return err
	}
	return fault.Wrap(fault.UsageInvalid, op, subject, err)
}
