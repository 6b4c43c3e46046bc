package qsandbox_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// Run a command in a workspace. What the command does, also when it fails, is in
// the report; an error means that the sandbox could not be had.
func ExampleRun() {
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)
	flags := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags}, Workspace: &dir}

	var out bytes.Buffer
	rep, err := qsandbox.Run(context.Background(), qsandbox.Request{
		Layers:  []policy.Layer{flags},
		Command: []string{"sh", "-c", "echo data > file; cat file; exit 3"},
		Stdout:  &out,
	})
	if errors.Is(err, fault.ErrSandboxUnavailable) {
		log.Fatal("no sandbox here: ", err)
	}
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q, exit code %d, by %s\n", out.String(), rep.Exit.Code, rep.Exit.Cause)
}

// Start a command, watch its events, and stop it.
func ExampleStart() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	s, err := qsandbox.Start(ctx, qsandbox.Request{
		Command: []string{"sleep", "60"},
		Events:  func(e qsandbox.Event) { fmt.Println(e.Name) },
	})
	if err != nil {
		log.Fatal(err)
	}
	s.Stop()
	rep, err := s.Wait()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(rep.Exit.Cause)
}

// Ask what a policy allows, without starting anything. The host must allow it too.
func ExampleExplain() {
	dir, _ := os.MkdirTemp("", "example")
	defer os.RemoveAll(dir)
	flags := policy.Layer{Origin: policy.Origin{Kind: policy.OriginFlags}, Workspace: &dir}
	req := qsandbox.Request{Layers: []policy.Layer{flags}}

	for _, q := range []struct {
		op     qsandbox.Operation
		target string
	}{
		{qsandbox.OpWrite, "main.go"},
		{qsandbox.OpRead, "~/.ssh/id_ed25519"},
		{qsandbox.OpConnect, "example.com:443"},
	} {
		v, err := qsandbox.Explain(req, q.op, q.target)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s %s: %v, by %s\n", q.op, q.target, v.Allowed, v.Origin)
	}
	// Output:
	// write main.go: true, by workspace
	// read ~/.ssh/id_ed25519: false, by credential ~/.ssh
	// connect example.com:443: false, by network.mode
}

// Look at what Run would do. A backend can be planned for where it could not run.
func ExamplePlanFor() {
	native := policy.LinuxNative
	p, err := qsandbox.PlanFor(context.Background(), qsandbox.Request{
		Layers:  []policy.Layer{{Origin: policy.Origin{Kind: policy.OriginFlags}, Backend: &native}},
		Command: []string{"go", "version"},
	}, qsandbox.PlanOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range p.Mounts {
		if !m.ReadOnly {
			fmt.Println(m.Dst, "may be written:", m.Origin)
		}
	}
}

// See which backends work on this machine.
func ExampleDoctor() {
	d, err := qsandbox.Doctor(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	for _, b := range d.Backends {
		if b.Answer != qsandbox.AnswerYes {
			fmt.Printf("%s: %s: %s; %s\n", b.Name, b.Answer, b.Reason, b.Remedy)
		}
	}
	fmt.Println("auto chooses", d.Auto)
}

// See where each value of the policy comes from.
func ExampleEffectivePolicy() {
	on := policy.NetworkOn
	p, err := qsandbox.EffectivePolicy([]policy.Layer{
		{Origin: policy.Origin{Kind: policy.OriginFile, Name: "policy.json"}, Network: policy.LayerNetwork{Mode: &on}},
	}, qsandbox.HideValues)
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range p.Fields {
		if f.Name == "network.mode" || f.Name == "mode" {
			fmt.Printf("%s = %s, from %s\n", f.Name, f.Value, f.Origin)
		}
	}
	// Output:
	// mode = "compat", from built-in
	// network.mode = "on", from file policy.json
}
