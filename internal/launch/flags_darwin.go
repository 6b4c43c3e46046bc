package launch

import "golang.org/x/sys/unix"

// unlockFile takes the flags away that keep a file from being removed (chflags(2):
// uchg, uappnd), which its owner may set and clear.
func unlockFile(path string) { _ = unix.Chflags(path, 0) }
