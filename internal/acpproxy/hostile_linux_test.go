package acpproxy

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// hostileAgent plays an agent that does not keep to anything.
func hostileAgent(args []string) {
	out := bufio.NewWriter(os.Stdout)
	say := func(s string) { out.WriteString(s); out.Flush() }
	switch args[0] {
	case "garbage": // then it shows that it is still served
		say("log line\n[1,2\n\x00\xff\n{\"id\":{},\"method\":\"x\"}\n[{\"id\":5,\"method\":\"terminal/create\"}]\n\n")
		say(`{"id":1,"id":2,"method":"terminal/create"}` + "\n")
		say(`{"jsonrpc":"2.0","id":"ok","method":"terminal/create","params":{"sessionId":"s","command":"true"}}` + "\n")
		relay(out, 6)
	case "long": // 100 MB without an end, then a normal line
		part := strings.Repeat("z", 1<<20)
		for range 100 {
			say(part)
		}
		say("\n" + `{"method":"after","params":1}` + "\n")
		relay(out, 1)
	case "deaf": // asks for much and never reads
		for i := 0; ; i++ {
			say(fmt.Sprintf(`{"id":%d,"method":"terminal/output","params":{"sessionId":"s","terminalId":"%s"}}`+"\n", i, strings.Repeat("x", 1000)))
		}
	case "deaf-then-gone":
		go func() { time.Sleep(time.Second); os.Exit(7) }()
		for i := range 3000 {
			say(fmt.Sprintf(`{"id":%d,"method":"terminal/output","params":{"sessionId":"s","terminalId":"%s"}}`+"\n", i, strings.Repeat("x", 1000)))
		}
	case "flood": // fills the client's side
		for {
			say(`{"method":"session/update","params":"` + strings.Repeat("f", 10000) + `"}` + "\n")
		}
	case "leave": // terminals that daemonise, then it goes away
		for i := range 5 {
			say(fmt.Sprintf(`{"id":%d,"method":"terminal/create","params":{"sessionId":"s","command":"sh","args":["-c","trap '' TERM HUP; (setsid sleep 611 &) ; sleep 611"]}}`+"\n", i))
		}
		in := bufio.NewReader(os.Stdin)
		for range 5 {
			_, _ = in.ReadString('\n')
		}
		say(`{"method":"started"}` + "\n")
		if len(args) > 1 {
			time.Sleep(time.Hour)
		}
	case "stubborn": // ends for nobody
		say(`{"method":"started"}` + "\n")
		time.Sleep(time.Hour)
	}
}

// relay tells the client what was answered.
func relay(out *bufio.Writer, n int) {
	in := bufio.NewReader(os.Stdin)
	for range n {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		text, _ := json.Marshal(line)
		fmt.Fprintf(out, `{"method":"answered","params":%s}`+"\n", text)
		out.Flush()
	}
}

// heard reads n lines on the client's side.
func heard(t *testing.T, b *bridge, n int) []string {
	t.Helper()
	var out []string
	r := bufio.NewReader(b.out)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range n {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			out = append(out, line)
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
	}
	return out
}

func TestHostileGarbage(t *testing.T) {
	b := start(t, nil, self(t), "-hostile-agent", "garbage")
	lines := heard(t, b, 8)
	all := strings.Join(lines, "")
	if lines[0] != "\n" { // the empty line is the only one that passes
		t.Errorf("the client got %q", lines[0])
	}
	if strings.Count(all, "-32700") != 3 || strings.Count(all, "-32600") != 3 {
		t.Errorf("answers: %s", all)
	}
	b.in.Close()
	<-b.done
	if b.err != nil || b.rep.Exit == nil {
		t.Errorf("%v %+v", b.err, b.rep)
	}
}

