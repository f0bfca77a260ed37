# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# Finds GoogleTest and defines the functions that register tests.
#
# A device test is registered once per device: with the label `emulated` if the emulated device is
# built, and with the label `gpu` if CUPRUM_GPU_TESTS is on.

include(GoogleTest)

find_package(GTest QUIET)
if(NOT TARGET GTest::gtest_main)
  if(NOT EXISTS /usr/src/googletest/CMakeLists.txt)
    message(FATAL_ERROR "GoogleTest was not found; install libgtest-dev, or pass -DCUPRUM_TESTS=OFF")
  endif()
  set(INSTALL_GTEST OFF)
  add_subdirectory(/usr/src/googletest "${CMAKE_BINARY_DIR}/googletest" EXCLUDE_FROM_ALL SYSTEM)
  foreach(name IN ITEMS gtest gtest_main gmock)
    if(NOT TARGET GTest::${name})
      add_library(GTest::${name} ALIAS ${name})
    endif()
  endforeach()
endif()

set(CUPRUM_TEST_TIMEOUT_S 120)
if(CUPRUM_SANITIZE)
  set(CUPRUM_TEST_TIMEOUT_S 600)
endif()

# CUPRUM_FOREIGN_ENVIRONMENT: environment variables for programs that we did not build (Python,
# programs built with nvcc) but that load our libraries. They are built without sanitizers, so the
# sanitizer's library must be preloaded. tools/test-sanitized reads the same from foreign.env.
set(CUPRUM_FOREIGN_ENVIRONMENT)
set(CUPRUM_CAN_RUN_FOREIGN TRUE)
if(CUPRUM_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(runtimes)
  foreach(runtime IN ITEMS address:asan thread:tsan undefined:ubsan)
    string(REPLACE ":" ";" runtime ${runtime})
    list(GET runtime 0 sanitizer)
    list(GET runtime 1 library)
    if(CUPRUM_SANITIZE MATCHES ${sanitizer})
      execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${library}.so
                      OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
      list(APPEND runtimes ${path})
    endif()
  endforeach()
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libstdc++.so.6
                  OUTPUT_VARIABLE path OUTPUT_STRIP_TRAILING_WHITESPACE)
  list(APPEND runtimes ${path})
  list(JOIN runtimes ":" runtimes)
  # Ignore these programs' own leaks.
  set(CUPRUM_FOREIGN_ENVIRONMENT "LD_PRELOAD=${runtimes}" "ASAN_OPTIONS=detect_leaks=0")
elseif(CUPRUM_SANITIZE)
  set(CUPRUM_CAN_RUN_FOREIGN FALSE) # clang links its sanitizer into programs only
endif()
# Tests for another processor run under qemu-user. There they cannot start programs of that processor,
# be loaded by this machine's Python, follow each other with ptrace, or reserve large address ranges.
set(CUPRUM_CAN_START_PROGRAMS TRUE)
set(CUPRUM_LEFT_OUT)
if(CMAKE_CROSSCOMPILING)
  set(CUPRUM_CAN_START_PROGRAMS FALSE)
  set(CUPRUM_CAN_RUN_FOREIGN FALSE)
  list(
    APPEND
    CUPRUM_LEFT_OUT
    # start programs, or this one again
    Checkpoint.*
    CheckpointOnDriver.*
    Command.*
    Containers.*
    DriverVersion.*
    EventsTest.*
    Interprocess*
    LibraryTest.the_command_puts_it_in_reach
    Peers.an_imported_pool_can_be_given_to_another_device_for_reading_only
    Peers.memory_of_another_process_is_in_reach_of_every_device_that_opens_it
    Places.*
    ProcessesTest.*
    Ptxas.*
    RunProgram.passes_arguments_without_a_shell
    Settings.*
    UtilizationTest.*
    WatchdogSettings.a_debugger_turns_it_off
    # limit or reserve address space
    Checks.*
    Memory.only_what_is_mapped_can_be_registered
    NvJitLink.a_lack_of_memory_is_an_error_code
    PlaceRecording.equal_places_are_kept_once
    # measure the memory of the process, to which qemu adds its own
    Growth.*
    # measure time
    ParserErrors.hostile_text_takes_linear_time
    Watchdog.ends_a_wait_that_sleeps_longer_and_longer)
  # These need compilers for the other processor, which tools/machines downloads and names.
  if(NOT DEFINED ENV{CUPRUM_NVJITLINK})
    message(STATUS "tests of nvJitLink are left out: CUPRUM_NVJITLINK is not set")
    list(
      APPEND
      CUPRUM_LEFT_OUT
      CompilerMatrix.*link*
      Image.lto_code_*
      LinkerOnDevice.*
      NVVMOnDevice.ir_compiles_to_lto_code_that_links_and_runs
      ProgramCacheKey.knows_the_build_of_the_loaded_compilers
      ProgramFromPtx.*
      ProgramOnDevice.ptx_compiles_to_a_cubin_that_runs
      RealFatbin.nvjitlink_*)
  endif()
  if(NOT DEFINED ENV{CUPRUM_NVVM})
    message(STATUS "tests of libNVVM are left out: CUPRUM_NVVM is not set")
    list(APPEND CUPRUM_LEFT_OUT CompilerMatrix.nvvm_* NVVM.* NVVMOnDevice.*
         ProgramCacheKey.libdevice_is_seen)
  endif()
