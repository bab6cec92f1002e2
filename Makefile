# Gatehouse. `make run` is all it takes to see it work.

SHELL := /bin/sh
PRODUCT := gatehouse
# The same for everything that is measured, so that nothing is built twice.
RELEASE := --configuration release --static-swift-stdlib -Xswiftc -cross-module-optimization

.PHONY: help run test lint format build attack attack-broken attack-peers bench-edge bench-sockets bench-sessions bench-jose fuzz-jose fuzz-wire docs clean

help:
	@echo 'make run     install what is missing, build, make a demo account, serve'
	@echo 'make test    install what the tests need, and run them all'
	@echo 'make lint    formatting and house rules'
	@echo 'make format  rewrite the sources as the linter wants them'
	@echo 'make build   the release binary: .build/release/gatehouse'
	@echo 'make bench-edge     HTTP beside HAProxy, as a table; takes the release binary, or GATEHOUSE_BINARY'
	@echo 'make bench-sockets  WebSockets likewise'
	@echo 'make bench-sessions durable sessions on SQLite and PostgreSQL, memory, two nodes'
	@echo 'make bench-jose     tokens beside libcrypto alone, JWTKit, libjwt and PyJWT'
	@echo 'make fuzz-jose      a minute of libFuzzer for each parser of tokens and keys (FUZZ_SECONDS)'
	@echo 'make fuzz-wire  the same for the HTTP wire, beside llhttp'
	@echo 'make attack         start a gateway and attack it with everything there is'
	@echo 'make attack-broken  show that every attack finds a gateway with the mistake it is about'
	@echo 'make attack-peers   attack other gateways and JWT libraries, and write the table of what they let through'
	@echo 'make docs           the documentation of the libraries, as DocC archives in .build/docs'
	@echo 'make clean   remove what was built'

run:
	@.ci/install-dependencies run
	@.ci/demo

test:
	@.ci/install-dependencies test
	BENCH=1 swift build --build-tests --explicit-target-dependency-import-check error
	@# What computes takes all cores; what waits for gateways comes after it, several at once. What hangs is ended: the
	@# test that has begun and not ended is to be found in the output.
	BENCH=1 PATH="$(CURDIR)/.build/venv/bin:$$PATH" timeout 900 swift test --skip-build --skip '^EndToEndTests\.'
	BENCH=1 PATH="$(CURDIR)/.build/venv/bin:$$PATH" timeout 1800 swift test --skip-build --filter '^EndToEndTests\.'

# One of its rules builds the room that it is about.
lint:
	@.ci/install-dependencies run
	@.ci/lint

format:
	swift format --in-place --recursive Sources Tests Package.swift

# One file with Swift's libraries inside; libcrypto, libpq and libsqlite3 stay the system's, so that their security
# updates reach it.
build:
	@.ci/install-dependencies run
	swift build $(RELEASE) --product $(PRODUCT) -Xlinker -s

# Two cores: the server under test has one, load and upstream the other.
bench-edge bench-sockets:
	@.ci/install-dependencies bench
	@if [ -z "$$GATEHOUSE_BINARY" ]; then $(MAKE) --no-print-directory build; fi
	@PATH="$(CURDIR)/.build/venv/bin:$$PATH" python3 Benchmarks/$(if $(findstring edge,$@),Edge,Sockets)/run.py

# Both cores for server and load: the stores work beside the gateway.
bench-sessions:
	@.ci/install-dependencies bench
	@if [ -z "$$GATEHOUSE_BINARY" ]; then $(MAKE) --no-print-directory build; fi
	@if [ -z "$$SESSION_BENCH" ]; then BENCH=1 swift build $(RELEASE) --product session-bench; fi
	@PATH="$(CURDIR)/.build/venv/bin:$$PATH" python3 Benchmarks/Sessions/run.py

bench-jose:
	@.ci/install-dependencies bench-jose
	@PATH="$(CURDIR)/.build/venv/bin:$$PATH" python3 Benchmarks/JOSE/run.py

fuzz-jose:
	@.ci/fuzz-jose

fuzz-wire:
	@.ci/fuzz-wire

# `ATTACK` is passed on, such as ATTACK='--report sarif=attack.sarif'.
attack:
	@.ci/install-dependencies attack
	@.ci/attack $(ATTACK)

attack-broken:
	@.ci/install-dependencies test
	@if [ -z "$$GATEHOUSE_BINARY" ]; then swift build --product gatehouse; fi
	@"$(CURDIR)/.build/venv/bin/python" Tests/BrokenGateway/run.py

# In an environment of its own, with the versions that the table names.
attack-peers:
	@.ci/install-dependencies attack-peers
	@if [ -z "$$GATEHOUSE_BINARY" ]; then swift build --product gatehouse; fi
	@.build/peers/bin/python Tests/Peers/run.py >.build/peers.md
	@mv .build/peers.md docs/what-others-let-through.md

docs:
	@mkdir -p .build/docs
	@for library in JOSE HostileTokens Runtime EdgeConfiguration Exposition Experience; do \
		DOCS=1 swift package --allow-writing-to-directory .build/docs generate-documentation \
			--target $$library --output-path .build/docs/$$library.doccarchive || exit 1; \
	done

clean:
	rm -rf .build
