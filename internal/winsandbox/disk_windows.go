package winsandbox

import (
	"os"
	"strings"
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
// whoever starts the helper could have changed it. A folder on the network is left out:
// no root can lie there.
//
// SECURITY: by their real paths, as roots are compared by theirs. A profile that was moved
// to another drive by a junction would else be open under its other name.
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
		if err != nil {
			return p, fault.Wrap(fault.Internal, "ask Windows for its folders", "", err)
		}
		if dir, err = CleanPath("known folder", dir); err == nil {
			*f.into = whereItIs(dir)
		}
	}
	for _, id := range []*windows.KNOWNFOLDERID{windows.FOLDERID_ProgramFiles, windows.FOLDERID_ProgramFilesX86} {
		if dir, err := windows.KnownFolderPath(id, windows.KF_FLAG_DONT_VERIFY); err == nil {
			if dir, err = CleanPath("known folder", dir); err == nil {
				p.Programs = append(p.Programs, whereItIs(dir))
			}
		}
	}
	switch {
	case home != "":
		clean, err := CleanPath("--home", home)
		if err != nil {
			return p, err
		}
		p.State = whereItIs(clean)
	case p.LocalAppData == "":
		return p, fault.New(fault.PathInvalid, "keep records in", "LOCALAPPDATA", "it is not on a local drive; name a directory with --home")
	default:
		p.State = p.LocalAppData + `\qsandbox`
	}
	return p, nil
}

// whereItIs gives the real path of a clean path as far as that is there. What cannot be
// opened keeps its name.
func whereItIs(p string) string {
	rest := ""
	for dir := p; ; {
		if real, err := followed(dir); err == nil {
			if rest == "" {
				return real
			}
			return strings.TrimSuffix(real, `\`) + rest
		}
		up := Dir(dir)
		if up == dir {
			return p
		}
		rest, dir = strings.TrimSuffix(dir[len(strings.TrimSuffix(up, `\`)):], `\`)+rest, up
	}
}

// followed opens a path through every link and says where that is.
func followed(p string) (string, error) {
	name, err := windows.UTF16PtrFromString(`\\?\` + p)
	if err != nil {
		return "", err
	}
	h, err := windows.CreateFile(name, 0, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return "", err
	}
	defer windows.CloseHandle(h)
	return finalPath(h)
}
