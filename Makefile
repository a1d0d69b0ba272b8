# make run            the lab on http://localhost:8501      (PORT=8600, ARGS="--server.headless true")
# make dev            the same, and a saved file reruns the page
# make check          lint, types, floors, then every test that needs no browser    (WORKERS=2, ARGS="tests/rooms -x")
# make test           the same and the browser tests; needs Chromium and HAProxy, installs them where it may
# make test-all       the same with every text, model and step that make test tries only some of (tests/thorough.py)
# make lint           lint, types and floors alone
# make bench          the measurements that docs/measured.md quotes
# make load           a class at work on a real server, with bounds   (ARGS="--soak 600", ARGS="--servers 2 classroom")
# make faults         put thirty-two faults into a copy of the lab, one at a time; a test must find each (tests/faults.toml)
# make audit          ask for known vulnerabilities of what is installed, where there is a network
# make lock           write requirements.lock anew: the version and the hashes of every package that the lab needs
#                     (ARGS=--upgrade takes the newest ones that the pins of requirements.txt allow)
# make behind         name the packages here of which there is a newer version
# make evaluate       every figure of the embedded models' cards, measured on the files that ship; the results of the
#                     experiments on them, written anew (24 minutes on two cores that others used, too), each with its
#                     largest difference from what shipped
# make outside        ask the embedded models with transformers alone, in two versions of it, and compare with the lab
# make train          train an embedded model from a folder of texts (MODEL=bert|gpt2|minilm|lens|en_lab|punkt
#                     CORPORA=folder; minilm goes on from an encoder, BASE=folder)
# make screenshots    every page, light and dark, wide and narrow, into .screenshots/ (OUT=folder)
# make clean          remove caches and .venv
#
# Each target makes the environment it needs: .venv, by the newest Python of 3.13, 3.12 and 3.11 that
# works here (PYTHON=/path/to/python for another), and installs again when a requirements file changes.

SHELL   := /bin/sh
VENV    := .venv
BIN     := $(VENV)/bin
PYTHON  ?=
PORT    ?= 8501
ARGS    ?=
OUT     ?= .screenshots
CORPORA ?= ../shared/corpora
MODEL   ?= bert
BASE    ?=
WORKERS ?= 2
# PyTorch's own index of CPU builds comes first where it answers: pip's other ones give Linux a build with CUDA.
PIP      = index=$$($(BIN)/python deploy/cpu_index.py); \
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $${index:+--extra-index-url $$index}

RUNTIME := $(VENV)/runtime.stamp
DEV     := $(VENV)/dev.stamp
CODE     = $(wildcard Home.py pages lab training benchmarks tests)
SERVE    = $(BIN)/python -m lab --port $(PORT)

export HF_HUB_DISABLE_TELEMETRY := 1

.DEFAULT_GOAL := run
.NOTPARALLEL:
.PHONY: run dev check test test-all lint bench load faults audit lock behind evaluate outside train screenshots chromium haproxy clean

run: $(RUNTIME)
	$(SERVE) $(ARGS)

dev: $(RUNTIME)
	$(SERVE) --server.fileWatcherType auto --server.runOnSave true --client.showErrorDetails full $(ARGS)

# Each part says how long it took, and all of them again at the end. Two dozen processes import the lab: it is compiled
# once. Who has done his part takes half of what another worker has left, so the tests of a file mostly stay together.
TIMES    = .pytest_cache/times
TIMED    = @sh tests/timed.sh $(TIMES)
PYTEST   = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
NO_SERVER = --ignore tests/browser --ignore tests/load
test test-all check: export PYTHONDONTWRITEBYTECODE :=
test-all: export THOROUGH := 1

ifeq ($(ARGS),)
test test-all: chromium haproxy lint
	$(TIMED) "all tests" $(PYTEST)
	@sh tests/timed.sh $(TIMES)

check: lint
	$(TIMED) "unit and page tests" $(PYTEST) $(NO_SERVER)
	@sh tests/timed.sh $(TIMES)
else
test test-all: chromium haproxy lint
	$(BIN)/python -m pytest $(ARGS)

check: lint
	$(BIN)/python -m pytest $(NO_SERVER) $(ARGS)
endif

lint: $(DEV)
	@rm -f $(TIMES)
	$(TIMED) "lint, types, floors" sh -c '$(BIN)/ruff check . && $(BIN)/ruff format --check . && \
		$(BIN)/mypy -n $(WORKERS) $(CODE) && $(BIN)/lint-imports --no-logo'

