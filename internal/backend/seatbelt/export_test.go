package seatbelt

// For tests from outside: those from inside cannot use package backendtest.
var (
	ProfileOf    = profile
	JudgeProfile = judge
	StandIns     = standIns()
	GitMakes     = gitMakes
)
