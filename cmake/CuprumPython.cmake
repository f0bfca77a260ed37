# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# Finds the Python to build extension modules for: Python_EXECUTABLE, or the one in .venv.

if(NOT Python_EXECUTABLE AND NOT SKBUILD AND EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  set(Python_EXECUTABLE "${PROJECT_SOURCE_DIR}/.venv/bin/python")
endif()
set(Python_FIND_VIRTUALENV FIRST)
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
