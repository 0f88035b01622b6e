# The front doors of the lab. `make` alone lists them.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
LAB := $(RUN) -m lab
STAMP := $(VENV)/.complete
PIP := $(RUN) -m pip install --quiet --disable-pip-version-check --no-compile
PIP_SAID := $(VENV)/pip.log
RESULTS ?= results
# A run and the tests start hundreds of Pythons; where none may keep what it compiled, each compiles the lab anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup bench bench-quick bench-full show report reattach servers calibrate test mutants lint lock reference readme stored notebooks clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

setup: $(STAMP)  ## make .venv with the pinned packages (bench and test do it themselves)

# .venv is made anew too when PYTHON names another interpreter than the one in it, and when the folder has moved.
ifneq ($(wildcard $(STAMP)),)
  VERSION := -c 'import sys; print(sys.version)'
  ifneq ($(origin PYTHON),file)
    STALE := $(shell [ "$$($(PYTHON) $(VERSION) 2>&1)" = "$$($(RUN) $(VERSION) 2>&1)" ] || echo stale)
  endif
  STALE += $(shell grep -qsF '$(subst ','\'',$(CURDIR))/$(VENV)/' $(VENV)/bin/lab || echo stale)
endif

.PHONY: stale
$(STAMP): requirements.lock pyproject.toml $(firstword $(STALE))
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "make: $(PYTHON) is not Python 3.11 or newer ($$($(PYTHON) --version 2>&1 | head -n 1)): say which one is," \
	  "for example make setup PYTHON=python3.12" >&2; exit 2; }
	@echo "setting up $(VENV) (about a minute)"
	@rm -f $(STAMP)
	@$(PYTHON) -m venv --clear $(VENV)
	@{ $(PIP) --require-hashes -r requirements.lock && $(PIP) --no-deps --no-build-isolation \
	    --config-settings editable_mode=compat -e . ; } 2> $(PIP_SAID) || { \
	  grep -E '^ERROR|^[[:alnum:]_.]*Error' $(PIP_SAID) | tail -n 2 | cut -c 1-300 >&2; \
	  echo "make: pip could not install the packages, and $(VENV) is not whole: is the network there, and room on the disk?" >&2; \
	  echo "make: all that pip said is in $(PIP_SAID); the same command again goes on with what pip has kept" >&2; exit 2; }
	@touch $(STAMP)

bench: setup  ## the standard suite, then its tables
	$(LAB) run --suite standard --results $(RESULTS)
	$(LAB) show --results $(RESULTS)
	$(LAB) report --results $(RESULTS)

bench-quick: setup  ## the same tables scaled down, in a minute
	$(LAB) run --suite quick --results $(RESULTS)
	$(LAB) show --results $(RESULTS)

bench-full: setup  ## every subject, ten processes a case, growth to 2,000,000
	$(LAB) run --suite full --results $(RESULTS)
	$(LAB) show --results $(RESULTS)
	$(LAB) report --results $(RESULTS)

show: setup  ## the tables of the newest run
	$(LAB) show --results $(RESULTS)

servers:  ## install PostgreSQL, MariaDB and Redis (Debian packages); none of them is left running
	@sh .ci/servers

calibrate: setup  ## the instrument against known truths, in a few minutes
	$(LAB) calibrate

test: setup  ## all tests
	$(RUN) -m pytest -n auto --dist worksteal

mutants: setup  ## change the core piece by piece: how much do the tests notice? takes long; ONLY=lab/units.py for one module
	$(RUN) -m tests.mutants $(ONLY)

lint: setup  ## style and types
	$(RUN) -m ruff check .
	$(RUN) -m ruff format --check .
	$(RUN) -m mypy

lock: setup  ## pin the newest packages that fit, with hashes and without addresses
	$(RUN) -m pip install --quiet uv
	$(RUN) -m uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --upgrade --extra peers --extra servers --extra dev pyproject.toml -o requirements.lock

report: setup  ## execute the notebooks on the newest run: a site that opens from disk
	$(LAB) report --results $(RESULTS)

reattach: setup  ## does putting back cost the same whatever the batch? exact counts and times, a minute at most
	$(LAB) reattach --results $(RESULTS)

reference: setup  ## make new reference runs: the standard suite, then the families one after the other (an hour)
	$(LAB) run --suite standard --label reference --results results
	for family in advisory pacing events durable; do \
	  $(LAB) run --suite $$family --processes 5 --label reference --results results || exit; done

readme: setup  ## renew the table and the picture of the README from the newest reference run
	$(LAB) report --readme README.md "$$(ls -d results/reference/*-standard | tail -n 1)"

stored: setup  ## execute the notebooks on the newest reference run and store them so
	$(LAB) report --store "$$(ls -d results/reference/*-standard | tail -n 1)"

notebooks: setup  ## open JupyterLab on the notebooks
	cd notebooks && ../$(RUN) -m jupyterlab $(if $(filter 0,$(shell id -u)),--allow-root)

clean:  ## take away what the targets made, but no results
	rm -rf $(VENV) build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
