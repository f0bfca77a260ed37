# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# Run `make` for the list of targets. Every target installs what it needs.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

ENV := . .venv/cuprum.env
VENV_PYTHON := .venv/bin/python

.PHONY: help demo test test-wheel test-gallery test-matrix asan tsan fuzz check bench gpu-check docs stubs clean
.PHONY: bootstrap install wheels manylinux-wheels deb release-artefacts

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

bootstrap: ## Install what a build needs (targets that build run this first)
	@tools/bootstrap

demo: bootstrap ## Compile a kernel, run it on the GPU or the emulated device, show what happened
	@$(ENV); tools/build dev example_00_demo cuprum_emulator_package cuprum_python_package
	@$(ENV); echo; build/dev/examples/cpp/00_demo
	@$(ENV); echo; $(VENV_PYTHON) examples/python/00_demo.py
	@printf '\nto use this build: .venv/bin/python program.py, .venv/bin/cuprum info\n'
	@echo 'next: docs/ten_minutes.md; for programs in C++: make install PREFIX=$$HOME/cuprum'

test: bootstrap ## Build everything and run the tests on the emulated device, C++ and Python
	@$(ENV); tools/test

install: ## Install the C++ library and the emulated device into the folder PREFIX, for this machine
	@[ -n "$(PREFIX)" ] || { echo 'name a folder: make install PREFIX=$$HOME/cuprum' >&2; exit 2; }
	@tools/bootstrap
	@$(ENV); tools/build dev cuprum cuprum_emulator_package
	@$(ENV); cmake --install build/dev --prefix "$(PREFIX)" >build/install.log
	@echo 'installed into $(PREFIX); for CMake, pass -DCMAKE_PREFIX_PATH=$(PREFIX)'

wheels: bootstrap ## Build the wheels libcuprum, cuprum-emulator and cuprum in build/wheels/dist
	@$(ENV); tools/build-wheels

test-wheel: bootstrap ## Build the wheels, install them into empty environments and run kernels from them
	@$(ENV); $(VENV_PYTHON) tools/test-wheel $(OPTIONS)

manylinux-wheels: ## Build the wheels of a release with cibuildwheel in build/wheelhouse (needs a container engine)
	@tools/manylinux-wheels

deb: bootstrap ## Build Debian packages in build/deb/packages
	@$(ENV); tools/build-deb $(OPTIONS)

release-artefacts: bootstrap ## Collect the files of a release, from the wheels in the folder WHEELS
	@$(ENV); $(VENV_PYTHON) tools/release artefacts --wheels $(WHEELS)

test-gallery: bootstrap ## Install Dask, Ray, Jupyter and PyTorch beside .venv; run the whole gallery
	@$(ENV); tools/build dev cuprum_emulator cuprum_python_package
	@$(ENV); tools/test-gallery

test-matrix: bootstrap ## Test every version of CUDA's compilers from 12.4 on, and two of PyTorch
	@$(ENV); tools/build dev core_program_tests cuprum_emulator_package cuprum_python_package
	@$(ENV); $(VENV_PYTHON) tools/test-matrix $(VERSIONS)
	@$(ENV); tools/test-torch

asan: bootstrap ## Run every test under the address and undefined-behaviour sanitizers
	@$(ENV); tools/test-sanitized asan

tsan: bootstrap ## Run every test under the thread sanitizer
	@$(ENV); tools/test-sanitized tsan

fuzz: bootstrap ## Run every fuzzer for FUZZ_SECONDS (30 s), then test random arrays and random programs
	@$(ENV); tools/fuzz

check: ## Run the formatters and linters
	@tools/bootstrap --check
	@$(ENV); tools/check

bench: bootstrap ## Measure the overhead of the library and the speed of the emulated device
	@$(ENV); tools/build release
	@$(ENV); $(VENV_PYTHON) benchmarks/run --build build/release

gpu-check: ## Build without the emulator; run all tests and benchmarks on this machine's GPU
	@tools/gpu-check

docs: ## Build the documentation site in build/docs/html (compiles nothing)
	@tools/build-site

stubs: bootstrap ## Regenerate the Python type stubs
	@$(ENV); tools/build dev cuprum_stubs

clean: ## Delete the build folder (not .venv)
	rm -rf build
