# Each target sets up .venv by itself: the stamp is renewed when pyproject.toml or constraints.txt changes.
WORKERS ?= 2
PORT ?= 8000
ifeq ($(OS),Windows_NT) # in Git Bash
PYTHON ?= python
BIN := .venv/Scripts
else
PYTHON ?= python3
BIN := .venv/bin
endif
READY := .venv/.ready
INDEX := _build/html/index.html

.DEFAULT_GOAL := help
.PHONY: help book serve photos film test quick thorough seeds busy mutants lab labs dist bench stopwatch predictions batch lite wasm numba gpu lint style format spelling types clean system

help: ## say what there is
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-12s%s\n", $$1, $$2 }' $(MAKEFILE_LIST)

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

serve: $(READY) ## show the site on localhost, and build the page that is saved again
	@test -f $(INDEX) || echo "The first build takes a minute or two."
	@$(BIN)/sphinx-autobuild . _build/html -q -c warpwise/book -d _build/.doctrees --port $(PORT) \
	    --ignore '.*' $(addprefix --ignore ,_build labs solutions tests tools) --re-ignore '/__pycache__/|/[.][^/]*$$|~$$'

photos: system $(READY) $(INDEX) ## photograph pages and widgets in three widths, light and dark (ONLY="--only 08"), into _build/photos
	PYTHONPATH=tests $(BIN)/python tools/photograph.py $(ONLY)

film: system $(READY) $(INDEX) ## film the home page's first kernel being edited, for README.md
	PYTHONPATH=tests $(BIN)/python tools/film.py

test: system lint ## run all tests
	$(BIN)/python -m compileall -q -j $(WORKERS) warpwise # some thousand processes import it, perhaps where none may write
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

quick: lint ## check style, and run the tests that need neither a browser nor a sandbox, and little time
	$(BIN)/python -m pytest -p no:nbval -p no:hypothesispytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder -m "not system and not slow"

thorough: export WARPWISE_THOROUGH := 1
thorough: test ## run all tests with all of their parameters, of which `make test` takes a share

seeds: $(READY) ## test every answer of every lab on twenty seeds, 2,000 random kernels, and kill the grader twenty times
	WARPWISE_SEEDS=20 WARPWISE_KERNELS=2000 WARPWISE_KILLS=20 $(BIN)/python -m pytest -n $(WORKERS) tests/course/test_labs.py tests/grading/test_runs.py tests/simt/test_fuzz.py \
	    -k "hidden_tests_pass or wrong_submission or other_right or killed_goes_on or random_kernels"

busy: $(READY) ## grade and check every right answer of every lab while four loops keep the processors busy
	WARPWISE_BUSY=1 $(BIN)/python -m pytest -p no:nbval tests/grading/test_busy.py

mutants: $(READY) ## try small mistakes in every lab's solutions on its hidden cases (ONLY="--lab STEM"), in an hour
	PYTHONPATH=tests $(BIN)/python tools/answer_mutants.py $(ONLY)

lab: $(READY) ## open JupyterLab on the labs
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) labs

labs: $(READY) ## make labs/*.ipynb anew from solutions/
	$(BIN)/warpwise labs build

dist: $(READY) ## build the wheel, with the labs in it, and the source distribution into _build/dist
	$(BIN)/python -m hatchling build -d _build/dist

bench: $(READY) ## measure speed, and print it beside what is asked for
	PYTHONPATH=tests $(BIN)/python tools/bench.py

stopwatch: $(READY) ## replay published times on the stopwatch, in some minutes, with errors by family
	$(BIN)/python tools/stopwatch.py

predictions: $(READY) ## predict the steps of the float32 product on two GPUs, for chapters 9 and 14, in some minutes
	$(BIN)/python tools/predictions.py

batch: $(READY) ## grade COUNT submissions (10,000), with the curve of the grader's memory, into _build/batch
	PYTHONPATH=tests $(BIN)/python tools/grade_many.py $(or $(COUNT),10000) --jobs $(WORKERS) --out _build/batch

lite: system $(READY) ## run every solved lab whole in the browser (ONLY="--only 08"), in ten minutes, with a table
	PYTHONPATH=tests $(BIN)/python tools/lite.py $(ONLY)

numba: $(READY) ## run numba-cuda's own tests on the simulator and on Numba's, with a table
	$(BIN)/python tools/numba_suite.py

wasm: $(READY) ## run the simulator's tests under Pyodide, as in a browser, and count them beside this Python's
	PYTHONPATH=tests $(BIN)/python -m support.pyodide -q $(addprefix tests/,simt cluster core cuda report model views)

gpu: export PYTHONPATH := .
gpu: ## on a machine with an NVIDIA GPU: run every solution and test kernel on it, and measure all suites
	@python=$(or $(wildcard $(BIN)/python),$(PYTHON)); status=0; \
	$$python tests/gpu || status=1; $$python tests/gpu/compare_counters.py || status=1; \
	$$python -m warpwise.cli measure || status=1; exit $$status

lint: style ## check style, format, spelling and types
	$(BIN)/ruff format --check .
	$(MAKE) --no-print-directory spelling types

style: $(READY) ## check style
	$(BIN)/ruff check .

format: $(READY) ## format the code
	$(BIN)/ruff format .

spelling: $(READY) ## check spelling
	$(BIN)/codespell

types: $(READY) ## check types
	$(BIN)/mypy

clean: ## remove what was built, and .venv
	rm -rf _build .venv

# What tests need of the system. Where it cannot be installed it is named, and the tests that need it say so and are skipped.
SYSTEM := chromium-headless-shell:chromium-headless-shell firefox-esr:firefox-esr bwrap:bubblewrap

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
