# qsandbox: see README.md. Every target works on a fresh machine with Go and make.

GO      ?= go
BIN     := bin/qsandbox
STORE   := bin/qsandbox-store
SOURCES := $(shell git ls-files '*.go' '*.s' '*.h' '*.json' 2>/dev/null)
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2

export CGO_ENABLED ?= 0

.PHONY: build test check unit bench fuzz wine wine-programs windows demo install clean

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

# Static checks for all systems, from any of them.
check:
	@scripts/check $(STATICCHECK)

unit: build
	@scripts/unit

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

demo: build
	@scripts/demo $(BIN)

clean:
	rm -rf bin out
