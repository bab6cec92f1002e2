# Gatehouse. `make run` is all it takes to see it work.

SHELL := /bin/sh
PRODUCT := gatehouse

.PHONY: help run test lint format build clean

help:
	@echo 'make run     install what is missing, build, make a demo account, serve'
	@echo 'make test    install what the tests need, and run them all'
	@echo 'make lint    formatting and house rules'
	@echo 'make format  rewrite the sources as the linter wants them'
	@echo 'make build   the release binary: .build/release/gatehouse'
	@echo 'make clean   remove what was built'

run:
	@.ci/install-dependencies run
	@.ci/demo

test:
	@.ci/install-dependencies test
	PATH="$(CURDIR)/.build/venv/bin:$$PATH" swift test

lint:
	@.ci/lint

format:
	swift format --in-place --recursive Sources Tests Package.swift

# One file with Swift's libraries inside; libcrypto, libpq and libsqlite3 stay the system's, so that their security
# updates reach it.
build:
	@.ci/install-dependencies run
	swift build --configuration release --product $(PRODUCT) --static-swift-stdlib -Xlinker -s

clean:
	rm -rf .build
