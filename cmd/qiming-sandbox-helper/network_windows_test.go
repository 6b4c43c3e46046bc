package main

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/windows"

	"github.com/qiming-sandbox/qsandbox/report"
)

// TestNetworkOffWithFilters: as an administrator the run cannot connect, its user can
// meanwhile (the control), and a run with the network can (the twin). Under Wine there are
// no filters, and the report says why. On a real Windows: not verified here.
func TestNetworkOffWithFilters(t *testing.T) {
	r := newRig(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for c, err := l.Accept(); err == nil; c, err = l.Accept() {
			c.Close()
		}
	}()
	got := r.run(nil, "role:connect", l.Addr().String())
	why := ""
	for _, row := range got.Enforcement {
		if row.Requirement == "NET-01" {
			why = row.Mechanism + ": " + row.Why
			if row.Level != report.Advisory {
				t.Errorf("NET-01 is called %s", row.Level)
			}
		}
	}
	if control, err := exec.Command(os.Args[0], "role:connect", l.Addr().String()).Output(); string(control) != "connected" {
		t.Errorf("control: outside nobody can connect either: %q %v", control, err)
	}
	if !strings.Contains(why, "filters of the Windows Filtering Platform") {
		if !strings.Contains(why, "no filters: ") {
			t.Errorf("no word about filters: %q", why)
		}
		if !wine() && windows.GetCurrentProcessToken().IsElevated() {
			t.Errorf("an administrator has no filters: %s", why)
		}
		t.Log(why)
		return
	}
	if got.Stdout != "no" {
		t.Errorf("with filters: %q", got.Stdout)
	}
	r.json = strings.Replace(r.json, `{`, `{"network_access":true,`, 1)
	if got := r.run(nil, "role:connect", l.Addr().String()); got.Stdout != "connected" {
		t.Errorf("with the network: %+v", got)
	}
}
