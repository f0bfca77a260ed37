# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# Finds the folder with CUDA's headers and defines the target cuprum_cuda_headers for it. Searches in
# this order: -DCUPRUM_CUDA_INCLUDE_DIR, CUDA_HOME, CUDA_PATH, conda, /usr/local/cuda, the nvidia
# packages of a Python environment. Only headers are used; nothing is linked with CUDA.

set(CUPRUM_CUDA_HEADERS cuda.h nvrtc.h nvJitLink.h)
set(CUPRUM_CUDA_OLDEST 13000)

set(hints ${CUPRUM_CUDA_INCLUDE_DIR})
set(too_old)
if(NOT CUPRUM_CUDA_INCLUDE_DIR)
  foreach(variable IN ITEMS CUDA_HOME CUDA_PATH)
    if(DEFINED ENV{${variable}})
      list(APPEND hints "$ENV{${variable}}/include")
    endif()
  endforeach()
  set(prefixes $ENV{CONDA_PREFIX})
  if(DEFINED ENV{CONDA_BUILD})
    list(PREPEND prefixes "$ENV{PREFIX}") # CONDA_PREFIX is then the folder of the build's own tools
  endif()
  foreach(prefix IN LISTS prefixes)
    file(GLOB targets "${prefix}/targets/*-linux/include") # x86_64 or sbsa
    list(APPEND hints ${targets} "${prefix}/include")
  endforeach()
  list(APPEND hints /usr/local/cuda/include)
  set(environments "${PROJECT_SOURCE_DIR}/.venv")
  if(DEFINED ENV{VIRTUAL_ENV})
    list(PREPEND environments "$ENV{VIRTUAL_ENV}")
  endif()
  foreach(environment IN LISTS environments)
    file(GLOB wheels "${environment}/lib/python3*/site-packages/nvidia/cu1[3-9]/include")
    list(APPEND hints ${wheels})
  endforeach()
  find_program(cuprum_python3 NAMES python3 python HINTS "${Python_EXECUTABLE}")
  mark_as_advanced(cuprum_python3)
  foreach(interpreter IN ITEMS "${Python_EXECUTABLE}" "${cuprum_python3}")
    if(interpreter)
      execute_process(
        COMMAND
          "${interpreter}" -c
          "import glob, sys; print(';'.join(d for p in sys.path for d in glob.glob(p + '/nvidia/cu1[3-9]/include')))"
        OUTPUT_VARIABLE wheels
        OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
      list(APPEND hints ${wheels})
    endif()
  endforeach()
  # Skip toolkits that are too old or incomplete, so that they do not hide a better one.
  foreach(hint IN LISTS hints)
    set(complete TRUE)
    foreach(header IN LISTS CUPRUM_CUDA_HEADERS)
      if(NOT EXISTS "${hint}/${header}")
        set(complete FALSE)
      endif()
    endforeach()
    if(complete)
      file(STRINGS "${hint}/cuda.h" line REGEX "^#define CUDA_VERSION [0-9]+")
      string(REGEX MATCH "[0-9]+$" version "${line}")
      if(version AND NOT version LESS CUPRUM_CUDA_OLDEST)
        set(CUPRUM_CUDA_INCLUDE_DIR "${hint}" CACHE PATH "Folder with CUDA's headers" FORCE)
        break()
      endif()
      list(APPEND too_old "${hint} (${version})")
    endif()
  endforeach()
endif()

if(NOT EXISTS "${CUPRUM_CUDA_INCLUDE_DIR}/cuda.h")
  list(REMOVE_DUPLICATES hints)
  list(JOIN hints "\n  " looked)
  list(JOIN too_old ", " too_old)
  if(too_old)
    set(too_old "Too old: ${too_old}. ")
  endif()
  list(JOIN CUPRUM_CUDA_HEADERS ", " names)
  message(FATAL_ERROR "no folder contains ${names} of CUDA 13 or newer; run tools/bootstrap, or pass "
                      "-DCUPRUM_CUDA_INCLUDE_DIR=<folder>. ${too_old}Looked in:\n"
                      "  ${looked}")
endif()
message(STATUS "CUDA headers: ${CUPRUM_CUDA_INCLUDE_DIR}")

add_library(cuprum_cuda_headers INTERFACE)
target_include_directories(cuprum_cuda_headers SYSTEM INTERFACE "${CUPRUM_CUDA_INCLUDE_DIR}")
