# Gatehouse. `make run` is all it takes to see it work.

SHELL := /bin/sh
PRODUCT := gatehouse
# The same for everything that is measured, so that nothing is built twice.
RELEASE := --configuration release --static-swift-stdlib -Xswiftc -cross-module-optimization

.PHONY: help run test lint format build install deb release capacity screenshots attack attack-broken attack-peers attack-without-checks bench-edge bench-sockets bench-agents bench-sessions bench-jose soak fuzz-jose fuzz-wire docs clean

help:
	@echo 'make run     install what is missing, build, make a demo account, serve'
	@echo 'make test    install what the tests need, and run them all'
	@echo 'make lint    formatting and house rules'
	@echo 'make format  rewrite the sources as the linter wants them'
	@echo 'make build   the release binary: .build/release/gatehouse'
	@echo 'make install it, with manual, completions and unit, below PREFIX (/usr/local) and DESTDIR'
	@echo 'make deb     a Debian package of it, in .build/dist'
	@echo 'make release archive, package, checksums, bill of materials and notes, in .build/dist'
	@echo 'make bench-edge     HTTP beside HAProxy, as a table; takes the release binary, or GATEHOUSE_BINARY'
	@echo 'make bench-sockets  WebSockets likewise'
	@echo 'make bench-agents   event streams of agents, and their requests'
	@echo 'make bench-sessions durable sessions on SQLite and PostgreSQL, memory, two nodes'
	@echo 'make capacity       what a fleet of so many nodes and sockets takes (CAPACITY=--help)'
	@echo 'make soak           MINUTES of everything at once, with faults (30; SOCKETS, SIGN_INS, HONEST, ATTACKS)'
	@echo 'make bench-jose     tokens beside libcrypto alone, JWTKit, libjwt and PyJWT'
	@echo 'make fuzz-jose      a minute of libFuzzer for each parser of tokens and keys (FUZZ_SECONDS)'
	@echo 'make fuzz-wire  the same for the HTTP wire, beside llhttp'
	@echo 'make attack         start a gateway and attack it with everything there is'
	@echo 'make attack-broken  show that every attack finds a gateway with the mistake it is about'
	@echo 'make attack-without-checks  build without the checks of a sign-in, and show that attacks succeed then'
	@echo 'make attack-peers   attack other gateways and JWT libraries, and write the table of what they let through'
	@echo 'make screenshots    every page in light and dark, desktop and phone: .build/screenshots; some are kept in docs/images'
	@echo 'make docs           the documentation of the libraries, as DocC archives in .build/docs'
	@echo 'make clean   remove what was built'

run:
	@.ci/install-dependencies run
	@.ci/demo

test:
	@.ci/install-dependencies test
	@# Optimised: without, the tests take twice as long.
	BENCH=1 swift build --build-tests --explicit-target-dependency-import-check error -Xswiftc -O
	@# What computes takes all cores, and comes first; a few tests at once, so that each is done soon after it has begun
	@# and what it waits for gets a turn. The stores' tests wait for PostgreSQL, one after the other, and run beside it:
	@# without `swift test`, of which one runs at a time. What waits for gateways follows. What hangs is ended: the test
	@# that has begun and not ended is to be found in the output.
	@export BENCH=1 PATH="$(CURDIR)/.build/venv/bin:$$PATH"; \
		timeout 900 .build/debug/gatehousePackageTests.xctest --testing-library swift-testing \
			--filter '^StateSurfaceTests\.' >.build/store-tests.log 2>&1 & stores=$$!; \
		SWT_EXPERIMENTAL_MAXIMUM_PARALLELIZATION_WIDTH=6 timeout 900 \
			swift test --skip-build --skip '^(EndToEnd|StateSurface)Tests\.'; status=$$?; \
		wait $$stores || status=1; cat .build/store-tests.log; exit $$status
	@rm -rf .build/test-outputs
	BENCH=1 GATEHOUSE_TEST_OUTPUTS="$(CURDIR)/.build/test-outputs" PATH="$(CURDIR)/.build/venv/bin:$$PATH" \
		timeout 1800 swift test --skip-build --filter '^EndToEndTests\.'
	@# What the gateways and commands of that run have written, and metrics and traces: no credential is anywhere in it.
	@.ci/redaction .build/test-outputs

