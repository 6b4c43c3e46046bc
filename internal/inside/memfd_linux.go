package inside

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// InitKind chooses the init.
type InitKind int

const (
	// InitAuto is the assembly init where there is one, else the Go init.
	InitAuto InitKind = iota
	// InitGo is a copy of the program that this package is linked into, started as StageName's third form. It needs what
	// that program needs inside (a dynamic loader, if it is not static) and a /proc.
	InitGo
)

// image is made once in a process; it is the same for all sandboxes and sealed.
type image struct {
	once sync.Once
	file *os.File
	err  error
}

var images [2]image

// InitImage returns the executable of the init as a sealed memfd. It is made once; the caller must not close it. Its
// number is high, so it is not in the way of the fixed descriptors. Execute it with argv[0] = InitName and an empty
// environment: by execveat with AT_EMPTY_PATH, or as /proc/self/fd/N.
func InitImage() (*os.File, error) { return InitAuto.Image() }

// Image is InitImage for a given kind.
func (k InitKind) Image() (*os.File, error) {
	im := &images[0]
	if k == InitGo {
		im = &images[1]
	}
	im.once.Do(func() { im.file, im.err = makeInit(k) })
	return im.file, im.err
}

func makeInit(k InitKind) (*os.File, error) {
	f, err := memfd("qsandbox-init", mfdExec)
	if err != nil {
		return nil, fmt.Errorf("make the init's executable: %w", err)
	}
	if err = fillInit(f, k); err == nil {
		// Not readable: then the kernel makes a process that runs it undumpable from the start, where the reader has no
		// power over the file (would_dump in fs/exec.c).
		err = f.Chmod(0o111)
	}
	if err == nil {
		err = seal(f)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("make the init's executable: %w", err)
	}
	return highFD(f), nil
}

func fillInit(f *os.File, k InitKind) error {
	if code, ok := AsmInit(); ok && k == InitAuto {
		_, err := f.Write(code)
		return err
	}
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return err
	}
	defer self.Close()
	_, err = io.Copy(f, self)
	return err
}

// highFD moves f to a number from 64 on, if it can.
func highFD(f *os.File) *os.File {
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 64)
	if err != nil {
		return f
	}
	name := f.Name()
	f.Close()
	return os.NewFile(uintptr(fd), name)
}

// BlobFile returns the blob as a sealed memfd, for one run. The caller closes it.
func BlobFile(im *Image) (*os.File, error) { return blobFile(im.Blob) }

// BlobFD is BlobFile for callers that want the bare descriptor.
func BlobFD(im *Image) (int, error) {
	fd, err := memfdRaw("qsandbox-blob", mfdNoExecSeal)
	if err != nil {
		return -1, fmt.Errorf("make the blob: %w", err)
	}
	if err = writeAll(fd, im.Blob); err == nil {
		err = sealFD(fd)
	}
	if err != nil {
		unix.Close(fd)
		return -1, fmt.Errorf("make the blob: %w", err)
	}
	return fd, nil
}

func writeAll(fd int, p []byte) error {
	for len(p) > 0 {
		n, err := unix.Write(fd, p)
		if err != nil {
			return os.NewSyscallError("write memfd", err)
		}
		p = p[n:]
	}
	return nil
}

func blobFile(blob []byte) (*os.File, error) {
	f, err := memfd("qsandbox-blob", mfdNoExecSeal)
	if err != nil {
		return nil, fmt.Errorf("make the blob: %w", err)
	}
	if _, err = f.Write(blob); err == nil {
		err = seal(f)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("make the blob: %w", err)
	}
	return f, nil
}

// memfd_create(2), from Linux 6.3 on: say whether the file may be executed, or vm.memfd_noexec decides.
const (
	mfdNoExecSeal = 0x8
	mfdExec       = 0x10
	sealExec      = 0x20 // F_SEAL_EXEC
)

func memfd(name string, exec int) (*os.File, error) {
	fd, err := memfdRaw(name, exec)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func memfdRaw(name string, exec int) (int, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|exec)
	if errors.Is(err, unix.EINVAL) { // before 6.3
		fd, err = unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	}
	if errors.Is(err, unix.EACCES) {
		return -1, fmt.Errorf("memfd_create: %w (vm.memfd_noexec=2 forbids executable ones)", err)
	}
	return fd, os.NewSyscallError("memfd_create", err)
}

const seals = unix.F_SEAL_SEAL | unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE

// seal makes the file immutable. SECURITY: whoever gets hold of it inside, through /proc or a leaked descriptor, can
// neither write it nor (from 6.3) change its mode: no setuid init, no other program.
func seal(f *os.File) error { return sealFD(int(f.Fd())) }

func sealFD(fd int) error {
	_, err := unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals|sealExec)
	if errors.Is(err, unix.EINVAL) {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
	}
	return os.NewSyscallError("seal memfd", err)
}

// sealed says whether fd is a memfd that nobody can change any more.
func sealed(fd int) bool {
	got, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	return err == nil && got&seals == seals
}
