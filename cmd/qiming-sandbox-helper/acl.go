package main

import (
	"encoding/json"
	"fmt"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/winacl"
)

// aclWish is the command line of acl.
type aclWish struct {
	revoke bool
	all    bool // also entries of runs that may still be going on
	home   string
}

// aclAnswer is what acl prints: the entries there are, or those that were removed,
// and what could not be removed.
type aclAnswer struct {
	Entries []winacl.Record `json:"entries"`
	Failed  []aclFailure    `json:"failed,omitempty"`
}

type aclFailure struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// acl shows or removes what the helper has added to access-control lists (WIN-06).
func acl(args []string, s streams) int {
	w, err := parseACL(args)
	if err != nil {
		return complain(s, err)
	}
	a, err := lists(w)
	if err != nil {
		return complain(s, err)
	}
	if a.Entries == nil {
		a.Entries = []winacl.Record{}
	}
	data, _ := json.MarshalIndent(a, "", "  ")
	fmt.Fprintf(s.out, "%s\n", data)
	if len(a.Failed) > 0 {
		return complain(s, fault.New(fault.Internal, "remove entries", a.Failed[0].Path, a.Failed[0].Message+"; they stay in the journal, and can be removed later or with more rights"))
	}
	return 0
}

func parseACL(args []string) (aclWish, error) {
	bad := func(subject, hint string) (aclWish, error) {
		return aclWish{}, fault.New(fault.UsageInvalid, "acl", subject, hint)
	}
	var w aclWish
	if len(args) == 0 {
		return bad("", "say list or revoke")
	}
	switch args[0] {
	case "list":
	case "revoke":
		w.revoke = true
	default:
		return bad(args[0], "say list or revoke")
	}
	for rest := args[1:]; len(rest) > 0; rest = rest[1:] {
		switch {
		case rest[0] == "--all":
			w.all = true
		case rest[0] == "--home" && len(rest) > 1 && rest[1] != "":
			w.home, rest = rest[1], rest[1:]
		default:
			return bad(rest[0], "the options are --all and --home DIR")
		}
	}
	return w, nil
}
