package policy

import (
	"strconv"
	"strings"

	"github.com/qiming-sandbox/qsandbox/fault"
)

// spelling is how the values of one enum are written, in the order of their constants.
type spelling struct {
	what  string
	names []string
}

// The one spelling of every enum (POL-01). These strings are in stored policies
// and reports: they never change.
var (
	modeNames         = spelling{"mode", []string{"strict", "compat", "permissive"}}
	backendNames      = spelling{"backend", []string{"auto", "linux-bwrap", "linux-native", "macos-seatbelt", "windows-sandbox", "docker", "none"}}
	autoFallbackNames = spelling{"autoFallback", []string{"manual", "startup-only", "session"}}
	windowsModeNames  = spelling{"windowsMode", []string{"read-only", "workspace-write"}}
	networkModeNames  = spelling{"network mode", []string{"off", "on", "allow"}}
	newNamesNames     = spelling{"newProtected", []string{"prevent", "detect"}}
)

// find gives the index of text.
func (s spelling) find(text string) (uint8, *problem) {
	for i, n := range s.names {
		if n == text {
			return uint8(i), nil
		}
	}
	return 0, badf("unknown value %q", text).hinted(didYouMean(text, s.names) + "use " + orList(s.names))
}

func (s spelling) parse(text string) (uint8, error) {
	i, bad := s.find(text)
	if bad != nil {
		return 0, bad.fault("parse "+s.what, text)
	}
	return i, nil
}

func (s spelling) text(i uint8) string {
	if int(i) < len(s.names) {
		return s.names[i]
	}
	return s.what + "(" + strconv.Itoa(int(i)) + ")"
}

func (s spelling) marshal(i uint8) ([]byte, error) {
	if int(i) < len(s.names) {
		return []byte(s.names[i]), nil
	}
	return nil, fault.New(fault.PolicyInvalid, "write "+s.what, s.text(i), "use "+orList(s.names))
}

// orList writes names as "a, b or c".
func orList(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// ParseMode reads a mode; the error names the legal ones.
func ParseMode(s string) (Mode, error) { i, err := modeNames.parse(s); return Mode(i), err }

// ParseBackend reads a backend; "none" is accepted, as it is asked for by name only.
func ParseBackend(s string) (Backend, error) { i, err := backendNames.parse(s); return Backend(i), err }

// ParseAutoFallback reads a fallback; the error names the legal ones.
func ParseAutoFallback(s string) (AutoFallback, error) {
	i, err := autoFallbackNames.parse(s)
	return AutoFallback(i), err
}

// ParseWindowsMode reads a helper sub-mode; the error names the legal ones.
func ParseWindowsMode(s string) (WindowsMode, error) {
	i, err := windowsModeNames.parse(s)
	return WindowsMode(i), err
}

// ParseNetworkMode reads a network mode; the error names the legal ones.
func ParseNetworkMode(s string) (NetworkMode, error) {
	i, err := networkModeNames.parse(s)
	return NetworkMode(i), err
}

// ParseNewNames reads what is done about new protected names; the error names the legal values.
func ParseNewNames(s string) (NewNames, error) {
	i, err := newNamesNames.parse(s)
	return NewNames(i), err
}

// String gives the one spelling, or "newProtected(n)" for a number that is none.
func (n NewNames) String() string { return newNamesNames.text(uint8(n)) }

// MarshalText gives the one spelling; a number that is none is an error.
func (n NewNames) MarshalText() ([]byte, error) { return newNamesNames.marshal(uint8(n)) }

// UnmarshalText is ParseNewNames.
func (n *NewNames) UnmarshalText(b []byte) (err error) {
	*n, err = ParseNewNames(string(b))
	return err
}

// String gives the one spelling, or "mode(n)" for a number that is no mode.
func (m Mode) String() string { return modeNames.text(uint8(m)) }

// MarshalText gives the one spelling; a number that is no mode is an error.
func (m Mode) MarshalText() ([]byte, error) { return modeNames.marshal(uint8(m)) }

// UnmarshalText is ParseMode.
func (m *Mode) UnmarshalText(b []byte) (err error) { *m, err = ParseMode(string(b)); return err }

// String gives the one spelling, or "backend(n)" for a number that is no backend.
func (b Backend) String() string { return backendNames.text(uint8(b)) }

// MarshalText gives the one spelling; a number that is no backend is an error.
func (b Backend) MarshalText() ([]byte, error) { return backendNames.marshal(uint8(b)) }

// UnmarshalText is ParseBackend.
func (b *Backend) UnmarshalText(t []byte) (err error) { *b, err = ParseBackend(string(t)); return err }

// String gives the one spelling, or "autoFallback(n)" for a number that is none.
func (a AutoFallback) String() string { return autoFallbackNames.text(uint8(a)) }

// MarshalText gives the one spelling; a number that is no fallback is an error.
func (a AutoFallback) MarshalText() ([]byte, error) { return autoFallbackNames.marshal(uint8(a)) }

// UnmarshalText is ParseAutoFallback.
func (a *AutoFallback) UnmarshalText(b []byte) (err error) {
	*a, err = ParseAutoFallback(string(b))
	return err
}

// String gives the one spelling, or "windowsMode(n)" for a number that is none.
func (w WindowsMode) String() string { return windowsModeNames.text(uint8(w)) }

// MarshalText gives the one spelling; a number that is no sub-mode is an error.
func (w WindowsMode) MarshalText() ([]byte, error) { return windowsModeNames.marshal(uint8(w)) }

// UnmarshalText is ParseWindowsMode.
func (w *WindowsMode) UnmarshalText(b []byte) (err error) {
	*w, err = ParseWindowsMode(string(b))
	return err
}

// String gives the one spelling, or "network mode(n)" for a number that is none.
func (n NetworkMode) String() string { return networkModeNames.text(uint8(n)) }

// MarshalText gives the one spelling; a number that is no network mode is an error.
func (n NetworkMode) MarshalText() ([]byte, error) { return networkModeNames.marshal(uint8(n)) }

// UnmarshalText is ParseNetworkMode.
func (n *NetworkMode) UnmarshalText(b []byte) (err error) {
	*n, err = ParseNetworkMode(string(b))
	return err
}
