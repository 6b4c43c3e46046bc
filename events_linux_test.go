package qsandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// TestSubscribe: a subscription gets what other runs do, and only what it asked for.
func TestSubscribe(t *testing.T) {
	workspace, _ := place(t)
	none := policy.None
	run := func() {
		if _, err := qsandbox.Run(context.Background(), qsandbox.Request{Command: []string{"true"},
			Layers: layer(workspace, func(l *policy.Layer) { l.Backend = &none })}); err != nil {
			t.Error(err)
		}
	}
	run() // before it
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	got := make(chan qsandbox.Event, 10)
	over := make(chan error)
	since := time.Now()
	go func() {
		over <- qsandbox.Subscribe(ctx, qsandbox.EventQuery{Names: []qsandbox.EventName{qsandbox.EventExecuteComplete}, Since: since},
			func(e qsandbox.Event) error { got <- e; return nil })
	}()
	run()
	run()
	for range 2 {
		select {
		case e := <-got:
			if e.Name != qsandbox.EventExecuteComplete || e.Fields["code"] != "0" {
				t.Errorf("%+v", e)
			}
		case <-ctx.Done():
			t.Fatal("an event did not come")
		}
	}
	cancel()
	if err := <-over; err != nil || len(got) != 0 {
		t.Errorf("%v, %d more", err, len(got))
	}
	all := 0
	if err := qsandbox.Events(qsandbox.EventQuery{}, func(qsandbox.Event) error { all++; return nil }); err != nil || all != 6 {
		t.Errorf("%d events, %v", all, err)
	}
}

// TestNoSecretIsRecorded: wherever a secret is put that a run knows of, the audit log
// and the metrics lack it.
func TestNoSecretIsRecorded(t *testing.T) {
	workspace, state := place(t)
	const secret = "hunter2secret"
	t.Setenv("MY_TOKEN", secret)
	upstream := "http://user:" + secret + "@proxy.example:3128"
	none, permissive := policy.None, policy.Permissive
	set := map[string]string{"API_KEY": secret}
	pass := []string{"MY_TOKEN"}
	for name, req := range map[string]qsandbox.Request{
		"argument": {Command: []string{"sh", "-c", ": " + secret}},
		"env":      {Command: []string{"true"}, Env: map[string]string{"KEY": secret}},
		"stdin":    {Command: []string{"cat"}, Stdin: strings.NewReader(secret)},
		"output":   {Command: []string{"sh", "-c", "echo touch: " + secret + ": Permission denied >&2; exit 1"}},
		"missing":  {Command: []string{"no-such", secret}},
	} {
		for _, more := range []func(*policy.Layer){
			func(l *policy.Layer) { l.Backend = &none },
			func(l *policy.Layer) { l.Mode = &permissive },
			func(l *policy.Layer) { l.Env.Set, l.Env.Pass, l.Network.Upstream = &set, &pass, &upstream },
		} {
			req.Layers = layer(workspace, more)
			rep, err := qsandbox.Run(context.Background(), req)
			if rep == nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	log, err := os.ReadFile(filepath.Join(state, "qsandbox", qsandbox.AuditFile))
	if err != nil || strings.Count(string(log), "\n") < 15 {
		t.Fatalf("nothing was recorded: %v\n%s", err, log)
	}
	text, err := qsandbox.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	for what, data := range map[string]string{"audit log": string(log), "metrics": text} {
		if strings.Contains(data, secret) {
			t.Errorf("the %s has the secret:\n%s", what, data)
		}
	}
}