func TestHostileLongLine(t *testing.T) {
	b := start(t, nil, self(t), "-hostile-agent", "long")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	all := strings.Join(heard(t, b, 2), "")
	runtime.ReadMemStats(&after)
	if !strings.Contains(all, `{"method":"after","params":1}`+"\n") || !strings.Contains(all, "32 MiB") {
		t.Errorf("%s", all)
	}
	if grown := after.HeapSys - min(before.HeapSys, after.HeapSys); grown > 400<<20 {
		t.Errorf("100 MB of a line cost %d MiB", grown>>20)
	}
}

// An agent that never reads stops itself, not the way to its end, and costs no memory.
func TestHostileDeafAgent(t *testing.T) {
	b := start(t, nil, self(t), "-hostile-agent", "deaf")
	time.Sleep(2 * time.Second)
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapInuse > 200<<20 {
		t.Errorf("%d MiB for a deaf agent", m.HeapInuse>>20)
	}
	began := time.Now()
	b.in.Close()
	b.out.Close()
	b.stop()
	<-b.done
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("it took %v to end", d)
	}
}

// An agent that ends with answers on the way to it: nobody waits for it to read them.
func TestHostileDeafAgentEnds(t *testing.T) {
	b := start(t, nil, self(t), "-hostile-agent", "deaf-then-gone")
	select {
	case <-b.done:
	case <-time.After(30 * time.Second):
		t.Fatal("the proxy did not see the agent's end")
	}
	if b.err != nil || b.rep.Exit.Code != 7 {
		t.Errorf("%v %+v", b.err, b.rep.Exit)
	}
}

// A client that never reads, and then goes away.
func TestHostileDeafClient(t *testing.T) {
	b := start(t, nil, self(t), "-hostile-agent", "flood")
	time.Sleep(time.Second)
	began := time.Now()
	b.in.Close() // its reading end stays open and silent
	<-b.done
	if d := time.Since(began); d > 30*time.Second {
		t.Errorf("it took %v to end", d)
	}
	if n := running(b.place.Root, "-hostile-agent"); n > 0 {
		t.Errorf("%d agents are running", n)
	}
}

// The client goes away: the agent is ended, though it does not want to.
func TestClientVanishes(t *testing.T) {
	b := start(t, nil, self(t), "-hostile-agent", "stubborn")
	heard(t, b, 1)
	began := time.Now()
	b.in.Close()
	b.out.Close()
	<-b.done
	if d := time.Since(began); d < patience || d > 30*time.Second {
		t.Errorf("it took %v", d)
	}
	if n := running(b.place.Root, "-hostile-agent"); n > 0 {
		t.Errorf("%d agents are running", n)
	}
}

// The agent goes away: its terminals are ended, daemons too.
func TestAgentVanishes(t *testing.T) {
	b := start(t, nil, self(t), "-hostile-agent", "leave")
	heard(t, b, 1)
	<-b.done
	if b.err != nil || b.rep.Exit.Code != 0 {
		t.Errorf("%v %+v", b.err, b.rep.Exit)
	}
	if n := running(b.place.Root, "611"); n > 0 {
		t.Errorf("%d commands of terminals are running", n)
	}
}

// An agent that is not there is an error; nothing else is started in its place.
func TestNoAgent(t *testing.T) {
	b := start(t, nil, "no-such-agent-here")
	rest, _ := io.ReadAll(b.out)
	<-b.done
	if b.err == nil || b.rep == nil || b.rep.Exit != nil || len(rest) > 0 {
		t.Errorf("%v %+v %q", b.err, b.rep, rest)
	}
}

func eventually(f func() bool) bool {
	for range 300 {
		if f() {
			return true
		}
		time.Sleep(20 * time.Millisecond)
	}
	return false
}

// running counts processes that stand in dir and have text in their arguments.
func running(dir, text string) (n int) {
	links, _ := filepath.Glob("/proc/[0-9]*/cwd")
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && strings.HasPrefix(to, dir) {
			if args, _ := os.ReadFile(filepath.Dir(l) + "/cmdline"); strings.Contains(string(args), text) {
				n++
			}
		}
	}
	return n
}
