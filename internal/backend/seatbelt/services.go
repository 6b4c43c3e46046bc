package seatbelt

import (
	"slices"
	"strings"

	"github.com/qiming-sandbox/qsandbox/fault"
	"github.com/qiming-sandbox/qsandbox/internal/sbpl"
	"github.com/qiming-sandbox/qsandbox/policy"
)

// when says in which runs a group of services can be reached without being named.
type when uint8

const (
	named     when = iota // only by macos.services
	always                // in every isolated run
	networked             // when the network is on
)

// service is a group of mach services, with what needs it and what it risks.
//
// SECURITY: a service acts outside of the sandbox with the rights of the user.
// Only those that answer questions about the system are given unasked.
type service struct {
	name  string
	when  when
	why   string // what needs it
	risk  string // what the command can do with it
	names []string
	more  []sbpl.Rule // what it needs beside the names
}

var services = []service{
	{"directory", always, "names of users and groups: getpwuid, id, ls -l", "names of accounts can be read",
		[]string{"com.apple.system.opendirectoryd.libinfo", "com.apple.system.opendirectoryd.membership", "com.apple.bsd.dirhelper"}, nil},
	{"notifications", always, "libnotify: time zone and account changes, which libc asks for", "system-wide notification names can be posted",
		[]string{"com.apple.system.notification_center"},
		[]sbpl.Rule{{Action: sbpl.Allow, Ops: []string{"ipc-posix-shm-read*"}, Filters: []sbpl.Filter{sbpl.Named("ipc-posix-name", "apple.shm.notification_center")}}}},
	{"logging", always, "os_log and syslog", "lines can be written to the system's log",
		[]string{"com.apple.logd", "com.apple.system.logger"}, nil},
	{"dns", networked, "getaddrinfo: names become addresses", "the resolver sends what it is asked: a way out for data even where connections are refused",
		[]string{"com.apple.dnssd.service", "com.apple.SystemConfiguration.DNSConfiguration"},
		[]sbpl.Rule{{Action: sbpl.Allow, Ops: []string{"network-outbound"}, Filters: []sbpl.Filter{
			sbpl.RemoteSocket(sbpl.Literal("/private/var/run/mDNSResponder")), sbpl.Literal("/private/var/run/mDNSResponder")}}}},
	{"configd", networked, "the system's proxies and interfaces: curl, Python, Java and Go ask", "names of networks and interfaces can be read",
		[]string{"com.apple.SystemConfiguration.configd"}, nil},
	{"trust", networked, "certificates are checked by trustd for Go, Swift, curl and node --use-system-ca", "trustd may fetch revocation lists on the command's behalf",
		[]string{"com.apple.trustd", "com.apple.trustd.agent"}, nil},
	{"preferences", named, "defaults(1), CFPreferences, xcodebuild", "settings of other programs can be read, and some hold secrets",
		[]string{"com.apple.cfprefsd.agent", "com.apple.cfprefsd.daemon"},
		[]sbpl.Rule{
			{Action: sbpl.Allow, Ops: []string{"ipc-posix-shm-read*"}, Filters: []sbpl.Filter{sbpl.Named("ipc-posix-name-prefix", "apple.cfprefs.")}},
			{Action: sbpl.Allow, Ops: []string{"user-preference-read"}}}},
	{"keychain", named, "git-credential-osxkeychain, codesign, security(1)", "the user's passwords and keys can be used",
		[]string{"com.apple.SecurityServer", "com.apple.securityd.xpc"}, nil},
	{"launchservices", named, "open(1), and programs with windows", "any application can be started OUTSIDE of the sandbox",
		[]string{"com.apple.coreservices.launchservicesd", "com.apple.lsd.mapdb", "com.apple.CoreServices.coreservicesd"},
		[]sbpl.Rule{{Action: sbpl.Allow, Ops: []string{"lsopen"}}}},
	{"pasteboard", named, "pbcopy, pbpaste", "what the user has copied can be read and replaced",
		[]string{"com.apple.pasteboard.1"}, nil},
	{"fonts", named, "programs that draw text", "fonts can be read", []string{"com.apple.fonts", "com.apple.FontObjectsServer"}, nil},
	{"simulator", named, "simctl, iOS simulators", "simulators run outside of the sandbox",
		[]string{"com.apple.CoreSimulator.CoreSimulatorService"}, nil},
}

// servicesOf gives the groups of a run: the unasked ones and those that the policy
// names. A name that there is not is an error.
func servicesOf(p policy.Policy) ([]service, error) {
	var names []string
	for _, s := range services {
		names = append(names, s.name)
	}
	for _, n := range p.Macos.Services {
		if !slices.Contains(names, n) {
			return nil, fault.New(fault.PolicyInvalid, "read macos.services", n, "there is no such group; there are "+strings.Join(names, ", "))
		}
	}
	var out []service
	for _, s := range services {
		switch {
		case slices.Contains(p.Macos.Services, s.name), s.when == always, s.when == networked && p.Network.Mode == policy.NetworkOn:
			out = append(out, s)
		}
	}
	return out, nil
}
