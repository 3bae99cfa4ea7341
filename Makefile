# Each target sets up .venv by itself: the stamp is renewed when pyproject.toml or constraints.txt changes.
PYTHON ?= python3
WORKERS ?= 2
PORT ?= 8000

BIN := .venv/bin
READY := .venv/.ready
INDEX := _build/html/index.html

.DEFAULT_GOAL := help
.PHONY: help book serve photos test seeds lab labs bench gpu lint clean system

help: ## say what there is
	@sed -n 's/^\([a-z]*\):.*## /make \1\t/p' $(MAKEFILE_LIST) | expand -t 14

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Warpwise needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	touch $@

book: $(READY) ## build the site into _build/html, with warnings as errors
	rm -rf _build
	$(BIN)/jupyter-book build . --path-output . -W --keep-going

$(INDEX):
	$(MAKE) book

serve: $(READY) $(INDEX) ## show the site on localhost
	$(BIN)/python -m http.server --bind 127.0.0.1 --directory _build/html $(PORT)

photos: system $(READY) $(INDEX) ## photograph every page and widget, light, dark and on a phone, into _build/photos
	$(BIN)/python tests/photograph.py

test: system lint ## run the tests
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

seeds: $(READY) ## test every wrong and right answer of every lab on twenty seeds
	WARPWISE_SEEDS=20 $(BIN)/python -m pytest -n $(WORKERS) tests/test_labs.py -k "wrong_submission or other_right"

lab: $(READY) ## open JupyterLab on the labs
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) labs

labs: $(READY) ## make labs/*.ipynb anew from solutions/
	$(BIN)/warpwise labs build

bench: $(READY) ## measure speed, and print it beside what is asked for
	$(BIN)/python tests/bench.py

gpu: export PYTHONPATH := .
gpu: ## on a machine with an NVIDIA GPU: run every solution and test kernel on it, and measure all suites
	@python=$(or $(wildcard $(BIN)/python),$(PYTHON)); status=0; \
	$$python tests/gpu || status=1; $$python -m warpwise.cli measure || status=1; exit $$status

lint: $(READY) ## check style
	$(BIN)/ruff check .

clean: ## remove what was built, and .venv
	rm -rf _build .venv

# What tests need of the system. Where it cannot be installed it is named, and the tests that need it say so and are skipped.
SYSTEM := chromium:chromium chromedriver:chromium-driver bwrap:bubblewrap

system:
	@missing=; for pair in $(SYSTEM); do \
	    command -v "$${pair%%:*}" >/dev/null || missing="$$missing $${pair#*:}"; \
	done; \
	[ -n "$$missing" ] || exit 0; \
	if [ "$$(id -u)" = 0 ]; then root=; elif sudo -n true 2>/dev/null; then root="sudo -n"; else root=false; fi; \
	command -v apt-get >/dev/null || root=false; \
	export DEBIAN_FRONTEND=noninteractive; \
	$$root apt-get update -qq && $$root apt-get install -qq -y --no-install-recommends $$missing \
	|| echo "Not installed, so some tests are skipped:$$missing (as root: apt-get install$$missing)"