endif()
list(JOIN CUPRUM_FOREIGN_ENVIRONMENT "\n" lines)
file(WRITE "${CMAKE_BINARY_DIR}/foreign.env" "${lines}\n")

# Tests run for milliseconds but compile for seconds, half of them in the optimiser: turn it off.
set(CUPRUM_TEST_OPTIONS -O0 -g1)

# Builds what several test programs share: a static library, and the precompiled headers that it and
# they use.
#
# cuprum_test_support(<target> SOURCES <files>... HEADERS <headers>...)
function(cuprum_test_support target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;HEADERS")
  if(NOT arg_SOURCES) # the support consists of headers only
    set(arg_SOURCES "${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp")
    file(CONFIGURE OUTPUT "${arg_SOURCES}" CONTENT "")
  endif()
  add_library(${target} STATIC ${arg_SOURCES})
  cuprum_compile_settings(${target})
  target_compile_options(${target} PRIVATE ${CUPRUM_TEST_OPTIONS})
  target_link_libraries(${target} PUBLIC cuprum_cuda_headers GTest::gtest Threads::Threads)
  cuprum_precompile_headers(
    ${target} <gtest/gtest.h> <cuda.h> <algorithm> <array> <atomic> <cstdint> <filesystem> <fstream>
    <functional> <map> <memory> <mutex> <optional> <set> <sstream> <string> <thread> <vector>
    ${arg_HEADERS})
endfunction()

# Builds one GoogleTest program that uses the precompiled headers of a support library.
#
# cuprum_test_executable(<target> SUPPORT <library> SOURCES <files>...)
function(cuprum_test_executable target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "SUPPORT" "SOURCES")
  add_executable(${target} ${arg_SOURCES})
  cuprum_compile_settings(${target})
  target_compile_options(${target} PRIVATE ${CUPRUM_TEST_OPTIONS})
  target_link_libraries(${target} PRIVATE ${arg_SUPPORT})
  cuprum_reuse_precompiled_headers(${target} ${arg_SUPPORT})
  target_link_libraries(${target} PRIVATE GTest::gtest_main GTest::gtest Threads::Threads)
endfunction()

# Registers the cases of a GoogleTest executable under one label. The cases are discovered when ctest
# runs, so that a test program that cannot start does not break the build.
#
# cuprum_register_cases(<target> PREFIX <text> LABEL <label> [DRIVER <value of CUPRUM_DRIVER>]
#                       [ALONE])
#
# With ALONE, no other test runs at the same time.
function(cuprum_register_cases target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ALONE" "PREFIX;LABEL;DRIVER" "")
  set(properties LABELS ${arg_LABEL} TIMEOUT ${CUPRUM_TEST_TIMEOUT_S})
  if(arg_DRIVER)
    list(APPEND properties ENVIRONMENT "CUPRUM_DRIVER=${arg_DRIVER}")
  endif()
  if(arg_ALONE)
    list(APPEND properties RUN_SERIAL TRUE)
  endif()
  set(filter)
  if(CUPRUM_LEFT_OUT)
    list(JOIN CUPRUM_LEFT_OUT ":" names)
    set(filter TEST_FILTER "-${names}")
  endif()
  gtest_discover_tests(
    ${target}
    TEST_PREFIX "${arg_PREFIX}"
    ${filter}
    DISCOVERY_MODE PRE_TEST
    DISCOVERY_TIMEOUT 60
    PROPERTIES ${properties})
endfunction()

# Registers a GoogleTest executable for each device. Further arguments go to cuprum_register_cases.
function(cuprum_register_device_cases target)
  if(CUPRUM_EMULATOR)
    cuprum_register_cases(${target} PREFIX "emulated." LABEL emulated
                          DRIVER "$<TARGET_FILE:cuprum_emulator>" ${ARGN})
  endif()
  if(CUPRUM_GPU_TESTS)
    cuprum_register_cases(${target} PREFIX "gpu." LABEL gpu DRIVER native ${ARGN})
  endif()
endfunction()

# Registers one command for each device.
#
# cuprum_register_device_command(<name> ENVIRONMENT <pairs...> COMMAND <words...>)
function(cuprum_register_device_command name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ENVIRONMENT;COMMAND")
  set(devices)
  if(CUPRUM_EMULATOR)
    list(APPEND devices emulated)
  endif()
  if(CUPRUM_GPU_TESTS)
    list(APPEND devices gpu)
  endif()
  foreach(device IN LISTS devices)
    string(REPLACE gpu native driver ${device})
    add_test(NAME ${device}.${name} COMMAND ${arg_COMMAND})
    set_tests_properties(
      ${device}.${name} PROPERTIES LABELS ${device} TIMEOUT ${CUPRUM_TEST_TIMEOUT_S}
                                   ENVIRONMENT "CUPRUM_DRIVER=${driver};${arg_ENVIRONMENT}")
  endforeach()
endfunction()
