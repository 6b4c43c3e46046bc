package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Result is one run of the benchmark; its JSON form is what -compare reads.
type Result struct {
	Version  int       `json:"version"`
	Time     time.Time `json:"time"`
	Platform string    `json:"platform"`
	Kernel   string    `json:"kernel"`
	CPUs     int       `json:"cpus"`
	Load     string    `json:"load"` // when it began: a busy machine widens the intervals
	UID      int       `json:"uid"`
	Quick    bool      `json:"quick"`
	Took     float64   `json:"took_s"`
	Rows     []Row     `json:"rows"`
	Skipped  []string  `json:"skipped"` // what was not measured, and why
}

func newResult(quick bool) *Result {
	return &Result{Version: 1, Time: time.Now().UTC().Truncate(time.Second), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		Kernel: firstLine("/proc/sys/kernel/osrelease"), CPUs: runtime.NumCPU(), Load: firstLine("/proc/loadavg"),
		UID: os.Getuid(), Quick: quick, Skipped: []string{}}
}

func firstLine(path string) string {
	data, _ := os.ReadFile(path)
	line, _, _ := strings.Cut(string(data), "\n")
	return line
}

func (r *Result) add(rows ...Row) { r.Rows = append(r.Rows, rows...) }

//
//lint:ignore U1000 measuring needs Linux
func (r *Result) skip(what string, why any) {
	r.Skipped = append(r.Skipped, fmt.Sprintf("%s: %v", what, why))
}

// print writes the table.
func (r *Result) print(w io.Writer) {
	fmt.Fprintf(w, "%s, Linux %s, %d CPUs, load %s, uid %d, %.0f s\n", r.Platform, r.Kernel, r.CPUs, r.Load, r.UID, r.Took)
	if load, err := strconv.ParseFloat(strings.Fields(r.Load + " -")[0], 64); err == nil && load > 0.7*float64(r.CPUs) {
		fmt.Fprintln(w, "the machine was busy: programs with several threads look worse than they are, and no bar should be judged by this")
	}
	head := []string{"", "median", "95 % interval", "n", "bar", ""}
	cells := [][]string{head}
	group := ""
	for _, row := range r.Rows {
		if row.Group != group {
			group = row.Group
			cells = append(cells, []string{"\n" + group})
		}
		bar, verdict := "", ""
		if row.Bar > 0 {
			sign := "≤"
			if row.Higher {
				sign = "≥"
			}
			bar, verdict = fmt.Sprintf("%s %.2f", sign, row.Bar), "ok"
			if row.misses() {
				verdict = "MISSED"
			}
		}
		cells = append(cells, []string{"  " + row.Name, number(row.Median) + " " + row.Unit, number(row.Lo) + " … " + number(row.Hi), fmt.Sprint(row.N), bar, verdict})
	}
	writeCells(w, cells)
	if len(r.Skipped) > 0 {
		fmt.Fprintln(w, "\nnot measured")
		for _, s := range r.Skipped {
			fmt.Fprintln(w, "  "+s)
		}
	}
}

func number(v float64) string {
	if v >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3f", v)
}

// writeCells lines cells up: the first column to the left, the others to the right.
func writeCells(w io.Writer, cells [][]string) {
	var wide [6]int
	for _, c := range cells {
		for i, s := range c {
			if len(c) > 1 {
				wide[i] = max(wide[i], utf8.RuneCountInString(s))
			}
		}
	}
	for _, c := range cells {
		line := ""
		for i, s := range c {
			pad := strings.Repeat(" ", max(0, wide[i]-utf8.RuneCountInString(s)))
			if i == 0 {
				line += s + pad
			} else {
				line += "  " + pad + s
			}
		}
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// save writes the JSON form.
func (r *Result) save(path string) error {
	if path == "" {
		return nil
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, append(data, '\n'), 0o644)
}

func load(path string) (*Result, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	r := &Result{}
	if err := json.Unmarshal(data, r); err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return r, nil
}

// compare prints what changed since a saved run, and counts what became worse.
func (r *Result) compare(w io.Writer, before *Result) (regressions int) {
	cells := [][]string{{"against " + before.Time.Format(time.RFC3339), "before", "now", "change", "", ""}}
	for _, now := range r.Rows {
		for _, was := range before.Rows {
			if was.Group != now.Group || was.Name != now.Name || was.Median == 0 || !now.comparable() {
				continue
			}
			verdict := ""
			if now.worse(was) {
				regressions++
				verdict = "WORSE"
			}
			cells = append(cells, []string{"  " + now.Group + ", " + now.Name, number(was.Median) + " " + was.Unit, number(now.Median) + " " + now.Unit,
				fmt.Sprintf("%+.0f %%", 100*(now.Median/was.Median-1)), verdict})
		}
	}
	fmt.Fprintln(w)
	writeCells(w, cells)
	return regressions
}
