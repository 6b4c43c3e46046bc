package winsandbox

import (
	"os"
	"time"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// realDisk is the audit's view of the machine.
type realDisk struct{ began time.Time }

func (d realDisk) Since() time.Duration { return time.Since(d.began) }

func (realDisk) Children(dir string) ([]Entry, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list, err := f.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	out := make([]Entry, 0, len(list))
	for _, e := range list {
		out = append(out, Entry{Name: e.Name(), Dir: e.IsDir(), Link: e.Type()&(os.ModeSymlink|os.ModeIrregular) != 0})
	}
	return out, nil
}

func (realDisk) Security(path string) (*winacl.Descriptor, error) {
	o, err := openObject(path, windows.READ_CONTROL)
	if err != nil {
		return nil, err
	}
	defer o.close()
	return o.descriptor()
}

// places asks Windows for the directories that no policy opens. Not the environment:
// whoever starts the helper could have changed it.
func places(home string) (Places, error) {
	p := Places{}
	for _, f := range []struct {
		id   *windows.KNOWNFOLDERID
		into *string
	}{
		{windows.FOLDERID_Profile, &p.Home}, {windows.FOLDERID_RoamingAppData, &p.AppData}, {windows.FOLDERID_LocalAppData, &p.LocalAppData},
		{windows.FOLDERID_Windows, &p.Windows}, {windows.FOLDERID_ProgramData, &p.ProgramData},
	} {
		dir, err := windows.KnownFolderPath(f.id, windows.KF_FLAG_DONT_VERIFY)
		if err == nil {
			*f.into, err = CleanPath("known folder", dir)
		}
		if err != nil {
			return p, fault.Wrap(fault.Internal, "ask Windows for its folders", "", err)
		}
	}
	for _, id := range []*windows.KNOWNFOLDERID{windows.FOLDERID_ProgramFiles, windows.FOLDERID_ProgramFilesX86} {
		if dir, err := windows.KnownFolderPath(id, windows.KF_FLAG_DONT_VERIFY); err == nil {
			if dir, err = CleanPath("known folder", dir); err == nil {
				p.Programs = append(p.Programs, dir)
			}
		}
	}
	p.State = p.LocalAppData + `\qsandbox`
	if home == "" {
		return p, nil
	}
	var err error
	p.State, err = CleanPath("--home", home)
	return p, err
}