bench: $(RUNTIME)
	$(BIN)/python -m benchmarks $(ARGS)

load: $(DEV)
	$(BIN)/python -m benchmarks.load $(ARGS)

faults: $(DEV)
	$(BIN)/python -m tests.faults $(ARGS)

# pip-audit, PyPA's own, brings two dozen packages along: it gets an environment of its own.
audit: $(DEV)
	@test -x $(VENV)/audit/bin/pip-audit || { $(BIN)/python -m venv $(VENV)/audit && \
		$(VENV)/audit/bin/python -m pip install --quiet --disable-pip-version-check pip-audit==2.10.1; } || \
		echo "pip-audit could not be installed."
	@$(VENV)/audit/bin/pip-audit --path "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')" \
		--format json --progress-spinner off 2>/dev/null | $(BIN)/python -m tests.audit

# uv, which writes such files for all systems and versions of Python at once, gets an environment of its own, too. It
# knows neither the index nor the files that pip may be told of here, so it is told of them.
lock: | $(BIN)/python
	@test -x $(VENV)/lock/bin/uv || { $(BIN)/python -m venv $(VENV)/lock && \
		$(VENV)/lock/bin/python -m pip install --quiet --disable-pip-version-check uv==0.13.9; }
	$(VENV)/lock/bin/uv pip compile requirements.txt --output-file requirements.lock --quiet --universal \
		--python-version 3.11 --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate \
		--custom-compile-command "make lock" --no-emit-package torch --excludes deploy/not_for_cpus.txt $(ARGS)

behind: $(DEV)
	@$(BIN)/python -m pip list --outdated --disable-pip-version-check

evaluate: $(RUNTIME)
	$(BIN)/python -m training.evaluation $(ARGS)

outside: $(RUNTIME)
	$(BIN)/python -m training.evaluation.outside --environments $(VENV)/outside $(ARGS)

train: $(RUNTIME)
	@test -d "$(CORPORA)" || { echo "There is no folder $(CORPORA); say where the texts are: make train CORPORA=folder"; exit 1; }
	$(BIN)/python -m training.$(MODEL) --corpora "$(CORPORA)" $(if $(BASE),--base "$(BASE)") $(ARGS)

screenshots: chromium
	$(BIN)/python -m tests.browser.screenshots "$(OUT)" $(ARGS)

# Root installs Debian's or Ubuntu's own package; whoever is not root is told what to install.
INSTALL  = [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update && \
	DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $(1)

# tests/browser/chromium.py knows where to look and what to tell those who may not install.
chromium: $(DEV)
	@$(BIN)/python -m tests.browser.chromium >/dev/null 2>&1 || \
	{ $(call INSTALL,chromium); } || \
	$(BIN)/python -m playwright install chromium || true
	@$(BIN)/python -m tests.browser.chromium

# The balancer of compose.yaml, which tests/load and tests/browser start; benchmarks/balancer.py says what to do.
haproxy: $(DEV)
	@$(BIN)/python -m benchmarks.balancer >/dev/null 2>&1 || { $(call INSTALL,haproxy); } || true
	@$(BIN)/python -m benchmarks.balancer

# Everything by its hash but PyTorch, whose file depends on the machine: for the CPU, from an index of its own.
$(RUNTIME): requirements.txt requirements.lock | $(BIN)/python
	$(PIP) --require-hashes -r requirements.lock
	$(PIP) "$$(grep '^torch==' requirements.txt)"
	@touch $@

$(DEV): $(RUNTIME) requirements-cluster.txt requirements-dev.txt
	$(PIP) -r requirements-dev.txt
	@touch $@

# A name on the PATH may be a shim for a Python that is not there, or lack venv (Debian), so each is tried.
$(BIN)/python:
	@for python in $(PYTHON) python3.13 python3.12 python3.11 python3; do \
		if "$$python" -c 'import ensurepip, sys, venv; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' \
			>/dev/null 2>&1; then \
			echo "Making $(VENV) with $$python"; \
			exec "$$python" -m venv --clear $(VENV); \
		fi; \
	done; \
	echo "The lab needs Python 3.11, 3.12 or 3.13 with venv; none was found. Install one, or: make PYTHON=/path/to/python"; \
	exit 1

clean:
	rm -rf $(VENV) .ruff_cache .mypy_cache .pytest_cache .hypothesis .import_linter_cache .screenshots
	find . -name __pycache__ -type d -not -path './.git/*' -prune -exec rm -rf {} +
