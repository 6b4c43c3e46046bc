//go:build race

package seccomp

const raceOn = true
