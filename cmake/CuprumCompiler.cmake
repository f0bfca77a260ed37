# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# What every compiled target of the project has in common: the language level, hidden symbols,
# warnings, sanitizers. Usage: cuprum_compile_settings(<target>).

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "cuprum needs g++ 12 or newer, this is ${CMAKE_CXX_COMPILER_VERSION}; "
                      "set CXX to a newer compiler")
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16)
  message(FATAL_ERROR "cuprum needs clang 16 or newer, this is ${CMAKE_CXX_COMPILER_VERSION}; "
                      "set CXX to a newer compiler")
endif()

find_package(Threads REQUIRED)

if(PROJECT_IS_TOP_LEVEL)
  if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Kind of build" FORCE)
  endif()
  if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
    find_program(CUPRUM_CCACHE ccache)
    if(CUPRUM_CCACHE)
      set(CMAKE_CXX_COMPILER_LAUNCHER "${CUPRUM_CCACHE}")
    endif()
  endif()
endif()

function(cuprum_compile_settings target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(
    ${target}
    PROPERTIES CXX_EXTENSIONS OFF
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE -Wall -Wextra $<$<BOOL:${CUPRUM_WERROR}>:-Werror>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 sees overlapping copies in `"text" + std::string` that are not there (GCC bug 105329).
    target_compile_options(${target} PRIVATE -Wno-restrict)
  endif()
  if(CUPRUM_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${CUPRUM_SANITIZE}
                                             -fno-sanitize-recover=all -fno-omit-frame-pointer)
    # The driver's enumerations are C's: any number may arrive, and is answered with an error.
    target_compile_options(${target} PRIVATE -fno-sanitize=enum)
    target_link_options(${target} PRIVATE -fsanitize=${CUPRUM_SANITIZE})
  else()
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "SHARED_LIBRARY" AND NOT APPLE)
      # A missing definition is found here, not by whoever loads the library.
      target_link_options(${target} PRIVATE LINKER:-z,defs)
    endif()
  endif()
endfunction()
