# `make demo` and `make test` are all that a newcomer needs; each runs the set-up first.
PYTHON ?= $(or $(notdir $(firstword $(shell command -v python3.11 python3.12 python3.13))),python3)
VENV := .venv/bin
UV_VERSION := 0.13.8
JARS := src/headwater/pipeline/jars
MVN := mvn --batch-mode --quiet --no-transfer-progress
PAGE := src/headwater/service/page
# Empty: compiled modules are kept, also where the environment forbids it. The service then starts in half the time.
export PYTHONDONTWRITEBYTECODE :=
# A set-up downloads and unpacks: several parts at a time take about half as long.
ifneq (,$(filter demo setup test wheel,$(MAKECMDGOALS)))
MAKEFLAGS += --jobs=3
endif
WEB_SOURCES := $(shell find web/src web/public web/docs web/index.html web/.npmrc web/*.json web/*.ts -type f 2>/dev/null)

# $(1): the purpose, for the error.
need-maven = @command -v mvn >/dev/null || { echo "make: Maven (mvn) is missing; install it to $(1)"; exit 1; }

# The sources of a module of jvm/. $(1): the module, and the modules whose sources it compiles too.
sources-of = jvm/$(firstword $(1))/pom.xml $(shell find $(1:%=jvm/%/src) -type f)

# Packages a module of jvm/ from scratch. $(1): the module; $(2): its description; $(3): Maven's options.
define packaged
	@mkdir -p build
	$(call need-maven,build $(2))
	rm -rf build/$(1)
	$(MVN) -f jvm/$(1)/pom.xml $(strip clean package $(3))
endef

# Copies only the module's own jar to build/.
jar-alone = mkdir build/$(1) && cp jvm/$(1)/target/headwater-$(1)-*.jar build/$(1)

.PHONY: help setup demo lab wheel test check format lock clean
help:  ## list the targets
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

setup: build/python.stamp build/jars.stamp build/page.stamp  ## install everything the project needs, into .venv and build/

build/uv.stamp:
	@mkdir -p build
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "make: $(PYTHON) is not Python 3.11 or newer; install one, or set its path: make PYTHON=/path/to/python3.13"; exit 1; }
	$(PYTHON) -m venv .venv
	$(VENV)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	@touch $@

build/python.stamp: build/uv.stamp requirements.lock pyproject.toml
	VIRTUAL_ENV=.venv $(VENV)/uv pip install --quiet --require-hashes -r requirements.lock
	VIRTUAL_ENV=.venv $(VENV)/uv pip install --quiet --no-deps --editable .
	@touch $@

build/jars.stamp: jvm/spark/pom.xml
	@mkdir -p build
	$(call need-maven,fetch Spark's Iceberg and JDBC jars)
	rm -rf $(JARS)
	$(MVN) -f jvm/spark/pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/$(JARS)
	@touch $@

build/page.stamp: $(WEB_SOURCES)
	@mkdir -p build
	@if command -v npm >/dev/null; then npm --prefix web ci --no-audit --no-fund --loglevel=error && npm --prefix web run build; \
	else echo "make: Node (npm) is missing, so the page is not built; the service runs without it and reports that"; fi
	@touch $@

build/connect-smt.stamp: $(call sources-of,connect-smt signing)
	$(call packaged,connect-smt,the transform for Kafka Connect,-DskipTests)
	$(call jar-alone,connect-smt)
	@touch $@

build/signing-transport.stamp: $(call sources-of,signing-transport signing)
	$(call packaged,signing-transport,the transport for OpenLineage's listeners,-DskipTests)
	$(call jar-alone,signing-transport)
	@touch $@

build/openlineage-spark.stamp: jvm/signing-transport/pom.xml  # the listener for the transport's tests: 43 MB
	@mkdir -p build
	$(call need-maven,fetch OpenLineage's listener for Spark)
	rm -rf build/openlineage-spark
	$(MVN) -f jvm/signing-transport/pom.xml dependency:copy-dependencies -DincludeArtifactIds=openlineage-spark_2.13 -DoutputDirectory=$(CURDIR)/build/openlineage-spark
	@touch $@

build/lab-connectors.stamp: $(call sources-of,lab-connectors)
	$(call packaged,lab-connectors,the lab's connectors,-DskipTests)
	$(MVN) -f jvm/lab-connectors/pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(CURDIR)/build/lab-connectors
	cp jvm/lab-connectors/target/headwater-lab-connectors-*.jar build/lab-connectors
	@touch $@

build/lab-suppliers-live.stamp: $(call sources-of,lab-suppliers-live)
	$(call packaged,lab-suppliers-live,the lab's program for Flink)
	$(call jar-alone,lab-suppliers-live)
	@touch $@

build/lab-flink.stamp: build/python.stamp jvm/lab-flink/pom.xml jvm/lab-flink/requirements.lock
	$(VENV)/headwater lab fetch flink
	@touch $@

build/lab-trino.stamp: build/python.stamp jvm/lab-trino/pom.xml jvm/lab-trino/requirements.lock
	$(VENV)/headwater lab fetch trino
	@touch $@

demo: setup  ## run three pipelines over real flights and show their lineage; Ctrl-C ends it
	$(VENV)/headwater demo

lab: build/python.stamp build/connect-smt.stamp build/lab-connectors.stamp  ## start Kafka, Connect, a schema registry, S3 and Glue on this machine; `headwater lab down` ends them
	$(VENV)/headwater lab up kafka

wheel: setup  ## build the wheel for a server, into build/dist/
	@scripts/build-wheel build/dist && ls build/dist/*

test: setup build/system.stamp build/connect-smt.stamp build/signing-transport.stamp build/openlineage-spark.stamp build/lab-connectors.stamp build/lab-suppliers-live.stamp build/lab-flink.stamp build/lab-trino.stamp build/spark-classes.jsa  ## run every test
	$(VENV)/python -m pytest -n 4  # Spark in one process, the other engines in another: tests wait for them more than they compute
	$(MVN) -f jvm/connect-smt/pom.xml test
	$(MVN) -f jvm/signing-transport/pom.xml test
	$(MVN) -f jvm/lab-connectors/pom.xml test
	npm --prefix web test

# Maven's runs share one local repository, so they follow one another.
ifneq (,$(filter test,$(MAKECMDGOALS)))
build/connect-smt.stamp: | build/jars.stamp
build/signing-transport.stamp: | build/connect-smt.stamp
build/openlineage-spark.stamp: | build/signing-transport.stamp
build/lab-connectors.stamp: | build/openlineage-spark.stamp
build/lab-suppliers-live.stamp: | build/lab-connectors.stamp
build/lab-trino.stamp: | build/lab-suppliers-live.stamp
build/lab-flink.stamp: | build/lab-trino.stamp
endif

build/spark-classes.jsa: build/python.stamp build/jars.stamp scripts/archive-spark-classes  # for the tests: Spark starts in half the time
	$(VENV)/python scripts/archive-spark-classes $@

build/system.stamp:  # a real browser and a real PostgreSQL, from Debian's packages
	@mkdir -p build
	@scripts/install-test-packages chromium postgresql
	@touch $@

check: build/python.stamp  ## format, lint, types, import contracts, page types
	$(VENV)/ruff format --check --quiet .
	$(VENV)/ruff check --quiet .
	$(VENV)/mypy
	$(VENV)/lint-imports --no-logo
	npm --prefix web run --silent check

format: build/python.stamp  ## format the sources
	$(VENV)/ruff format .
	$(VENV)/ruff check --fix .
	npm --prefix web run format

lock: build/uv.stamp  ## resolve pyproject.toml into requirements.lock again
	$(VENV)/uv pip compile --quiet pyproject.toml --extra dev --universal --python-version 3.11 --generate-hashes --no-header --no-emit-find-links --no-emit-index-url -o requirements.lock
	$(VENV)/uv pip compile --quiet jvm/lab-flink/requirements.in --no-deps --universal --python-version 3.11 --generate-hashes --emit-build-options --no-header --no-annotate --no-emit-find-links --no-emit-index-url -o jvm/lab-flink/requirements.lock
	$(VENV)/uv pip compile --quiet jvm/lab-trino/requirements.in --no-deps --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-find-links --no-emit-index-url -o jvm/lab-trino/requirements.lock

clean:  ## remove everything that the build created
	rm -rf build .venv $(JARS) $(PAGE) web/node_modules jvm/*/target