# One of its rules builds the module that it is about.
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

# These take what `make build` made, or GATEHOUSE_BINARY.
install:
	@PREFIX='$(or $(PREFIX),/usr/local)' DESTDIR='$(DESTDIR)' deploy/package/install

deb release:
	@if [ -z "$$GATEHOUSE_BINARY" ]; then $(MAKE) --no-print-directory build; fi
	@deploy/package/$@

# A model of a fleet, with the figures of docs/performance.md.
capacity:
	@python3 Benchmarks/Capacity/simulate.py $(CAPACITY)

# Two cores: the server under test has one, load and upstream the other.
bench-edge bench-sockets bench-agents:
	@.ci/install-dependencies bench
	@if [ -z "$$GATEHOUSE_BINARY" ]; then $(MAKE) --no-print-directory build; fi
	@PATH="$(CURDIR)/.build/venv/bin:$$PATH" python3 Benchmarks/$(if $(findstring edge,$@),Edge,$(if $(findstring agents,$@),Agents,Sockets))/run.py

# Both cores for server and load: the stores work beside the gateway.
bench-sessions:
	@.ci/install-dependencies bench
	@if [ -z "$$GATEHOUSE_BINARY" ]; then $(MAKE) --no-print-directory build; fi
	@if [ -z "$$SESSION_BENCH" ]; then BENCH=1 swift build $(RELEASE) --product session-bench; fi
	@PATH="$(CURDIR)/.build/venv/bin:$$PATH" python3 Benchmarks/Sessions/run.py

# Gateways, PostgreSQL and clients share the cores.
soak:
	@.ci/install-dependencies bench
	@if [ -z "$$GATEHOUSE_BINARY" ]; then $(MAKE) --no-print-directory build; fi
	@PATH="$(CURDIR)/.build/venv/bin:$$PATH" python3 Benchmarks/Soak/run.py

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
	@if [ -z "$$GATEHOUSE_BINARY" ]; then swift build -Xswiftc -O --product gatehouse; fi
	@"$(CURDIR)/.build/venv/bin/python" Tests/BrokenGateway/run.py

# A copy of the sources, built once in debug, in which each check can be left out. `CHECKS` names some.
attack-without-checks:
	@.ci/install-dependencies attack
	@python3 Tests/WithoutChecks/run.py $(CHECKS)

# In an environment of its own, with the versions that the table names.
attack-peers:
	@.ci/install-dependencies attack-peers
	@if [ -z "$$GATEHOUSE_BINARY" ]; then swift build -Xswiftc -O --product gatehouse; fi
	@.build/peers/bin/python Tests/Peers/run.py >.build/peers.md
	@mv .build/peers.md docs/what-others-let-through.md

# The pictures that README and docs show are written to docs/images. It takes three minutes.
screenshots:
	@.ci/install-dependencies test
	@if [ -z "$$GATEHOUSE_BINARY" ]; then swift build -Xswiftc -O --product gatehouse; fi
	@PATH="$(CURDIR)/.build/venv/bin:$$PATH" python3 Tests/BrowserTests/screenshots.py \
		"$${GATEHOUSE_BINARY:-.build/debug/gatehouse}" .build/screenshots

docs:
	@mkdir -p .build/docs
	@for library in JOSE HostileTokens Runtime EdgeConfiguration Exposition Spans Experience; do \
		DOCS=1 swift package --allow-writing-to-directory .build/docs generate-documentation \
			--target $$library --output-path .build/docs/$$library.doccarchive || exit 1; \
	done

clean:
	rm -rf .build
