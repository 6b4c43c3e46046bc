package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/qiming-sandbox/qsandbox/conformance/render"
	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/report"
)

// capture holds output for run --json.
type capture struct{ out, err bytes.Buffer }

// outcome is what run --json prints. error is there when the sandbox or the input
// failed, and then only; what the command itself did is in report.exit.
type outcome struct {
	Report *report.Report  `json:"report"`
	Stdout string          `json:"stdout"` // invalid bytes replaced by U+FFFD
	Stderr string          `json:"stderr"`
	Error  *report.Failure `json:"error,omitempty"`
}

func (c *capture) print(rep *report.Report, err error) error {
	return printJSON(outcome{
		Report: rep, Error: failed(err).Error,
		Stdout: strings.ToValidUTF8(c.out.String(), "\uFFFD"), Stderr: strings.ToValidUTF8(c.err.String(), "\uFFFD"),
	})
}

// failure is what every --json prints when it has nothing else to say.
type failure struct {
	Error *report.Failure `json:"error"`
}

func failed(err error) failure {
	if err == nil {
		return failure{}
	}
	return failure{&report.Failure{Code: string(fault.CodeOf(err)), Message: err.Error()}}
}

// printed marks an error that is on stdout as JSON already.
type printed struct{ error }

func (p printed) Unwrap() error { return p.error }

// printJSON writes one object and a newline.
func printJSON(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	return show(string(render.SafeJSON(b.Bytes()))) // it may end on a terminal
}

// wantsJSON tells whether --json was given.
func wantsJSON(cmd *cobra.Command) bool {
	f := cmd.Flags().Lookup("json")
	return f != nil && f.Value.String() == "true"
}

// show writes text to stdout. A reader that went away is no error of ours.
func show(text string) error {
	err := write(text)
	if err != nil && !brokenPipe(err) {
		return fault.Wrap(fault.UsageInvalid, "write output", "", err)
	}
	return nil
}

func write(text string) error {
	_, err := os.Stdout.WriteString(text)
	return err
}

func brokenPipe(err error) bool {
	return errors.Is(err, os.ErrClosed) || strings.Contains(err.Error(), "broken pipe")
}
