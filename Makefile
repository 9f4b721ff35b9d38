# What a contributor needs. The first two set up all they need and are quick the second time.

PYTHON ?= python3
BIN := .venv/bin
SET_UP := $(PYTHON) packaging/set_up.py

.DEFAULT_GOAL := help
.PHONY: help run test check gates bench package

help:
	@echo "make run      open the window on the sample documents (without a display: pincite demo)"
	@echo "make test     lint, types, contracts and all tests, with the small language model"
	@echo "make check    lint, types, contracts and unit tests: no models, under a minute"
	@echo "make bench    speeds beside what one would use without Pincite, a few minutes"
	@echo "make package  build a wheel into dist/"
	@echo "PYTHON=path   the Python to set up with: 3.11, 3.12 or 3.13"

run:
	@$(SET_UP)
	@if [ "$$(uname)" = Linux ] && [ -z "$$DISPLAY$$WAYLAND_DISPLAY" ]; then \
		echo "There is no display here, so this is the demonstration without a window."; \
		exec $(BIN)/pincite demo; \
	else \
		exec $(BIN)/pincite --samples; \
	fi

test:
	@$(SET_UP) --small
	@$(MAKE) --no-print-directory gates
	$(BIN)/python -m pytest

check:
	@$(SET_UP) --no-models
	@$(MAKE) --no-print-directory gates
	$(BIN)/python -m pytest tests/unit

gates:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

bench:
	@$(SET_UP) --small
	$(BIN)/python packaging/bench/run.py

package:
	@$(SET_UP) --no-models
	$(BIN)/python -m pip wheel --no-deps --wheel-dir dist --build-constraint packaging/constraints.txt .
