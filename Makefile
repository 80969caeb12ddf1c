# `make demo` and `make test` are all that a newcomer needs; both install the C libraries that are missing.
SHELL := /bin/bash
.DEFAULT_GOAL := build

# Every tracked or new Swift file, but none of what git ignores.
SWIFT_FILES = git ls-files -z --cached --others --exclude-standard '*.swift'

.PHONY: build demo test conformance-pages lint format dependencies

dependencies:
	@scripts/install-dependencies

build: dependencies
	swift build

# A debug build: it shares all it compiles with `make test`, and the demo waits for processes, not for the processor.
demo: dependencies
	@swift build --product tideline
	@"$$(swift build --show-bin-path)/tideline" demo

test: dependencies
	swift build --build-tests
	scripts/test-linking
	scripts/test-example
	scripts/run-tests

# The pages of the documentation that a run of the conformance suite fills.
conformance-pages: dependencies
	scripts/make-conformance-pages

lint:
	@$(SWIFT_FILES) | xargs -0 swift format lint --strict --parallel

format:
	@$(SWIFT_FILES) | xargs -0 swift format --in-place --parallel
