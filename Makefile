# The front doors of the lab. `make` alone lists them.
PYTHON ?= python3
VENV := .venv
RUN := $(VENV)/bin/python
LAB := $(RUN) -m lab
STAMP := $(VENV)/.complete
RESULTS ?= results

.DEFAULT_GOAL := help
.PHONY: help setup bench bench-quick bench-full show report reattach servers calibrate test lint lock reference readme stored notebooks clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 20

setup: $(STAMP)  ## make .venv with the pinned packages (bench and test do it themselves)

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "make: $(PYTHON) is not Python 3.11 or newer: say which one is, for example make setup PYTHON=python3.12" >&2; exit 2; }
	@echo "setting up $(VENV) (about a minute)"
	@rm -f $(STAMP)
	@$(PYTHON) -m venv --clear $(VENV)
	@$(RUN) -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements.lock
	@$(RUN) -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --no-build-isolation -e .
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
	$(RUN) -m pytest -n auto

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
