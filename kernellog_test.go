package qsandbox

import (
	"testing"

	"github.com/qiming-sandbox/qsandbox/internal/denylog"
	"github.com/qiming-sandbox/qsandbox/internal/host"
	"github.com/qiming-sandbox/qsandbox/internal/spec"
	"github.com/qiming-sandbox/qsandbox/policy"
	"github.com/qiming-sandbox/qsandbox/report"
)

func TestLogDenials(t *testing.T) { // OBS-04
	s := &spec.Spec{GOOS: "darwin", Policy: policy.Default(), Rules: []spec.Rule{{Path: "/Users/dev/.ssh", Access: spec.Deny, Origin: "credential ~/.ssh"}}}
	got := logDenials(s, []denylog.Entry{
		{PID: 1, Operation: "file-read-data", Target: "/Users/dev/.ssh/id_rsa"},
		{PID: 1, Operation: "mach-lookup", Target: "com.apple.SecurityServer"},
		{PID: 1, Operation: "file-read-data", Target: "/etc/passwd"}, // the model would have allowed it: still told
	})
	if len(got) != 3 || !got[0].Certain || got[0].Operation != "read" || got[0].Rule != "deny /Users/dev/.ssh, from credential ~/.ssh" || got[0].Remedy == "" {
		t.Errorf("%+v", got)
	}
	if got[1].Operation != "mach-lookup" || got[1].Remedy == "" || got[2].Rule != "seatbelt profile: file-read-data" {
		t.Errorf("%+v", got[1:])
	}
	guess := report.Denial{Operation: "read", Subject: "/Users/dev/.ssh/id_rsa"}
	other := report.Denial{Operation: "write", Subject: "/x"}
	if list := withoutGuesses([]report.Denial{guess, other}, got); len(list) != 1 || list[0] != other {
		t.Errorf("%+v", list)
	}
}

func TestDoctorOnMacOS(t *testing.T) {
	h := host.Host{GOOS: "darwin", Kernel: func() host.Kernel { return host.Kernel{Release: "25.0.0"} }, Exists: func(p string) bool { return p == "/usr/bin/sandbox-exec" }}
	got := features(h, nil)
	if len(got) != 3 || got[1].Answer != AnswerYes || got[1].Reason != "" || got[2].Answer != AnswerNo || got[2].Reason == "" {
		t.Errorf("%+v", got)
	}
}
