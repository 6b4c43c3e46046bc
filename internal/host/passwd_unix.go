//go:build unix

package host

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
)

// currentUser reads the account of the effective user id. Without an entry
// (containers) it falls back to HOME and the number.
func currentUser() User {
	u, err := account(strconv.Itoa(os.Geteuid()))
	if err != nil {
		u = User{UID: os.Geteuid(), Name: os.Getenv("USER"), Home: os.Getenv("HOME"), Shell: "/bin/sh"}
	}
	u.GID = os.Getegid()
	u.Groups, _ = os.Getgroups()
	return u
}

// passwd is read once. os/user is not used: it drags in cgo or a slower parser,
// and this is on the path of every run.
var passwd = sync.OnceValue(func() []byte {
	b, _ := readFile("/etc/passwd", 8<<20)
	return b
})

// lookupUser finds an account by name or decimal id, with its groups.
func lookupUser(name string) (User, error) {
	u, err := account(name)
	if err == nil {
		u.Groups = groupsOf(u.Name)
	}
	return u, err
}

// account finds an account by name or decimal id (passwd(5)).
func account(name string) (User, error) {
	for line := range strings.Lines(string(passwd())) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), ":")
		if len(f) < 7 || (f[0] != name && f[2] != name) {
			continue
		}
		uid, err1 := strconv.Atoi(f[2])
		gid, err2 := strconv.Atoi(f[3])
		if err1 != nil || err2 != nil {
			continue
		}
		return User{UID: uid, GID: gid, Name: f[0], Home: f[5], Shell: f[6]}, nil
	}
	if uid, err := strconv.Atoi(name); err == nil && uid >= 0 {
		return User{UID: uid, GID: uid, Name: name, Home: "/", Shell: "/bin/sh"}, nil
	}
	return User{}, fmt.Errorf("no account %q", name)
}

// groupsOf gives the supplementary groups of an account (group(5)).
func groupsOf(name string) []int {
	b, _ := readFile("/etc/group", 8<<20)
	var out []int
	for line := range strings.Lines(string(b)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), ":")
		if len(f) < 4 {
			continue
		}
		for m := range strings.SplitSeq(f[3], ",") {
			if gid, err := strconv.Atoi(f[2]); m == name && err == nil {
				out = append(out, gid)
			}
		}
	}
	return out
}
