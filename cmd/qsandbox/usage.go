package main

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// seeHelp is the hint of every error in a command line.
func seeHelp(cmd *cobra.Command) string { return "see " + cmd.CommandPath() + " --help" }

// badUsage makes an error in a command line.
func badUsage(cmd *cobra.Command, op, subject, why string) error {
	return fault.Wrap(fault.UsageInvalid, op, subject, errors.New(why)).WithHint(seeHelp(cmd))
}

// flagError words pflag's errors as ours.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var empty *pflag.ValueRequiredError
	var bad *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown):
		name := "--" + unknown.GetSpecifiedName()
		if unknown.GetSpecifiedShortnames() != "" {
			name = "-" + unknown.GetSpecifiedName()
		}
		return badUsage(cmd, "read flag", name, "there is no such flag")
	case errors.As(err, &empty):
		return badUsage(cmd, "read flag", "--"+empty.GetFlag().Name, "it needs a value")
	case errors.As(err, &bad):
		return badUsage(cmd, "read flag", "--"+bad.GetFlag().Name+" "+bad.GetValue(), reason(bad.Unwrap()))
	}
	return badUsage(cmd, "read flags", "", err.Error())
}

// reason words the errors of package strconv, which name their function.
func reason(err error) string {
	var num *strconv.NumError
	switch {
	case !errors.As(err, &num):
		return err.Error()
	case errors.Is(err, strconv.ErrRange):
		return "the number is too large"
	case num.Func == "ParseBool":
		return "wanted true or false"
	}
	return "wanted a whole number"
}

// usage words what is left of cobra's own errors as ours.
func usage(cmd *cobra.Command, err error) error {
	if fault.CodeOf(err) != fault.Internal || errors.As(err, new(*fault.Error)) {
		return err
	}
	return badUsage(cmd, "read the command line", "", err.Error())
}

// unknownCommand is what the root, and a command that only groups others, does by itself.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	why := "there is no such command"
	cmd.SuggestionsMinimumDistance = 2
	if s := cmd.SuggestionsFor(args[0]); len(s) > 0 {
		why += fmt.Sprintf(", did you mean %q?", s[0])
	}
	return badUsage(cmd, "find command", args[0], why)
}

// arguments checks how many arguments a command got.
func arguments(least, most int, want string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		n := len(args)
		switch {
		case n < least:
			return badUsage(cmd, "read arguments", "", "wanted "+want)
		case n > most:
			return badUsage(cmd, "read arguments", args[most], "one too many: wanted "+want)
		}
		return nil
	}
}
