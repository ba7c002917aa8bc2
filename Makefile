# Every target creates what it needs: on a machine with Python, pip and make, one command is enough.
PYTHON ?= python3
BIN := .venv/bin
STAMPS := .venv/.stamps
# One thread for each linear algebra call: with two test workers more threads only fight.
ONE_THREAD := OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 NUMBA_NUM_THREADS=1
# Keep compiled files even where the environment forbids it: otherwise, each test worker and each
# program that a test starts would compile all modules again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test slow mutants lowest sentences lint format bench docs docs-fast doctest clean

demo: $(STAMPS)/demo
	$(ONE_THREAD) $(BIN)/landbridge demo

# COVERAGE=1 also records which lines the tests run; that takes longer.
test: $(STAMPS)/dev
	rm -f .coverage .coverage.*
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" $(if $(COVERAGE),--cov --cov-report=term)

slow: $(STAMPS)/dev
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 -m slow

# Breaks the source on purpose, line by line, and reports what no test notices (minutes).
mutants: $(STAMPS)/dev
	$(BIN)/python tests/mutants.py $(NAME)

# A random sample of the project's sentences, for a reader who corrects the prose.
sentences:
	$(PYTHON) tests/sentences.py --seed $(or $(SEED),0)

# The oldest versions that pyproject.toml allows, in an environment of their own.
lowest: $(STAMPS)/dev
	$(BIN)/uv venv --quiet --allow-existing --python $(BIN)/python .venv-lowest
	$(BIN)/uv pip install --quiet --python .venv-lowest/bin/python --resolution lowest-direct -e ".[test]"
	$(ONE_THREAD) .venv-lowest/bin/python -m pytest -n 2 -m "not slow"

lint: $(STAMPS)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(STAMPS)/dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(STAMPS)/bench
	$(BIN)/python -m benchmarks $(NAME)

# The site in docs/_build/html, with every example executed. It needs no network once installed.
docs: $(STAMPS)/docs doctest
	$(ONE_THREAD) $(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/_extension/links.py docs/_build/html

# The same without running the examples of the gallery.
docs-fast: $(STAMPS)/docs doctest
	LANDBRIDGE_DOCS=fast $(ONE_THREAD) $(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/fast
	$(BIN)/python docs/_extension/links.py docs/_build/fast

doctest: $(STAMPS)/docs
	$(ONE_THREAD) $(BIN)/python -m pytest -n 2 --doctest-modules --doctest-glob="*.md" -p no:cacheprovider \
	  --ignore=docs/_build --ignore=docs/gallery --ignore=docs/conf.py --ignore=docs/_extension src/landbridge docs README.md tests/docs

clean:
	rm -rf .venv .venv-* build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(BIN)/python:
	$(PYTHON) -m venv .venv

$(STAMPS)/demo: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[cli]"
	mkdir -p $(STAMPS) && touch $@

$(STAMPS)/dev: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[dev]"
	mkdir -p $(STAMPS) && touch $@

$(STAMPS)/docs: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[docs]"
	mkdir -p $(STAMPS) && touch $@

$(STAMPS)/bench: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e ".[bench]"
	mkdir -p $(STAMPS) && touch $@
