package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

// The test binary plays the helper and every command in it: role:NAME is its first
// argument, since the helper passes no variable on.
func TestMain(m *testing.M) {
	if code, is := asHelper(os.Args[1:]); is {
		os.Exit(code)
	}
	if len(os.Args) > 1 {
		if name, ok := strings.CutPrefix(os.Args[1], "role:"); ok {
			os.Exit(roles[name](os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}

var roles map[string]func([]string) int

func init() {
	roles = map[string]func([]string) int{
		"helper": func(a []string) int { return execute(a, streams{os.Stdin, os.Stdout, os.Stderr}) },
		"exit":   func(a []string) int { n, _ := strconv.Atoi(a[0]); return n },
		"say":    func(a []string) int { fmt.Print(a[0]); fmt.Fprint(os.Stderr, a[1]); return 0 },
		"args":   func(a []string) int { json.NewEncoder(os.Stdout).Encode(a); return 0 },
		"env":    func([]string) int { fmt.Print(strings.Join(os.Environ(), "\n")); return 0 },
		"cwd":    func([]string) int { wd, _ := os.Getwd(); fmt.Print(wd); return 0 },
		"cat":    func([]string) int { io.Copy(os.Stdout, os.Stdin); return 0 },
		"touch":  touch, "consolesizes": consoleSizes, "plant": plant, "library": library, "terminal": terminal, "connect": connect, "plantwait": func(a []string) int { plant(a); fmt.Println("planted"); return sleep([]string{"60s"}) }, "big": big, "sleep": sleep, "parent": parent, "handle": handle, "pipe": pipe,
	}
}

// touch makes files; one that cannot be made does not keep it from the next.
func touch(a []string) (code int) {
	for _, f := range a {
		if err := os.WriteFile(f, []byte("x"), 0o600); err != nil {
			fmt.Println(err)
			code = 1
		}
	}
	return code
}

// consoleSizes tells the size of its console whenever it is another one, three times.
func consoleSizes([]string) int {
	last := ""
	for end, told := time.Now().Add(20*time.Second), 0; told < 3 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		var i windows.ConsoleScreenBufferInfo
		if windows.GetConsoleScreenBufferInfo(windows.Handle(os.Stdout.Fd()), &i) != nil {
			return 3
		}
		if s := fmt.Sprintf("<%dx%d>", i.Window.Right-i.Window.Left+1, i.Window.Bottom-i.Window.Top+1); s != last {
			fmt.Println(s)
			last, told = s, told+1
		}
	}
	return 0
}

// connect tells whether a socket of the program's own reaches an address.
func connect(a []string) int {
	c, err := net.DialTimeout("tcp", a[0], 5*time.Second)
	if err != nil {
		fmt.Print("no")
		return 0
	}
	c.Close()
	fmt.Print("connected")
	return 0
}

// plant makes files, with their folders.
func plant(a []string) int {
	for _, f := range a {
		if err := errors.Join(os.MkdirAll(filepath.Dir(f), 0o755), os.WriteFile(f, []byte("planted"), 0o644)); err != nil {
			fmt.Print(err)
			return 1
		}
	}
	return 0
}

func big(a []string) int {
	n, _ := strconv.Atoi(a[0])
	line := []byte(strings.Repeat("0123456789abcde\n", 4096))
	for ; n > 0; n -= len(line) {
		os.Stdout.Write(line[:min(n, len(line))])
	}
	return 0
}

func sleep(a []string) int {
	d, _ := time.ParseDuration(a[0])
	time.Sleep(d)
	return 0
}

// parent starts a grandchild that sleeps and holds the streams, tells its number, and
// ends or waits.
func parent(a []string) int {
	c := exec.Command(os.Args[0], "role:sleep", "60s")
	c.Stdout, c.Stderr = os.Stdout, os.Stderr
	if err := c.Start(); err != nil {
		fmt.Print(err)
		return 1
	}
	fmt.Printf("%d\n", c.Process.Pid)
	if a[0] == "wait" {
		c.Wait()
	}
	return 0
}

// handle tells whether a handle number of somebody else means something here.
func handle(a []string) int {
	n, _ := strconv.ParseUint(a[0], 10, 64)
	if err := windows.SetEvent(windows.Handle(n)); err != nil {
		fmt.Print("not mine")
		return 0
	}
	fmt.Print("open")
	return 0
}

// pipe talks to a child through pipes, as build tools do (WN-04, WN-05).
func pipe([]string) int {
	c := exec.Command(os.Args[0], "role:cat")
	c.Stdin = strings.NewReader("through a pipe")
	out, err := c.Output()
	if err != nil {
		fmt.Print(err)
		return 1
	}
	os.Stdout.Write(out)
	return 0
}
