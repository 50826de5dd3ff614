# Two commands do all the set-up: `make demo` and `make test`. `make help` lists the rest.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Further arguments for snakemake, for example: make plan STUDY="--configfile config/demo.yaml"
STUDY ?=

.DEFAULT_GOAL := help
.PHONY: help install benchmark-tools slurm demo plan status dag test test-fast lint format docs clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

install: $(VENV)/.workflow ## make .venv with everything that the workflow needs

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "poscope needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) --version 2>&1). Try: make PYTHON=python3.11 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.workflow: envs/workflow.txt envs/constraints.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet -r envs/workflow.txt -c envs/constraints.txt
	$(BIN)/python -m pip install --quiet --no-deps --editable .
	@touch $@

$(VENV)/.develop: $(VENV)/.workflow envs/develop.txt
	$(BIN)/python -m pip install --quiet -r envs/develop.txt -c envs/constraints.txt
	@touch $@

$(VENV)/.benchmarks: $(VENV)/.workflow envs/benchmarks.txt
	$(BIN)/python -m pip install --quiet -r envs/benchmarks.txt -c envs/constraints.txt
	@touch $@

$(VENV)/.slurm: $(VENV)/.workflow envs/slurm.txt
	$(BIN)/python -m pip install --quiet -r envs/slurm.txt -c envs/constraints.txt
	@touch $@

benchmark-tools: $(VENV)/.benchmarks ## install what benchmarks/ compares with, beside the workflow

slurm: $(VENV)/.slurm ## install what profiles/slurm needs, beside the workflow

demo: $(VENV)/.workflow ## run the demo study to results/report.html: the package index is all that it needs
	$(BIN)/snakemake --profile profiles/cpu --configfile config/demo.yaml
	@echo "The demo is complete: open results/report.html"

plan: $(VENV)/.workflow ## sum up a study before it runs (STUDY="--configfile …")
	$(BIN)/python workflow/tools/plan.py --profile profiles/gpu $(STUDY)

status: $(VENV)/.workflow ## say how far a run is: each running job, its last words, and those that failed
	$(BIN)/python workflow/tools/status.py

dag: $(VENV)/.workflow ## write the rule graph and the job graph to results/dag (STUDY="--configfile …")
	$(BIN)/python workflow/tools/dag.py results/dag $(STUDY)

test: $(VENV)/.develop ## the whole test suite
	$(BIN)/python -m pytest

test-fast: $(VENV)/.develop ## the tests that take seconds
	$(BIN)/python -m pytest -m "not slow and not real"

lint: $(VENV)/.develop ## ruff, snakefmt, mypy and snakemake's own lint
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/mypy
	$(BIN)/snakemake --lint

format: $(VENV)/.develop ## bring code and rules into the house's shape
	$(BIN)/ruff check --fix
	$(BIN)/ruff format
	$(BIN)/snakefmt Snakefile workflow

docs: $(VENV)/.workflow ## write config/README.md and config/schema.json from the models
	$(BIN)/python -m poscope.config.docs config

clean: ## remove results, logs and downloads; keep .venv
	rm -rf results logs resources/cache .snakemake
