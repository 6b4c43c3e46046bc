// Package metrics counts what the audit log tells, and writes it in Prometheus' text form
// (OBS-02).
//
// Nothing is counted while a command runs: whoever asks for metrics reads the log from
// where the last one ended. Position and counts are kept together in one file that is
// replaced as a whole, so that no event is counted twice, whoever asks at the same time,
// and that the counts outlive programs, machines, and log files that are gone.
package metrics
