# `make demo` and `make test` are enough to get started; both install the C libraries that are missing.
SHELL := /bin/bash
.DEFAULT_GOAL := build

# All tracked and new Swift files, except the files that git ignores.
SWIFT_FILES = git ls-files -z --cached --others --exclude-standard '*.swift'

# The package manager passes the traits to the compiler in the order of a set. If it changes, everything is compiled again.
SWIFT_BUILD = SWIFT_DETERMINISTIC_HASHING=1 swift build
# With optimized libraries: see Package.swift. Debug information would take a fifth of the time, and gigabytes.
BUILD_ALL = TIDELINE_OPTIMIZE=1 $(SWIFT_BUILD) --traits Benchmark -debug-info-format none

.PHONY: build demo web test conformance-pages mutants lint format dependencies all-dependencies

dependencies:
	@scripts/install-dependencies

# With simdjson, which the benchmark compares the JSON reader with, and libpq for stores in PostgreSQL databases.
all-dependencies:
	@scripts/install-dependencies simdjson libpq

build: all-dependencies
	$(BUILD_ALL)

# Debug build of the parts that its story uses. The demo spends its time waiting for processes. It includes PostgreSQL if
# libpq is installed, which it does not need. Neither an index nor debug information is made.
DEMO_TRAITS = Serve$(shell pkg-config --exists libpq 2>/dev/null && echo ,PostgreSQL)
demo: dependencies
	@$(SWIFT_BUILD) --traits $(DEMO_TRAITS) --disable-index-store -debug-info-format none --product tideline
	@"$$(swift build --traits $(DEMO_TRAITS) --show-bin-path)/tideline" demo

# A server and two clients of a to-do list, each a web page.
web: dependencies
	@scripts/web

test: all-dependencies
	$(BUILD_ALL) --build-tests
	scripts/public-api --check
	scripts/test-linking
	@scripts/install-dependencies postgresql venv || true
	scripts/test-example
	@scripts/install-dependencies chromium chromedriver selenium || true
	TIDELINE_PROGRAMS="$$(swift build --traits Benchmark --show-bin-path)" scripts/test-web
	scripts/run-tests

# Updates the documentation pages that are generated from a run of the conformance suite.
conformance-pages: all-dependencies
	scripts/make-conformance-pages

# Plants mistakes in a copy of the sync core and lets the simulation find them.
mutants: dependencies
	scripts/mutants

# The formatter opens all files that it is given at once: there are more than a user may have open.
lint:
	@$(SWIFT_FILES) | xargs -0 -n 200 swift format lint --strict --parallel
	@! $(SWIFT_FILES) | LC_ALL=C.UTF-8 xargs -0 grep -HnE '^.{121}' | grep -E '^[^:]+:[0-9]+: *//' || \
	    { echo 'error: wrap these comments at 120 columns' >&2; exit 1; }
	@scripts/count-phrases
	@scripts/check-rooms
	@scripts/mutants --check

format:
	@$(SWIFT_FILES) | xargs -0 -n 200 swift format --in-place --parallel
