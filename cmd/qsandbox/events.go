package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/qiming-sandbox/qsandbox"
	"github.com/qiming-sandbox/qsandbox/fault"
)

type eventsFlags struct {
	follow bool
	types  []string
	since  string
	json   bool
}

func newEvents() *cobra.Command {
	f := &eventsFlags{}
	cmd := &cobra.Command{
		Use:   "events [flags]",
		Short: "Show what happened: runs, degradations, violations, changes of the policy",
		Long: `Events reads this account's audit log, which every run writes, whoever started it: the
command line, the servers, programs that use the library. It is in the state directory
(XDG_STATE_HOME, else ~/.local/state), as lines of JSON; --json prints them as they are.
With --follow it goes on with what comes; it then begins now, unless --since says when.`,
		Example: `  qsandbox events --since 1h
  qsandbox events --follow --type sandbox:unavailable --type permissive:used
  qsandbox events --since 2026-01-31T08:00:00Z --json | jq -r .event`,
		Args:              arguments(0, 0, "no arguments"),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(*cobra.Command, []string) error { return showEvents(f) },
	}
	fl := cmd.Flags()
	fl.BoolVarP(&f.follow, "follow", "f", false, "go on with what comes")
	fl.StringArrayVar(&f.types, "type", nil, "only events of this `NAME`; may be repeated")
	fl.StringVar(&f.since, "since", "", "only events after this `TIME`: 90s, 2h, 2026-01-31 or 2026-01-31T08:00:00Z")
	fl.BoolVar(&f.json, "json", false, "print one JSON object a line")
	completeWords(cmd, "type", eventWords())
	return cmd
}

func eventWords() (out []string) {
	for _, n := range qsandbox.EventNames() {
		out = append(out, string(n))
	}
	return out
}

func showEvents(f *eventsFlags) error {
	q, err := f.query(time.Now())
	if err != nil {
		return err
	}
	if !f.follow {
		return gone(qsandbox.Events(q, f.print))
	}
	ctx, stop := untilSignal(context.Background())
	defer stop()
	err = gone(qsandbox.Subscribe(ctx, q, f.print))
	if s, ok := context.Cause(ctx).(signalled); ok && err == nil {
		return exitError(128 + int(s.sig))
	}
	return err
}

// errGone ends the reading when nobody reads what is printed.
var errGone = errors.New("the reader is gone")

func gone(err error) error {
	if errors.Is(err, errGone) {
		return nil
	}
	return err
}

// query reads the flags.
func (f *eventsFlags) query(now time.Time) (q qsandbox.EventQuery, err error) {
	for _, t := range f.types {
		if !slices.Contains(eventWords(), t) {
			return q, fault.New(fault.UsageInvalid, "read flag --type", t, "use "+strings.Join(eventWords(), ", "))
		}
		q.Names = append(q.Names, qsandbox.EventName(t))
	}
	if f.since == "" {
		if f.follow {
			q.Since = now
		}
		return q, nil
	}
	q.Since, err = moment(f.since, now)
	return q, err
}

// moment reads a time, or how long ago it was.
func moment(text string, now time.Time) (time.Time, error) {
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, form := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if t, err := time.ParseInLocation(form, text, time.Local); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fault.New(fault.UsageInvalid, "read flag --since", text, "write how long ago, such as 90s or 2h, or a time, such as 2026-01-31 or 2026-01-31T08:00:00Z")
}

func (f *eventsFlags) print(e qsandbox.Event) error {
	line := eventText(e)
	if f.json {
		var err error
		if line, err = qsandbox.EventLine(e); err != nil {
			return err
		}
	}
	if err := write(line); err != nil {
		if brokenPipe(err) {
			return errGone
		}
		return fault.Wrap(fault.UsageInvalid, "write output", "", err)
	}
	return nil
}

// word is a value, in quotes where its end could not be seen.
func word(v string) string {
	v = printable(v)
	if v == "" || strings.ContainsAny(v, " \"=") {
		return `"` + strings.ReplaceAll(v, `"`, `\"`) + `"`
	}
	return v
}

// eventText is an event for people: what does not fit on a terminal is escaped.
func eventText(e qsandbox.Event) string {
	name := printable(string(e.Name))
	if e.Name == qsandbox.EventUnavailable || e.Name == qsandbox.EventPermissiveUsed || e.Name == qsandbox.EventPolicyViolation {
		name = paintOut(bold+red, name)
	}
	parts := []string{e.Time.Local().Format(time.DateTime), name}
	for _, v := range []string{e.Run, e.Backend, e.Mode} {
		if v != "" {
			parts = append(parts, printable(v))
		}
	}
	keys := make([]string, 0, len(e.Fields))
	for k := range e.Fields {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		parts = append(parts, printable(k)+"="+word(e.Fields[k]))
	}
	return strings.Join(parts, " ") + "\n"
}
