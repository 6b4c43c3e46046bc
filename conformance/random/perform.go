package random

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
)

// order is one operation on its way into the sandbox. Names are bytes: they need
// not be text.
type order struct {
	Verb     Verb
	Path, To []byte
}

// did is what came of it, as seen by who performed it.
type did struct {
	OK   bool
	Data []byte `json:",omitempty"` // what was read
	ID   ID     // of the folder that was listed
	Err  string `json:",omitempty"`
}

// Perform is what runs inside: it reads orders and writes what it did.
func Perform(in io.Reader, out io.Writer) error {
	var orders []order
	if err := json.NewDecoder(in).Decode(&orders); err != nil {
		return err
	}
	list := make([]did, len(orders))
	for i, o := range orders {
		if err := o.perform(&list[i]); err != nil {
			list[i] = did{Err: err.Error()}
		} else {
			list[i].OK = true
		}
	}
	return json.NewEncoder(out).Encode(list)
}

func (o order) perform(d *did) (err error) {
	p := string(o.Path)
	switch o.Verb {
	case Read:
		d.Data, err = os.ReadFile(p)
	case List:
		if _, err = os.ReadDir(p); err == nil {
			d.ID, err = identify(p)
		}
	case Write:
		err = appendTo(p, os.O_WRONLY|os.O_APPEND)
	case Create:
		err = appendTo(p, os.O_WRONLY|os.O_CREATE|os.O_EXCL)
	case Mkdir:
		err = os.Mkdir(p, 0o755)
	case Exec:
		var exit *exec.ExitError
		if err = exec.Command(p).Run(); errors.As(err, &exit) && exit.ExitCode() == scriptExit {
			err = nil
		} else if err == nil {
			err = errors.New("the script gave 0")
		}
	case HardTo:
		err = os.Link(p, string(o.To))
	case Rename:
		if err = os.Rename(p, string(o.To)); err == nil {
			err = os.Rename(string(o.To), p)
		}
	}
	return err
}

// ID tells a folder of the host from one that a sandbox made up to hold something else.
type ID struct{ Dev, Ino uint64 }

// scriptExit is what a script of a tree ends with.
const scriptExit = 7

func appendTo(p string, flags int) error {
	f, err := os.OpenFile(p, flags, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte{'x'})
	return errors.Join(err, f.Close())
}
