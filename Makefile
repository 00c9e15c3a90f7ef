# The course, command by command. `make help` lists the targets; each sets up what it needs itself.
# Settings: PYTHON=python3.12  VENV=/elsewhere/venv  TORCH=pypi  UNIT=2  SUBMISSIONS=dir  MINUTES=10
#           SANDBOX=none (grade without bubblewrap)  SEED=7  JOBS=4  ROSTER=roster.csv
#           ENGINE=dask or dask://HOST:PORT  INSECURE=1 (the latter without certificates)
#           AGAINST=dir (what another class handed in, to compare with)
#           LAB_ARGS=...  PYTEST_ARGS=...

PYTHON ?= python3
VENV ?= .venv
TORCH ?= auto
COURSE ?= course
UNIT ?=
EXERCISE ?=
SUBMISSIONS ?=
ROSTER ?=
AGAINST ?=
SANDBOX ?=
SEED ?=
JOBS ?=
ENGINE ?=
INSECURE ?=
LAB_ARGS ?=
PDF ?=
PYTEST_ARGS ?=
MINUTES ?= 10

COMMA := ,
PY := $(VENV)/bin/python
SETUP = @$(PYTHON) scripts/setup_env.py --venv $(VENV) --torch $(TORCH) --extras
export PATH := $(abspath $(VENV))/bin:$(PATH)

.DEFAULT_GOAL := help
.PHONY: help lab prepare test fuzz lint site release grade regrade validate bench clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

# What else was set up here may have brought nbgrader, whose menus are for a class, not for a learner:
# Jupyter reads this folder first, and it turns them off. It also shows the names of units in full.
lab: export JUPYTER_CONFIG_PATH := $(CURDIR)/scripts/lab$(addprefix :,$(JUPYTER_CONFIG_PATH))
lab: prepare ## build the course into course/ (your changes are kept) and open JupyterLab
	@echo "JupyterLab starts; Ctrl+C, twice, ends it."
	@$(PY) -m jupyterlab $(COURSE)/start.ipynb --log-level=WARN $(LAB_ARGS)

prepare: ## what `make lab` does before it opens JupyterLab
	$(SETUP) torch,llvm,lab
	@$(PY) -m autograder.edition.prepare --into $(COURSE)

# Hundreds of processes import the course; where no bytecode is kept, each one compiles it again.
test: export PYTHONDONTWRITEBYTECODE :=
test: lint ## lint, then the whole test suite, on all cores
	$(PY) -m pytest -n auto --dist worksteal $(PYTEST_ARGS)

fuzz: ## try the properties on new random programs for MINUTES=10
	$(SETUP) torch,llvm,lab,grade,site,dev,peers
	$(PY) scripts/fuzz.py --minutes $(MINUTES) $(PYTEST_ARGS)

lint: ## ruff, pyright and the import layers
	$(SETUP) torch,llvm,lab,grade,site,dev,peers
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m pyright --pythonpath $(PY)
	$(VENV)/bin/lint-imports

site: ## the website, executed, in build/site/ (PDF=1: and each unit and the course as PDF)
	$(SETUP) torch,llvm,lab,grade,site,dev,peers
	$(PY) site/build.py --into build/site $(if $(PDF),--pdf)

release: ## the students' edition in build/release/ (all units, or UNIT=2)
	$(SETUP) torch,llvm,lab,grade
	$(PY) -m autograder release $(if $(UNIT),--unit $(UNIT)) --into build/release

grade regrade: GRADING = --submissions $(SUBMISSIONS) --out build/grades \
  $(if $(UNIT),--unit $(UNIT)) $(if $(ROSTER),--roster $(ROSTER)) $(if $(AGAINST),--against $(AGAINST)) $(if $(SEED),--seed $(SEED)) \
  $(if $(JOBS),--jobs $(JOBS)) $(if $(ENGINE),--engine $(ENGINE)) $(if $(INSECURE),--insecure) \
  $(if $(filter none,$(SANDBOX)),--no-sandbox)

grade: ## grade SUBMISSIONS=dir: reports, feedback and grades.csv in build/grades/
	$(if $(SUBMISSIONS),,$(error Say where the submissions are: make $@ SUBMISSIONS=dir))
	$(SETUP) torch,llvm,lab,grade$(if $(ENGINE),$(COMMA)cluster)
	$(PY) -m autograder $@ $(GRADING)

regrade: ## the same after a check was mended: whose points change, and why, in changes.csv
	$(if $(SUBMISSIONS),,$(error Say where the submissions are: make $@ SUBMISSIONS=dir))
	$(SETUP) torch,llvm,lab,grade$(if $(ENGINE),$(COMMA)cluster)
	$(PY) -m autograder $@ $(GRADING)

validate: ## do the checks of every exercise (or UNIT=2, EXERCISE="passes.dce passes.cse") tell right from wrong?
	$(SETUP) torch,llvm,lab,grade
	$(PY) -m autograder validate $(if $(UNIT),--unit $(UNIT)) $(EXERCISE:%=--exercise %)

bench: ## the compiler against PyTorch, onnxruntime, OpenVINO, MNN and OpenBLAS; the autograder against stock nbgrader, and with a class of 300; figures in build/bench/
	$(SETUP) torch,llvm,lab,grade,cluster,bench,peers
	$(PY) benchmarks/models.py --out build/bench
	$(PY) benchmarks/torch_compile.py --out build/bench
	$(PY) benchmarks/breadth.py --out build/bench
	$(PY) benchmarks/matmul.py --out build/bench
	$(PY) benchmarks/compiling.py --out build/bench
	$(PY) benchmarks/prices.py --out build/bench
	$(PY) benchmarks/systolic.py --out build/bench
	$(PY) benchmarks/grading.py --out build/bench
	$(PY) benchmarks/answers.py --out build/bench
	$(PY) benchmarks/classes.py --students 300 --units all --out build/bench

clean: ## remove everything that make built, except your course/ folder
	rm -rf build .venv *.egg-info .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
