# Everything runs in .venv, which is made on first use from python3 and the package index.

PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/.installed
# PySpark is large, and nothing without Java: it comes with the first tests, where there is one.
JAVA := $(or $(wildcard $(JAVA_HOME)/bin/java),$(shell command -v java 2>/dev/null))
SPARK_STAMP := $(if $(JAVA),.venv/.spark)
PYTEST := $(BIN)/python -m pytest
# A file's tests stay in one process; their order is made in tests/spark/conftest.py.
SPARK_TESTS := $(PYTEST) -n 2 --dist loadfile --no-loadscope-reorder tests/spark
LINTED := $(wildcard rangeio pyspark_rangeio.py tests benchmarks examples localstack setup.py)

.DEFAULT_GOAL := help
.PHONY: help venv jar wheel demo test test-spark test-spark-matrix test-native-off test-localstack fuzz fuzz-footers asan lint format bench clean

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 26

venv: $(STAMP) ## set up .venv with the pinned versions of constraints.txt

$(STAMP): pyproject.toml constraints.txt $(wildcard setup.py rangeio/codecs/*.pyx rangeio/codecs/*.pxi rangeio/codecs/*.h)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "rangeio needs Python 3.11 or newer; $(PYTHON) is not. Try: make PYTHON=python3.12" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	@touch $@

$(SPARK_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt 'pyspark[connect]'
	@touch $@

jar: $(STAMP) $(SPARK_STAMP) ## the jar by which Spark prunes columns; needs javac
	$(BIN)/python setup.py --quiet jar

wheel: jar ## a wheel in dist/ that carries the jar
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

demo: $(STAMP) ## the main job against an embedded S3 server, with its figures
	$(BIN)/rangeio demo

test: $(STAMP) $(SPARK_STAMP) ## the whole suite
	$(PYTEST) -n 2 --ignore tests/spark
	$(SPARK_TESTS)

test-native-off: $(STAMP) ## the codec part of the suite without the native kernels
	RANGEIO_NATIVE=off $(PYTEST) tests/codecs

test-spark: $(STAMP) $(SPARK_STAMP) ## the Spark part of the suite, on the newest PySpark; needs Java
	$(SPARK_TESTS)

SPARKS ?= 4.0 4.1 4.2
test-spark-matrix: $(STAMP) ## the read path on older PySparks, each in a venv of its own (many minutes)
	@for version in $(SPARKS); do \
	  $(BIN)/python tests/spark/matrix.py $$version || exit 1; \
	done

test-localstack: $(STAMP) ## the store suite against LocalStack, run without docker
	$(BIN)/python localstack/run.py --test

fuzz: $(STAMP) ## many times the hostile bytes, and thousands of random tables (many minutes)
	RANGEIO_FUZZ=full $(PYTEST) -n 2 tests/lance tests/codecs tests/parquet

fuzz-footers: $(STAMP) ## a million mutated Parquet footers through every scanner (nightly)
	$(BIN)/python tests/parquet/fuzz_footers.py --count 1000000 --plain 500

asan: $(STAMP) ## 50,000 of them through the kernels under AddressSanitizer; needs gcc
	CFLAGS="-fsanitize=address -O1 -g" LDFLAGS="-fsanitize=address" $(BIN)/python setup.py \
	  --quiet build_ext --build-lib build/asan --build-temp build/asan-objects
	LD_PRELOAD=$$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \
	  $(BIN)/python tests/parquet/fuzz_footers.py --count 50000 --plain 0 \
	  --kernels $$(ls build/asan/rangeio/codecs/_kernels*)

lint: $(STAMP) ## ruff and mypy --strict
	$(BIN)/ruff check $(LINTED)
	$(BIN)/ruff format --check $(LINTED)
	$(BIN)/mypy

format: $(STAMP) ## let ruff format and mend what it can
	$(BIN)/ruff check --fix $(LINTED)
	$(BIN)/ruff format $(LINTED)

bench: $(STAMP) ## rangeio and its peers on the same bytes in one run; ONLY=name for one scenario
	$(BIN)/python -m benchmarks $(if $(ONLY),--only $(ONLY)) $(BENCH)

clean: ## remove .venv and all that was built
	rm -rf .venv build dist *.egg-info benchmarks/out .hypothesis .mypy_cache .ruff_cache .pytest_cache
	find rangeio tests benchmarks localstack examples -name __pycache__ -prune -exec rm -rf {} +
	find rangeio -name '*.so' -delete
