# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# Settings of all compiled targets: the C++ standard, hidden symbols, warnings, sanitizers.
# Usage: cuprum_compile_settings(<target>).

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "cuprum needs g++ 12 or newer, this is ${CMAKE_CXX_COMPILER_VERSION}; "
                      "set CXX to a newer compiler")
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 16)
  message(FATAL_ERROR "cuprum needs clang 16 or newer, this is ${CMAKE_CXX_COMPILER_VERSION}; "
                      "set CXX to a newer compiler")
endif()

find_package(Threads REQUIRED)

set(CUPRUM_UNITY_SIZE 8)

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

# Two builds in different folders then give the same bytes. Applies to nanobind's sources too.
if(CUPRUM_REPRODUCIBLE)
  add_compile_options("-ffile-prefix-map=${PROJECT_BINARY_DIR}=build"
                      "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")
  # `cmake --install` writes the final RPATH over the one of the build, whose length stays visible.
  set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
endif()

# Compiles up to eight sources of one folder as one translation unit, because parsing headers takes most
# of the time. Names in unnamed namespaces must therefore differ within a folder.
#
# cuprum_unite_sources(<target> [EXCEPT <regular expression of paths>])
function(cuprum_unite_sources target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "EXCEPT" "")
  if(NOT CUPRUM_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  if(arg_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "${arg_EXCEPT}")
  endif()
  list(SORT sources)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}")
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    if(NOT DEFINED count_${folder})
      set(count_${folder} 0)
    endif()
    math(EXPR part "${count_${folder}} / ${CUPRUM_UNITY_SIZE}")
    math(EXPR count_${folder} "${count_${folder}} + 1")
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}_${part}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Precompiles headers for the sources of a target. Use it for targets whose sources cannot be united
# because they define the same short names.
function(cuprum_precompile_headers target)
  target_precompile_headers(${target} PRIVATE ${ARGN})
  cuprum_show_precompiled_headers(${target})
endfunction()

# Uses the precompiled headers of another target. Both must be compiled with the same options.
function(cuprum_reuse_precompiled_headers target other)
  target_precompile_headers(${target} REUSE_FROM ${other})
  cuprum_show_precompiled_headers(${target})
endfunction()

# Makes ccache work with precompiled headers.
function(cuprum_show_precompiled_headers target)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)
    if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      # With precompiled headers g++ 12 shows false warnings about std::string.
      target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow
                                               -Wno-stringop-overread)
    endif()
  endif()
endfunction()

function(cuprum_compile_settings target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(
    ${target}
    PROPERTIES CXX_EXTENSIONS OFF
               CXX_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON)
  target_compile_options(${target} PRIVATE -Wall -Wextra $<$<BOOL:${CUPRUM_WERROR}>:-Werror>)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    # g++ 12 falsely warns about overlapping copies in `"text" + std::string` (GCC bug 105329).
    target_compile_options(${target} PRIVATE -Wno-restrict)
  elseif(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CUPRUM_WERROR)
    # These warnings depend on what the optimiser inlines. Newer compilers report some falsely (g++ 14
    # in `std::string("text") + text`), and a build for a user must not end with that.
    foreach(warning array-bounds dangling-pointer free-nonheap-object maybe-uninitialized restrict
                    stringop-overflow stringop-overread)
      target_compile_options(${target} PRIVATE -Wno-error=${warning})
    endforeach()
  endif()
  if(CUPRUM_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${CUPRUM_SANITIZE}
                                             -fno-sanitize-recover=all -fno-omit-frame-pointer)
    # The driver's enumerations are C enumerations: callers may pass any number, and invalid ones are
    # answered with an error.
    target_compile_options(${target} PRIVATE -fno-sanitize=enum)
    target_link_options(${target} PRIVATE -fsanitize=${CUPRUM_SANITIZE})
  else()
    get_target_property(type ${target} TYPE)
    if(type STREQUAL "SHARED_LIBRARY" AND NOT APPLE)
      # Report missing definitions at link time, not when the library is loaded.
      target_link_options(${target} PRIVATE LINKER:-z,defs)
    endif()
  endif()
endfunction()
