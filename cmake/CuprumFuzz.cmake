# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# Fuzzers: one program per file fuzz_<x>.cpp, which defines libFuzzer's entry point. CUPRUM_FUZZ links
# them with libFuzzer (clang only; preset fuzz). Without it they use the main function in
# tools/fuzzing. Each fuzzer is also a short test.

# cuprum_fuzzer(<target> <source> LIBRARIES <libraries...> INPUTS <files and folders...>
#               RUNS <runs of the short test>)
#
# The folder inputs/<x> beside the source contains inputs that once broke something. They always run.
function(cuprum_fuzzer target source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "RUNS" "LIBRARIES;INPUTS")
  add_executable(${target} "${source}")
  cuprum_compile_settings(${target})
  target_link_libraries(${target} PRIVATE ${arg_LIBRARIES} Threads::Threads)
  if(CUPRUM_FUZZ)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  else()
    target_sources(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tools/fuzzing/standalone.cpp")
  endif()
  string(REGEX REPLACE "^fuzz_" "" name ${target})
  cmake_path(GET source PARENT_PATH folder)
  set(inputs ${arg_INPUTS})
  if(EXISTS "${folder}/inputs/${name}")
    list(APPEND inputs "${folder}/inputs/${name}")
  endif()
  if(CUPRUM_EMULATOR)
    add_test(NAME fuzz.${name} COMMAND ${target} -runs=${arg_RUNS} -seed=1 -max_len=65536 ${inputs})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS emulated TIMEOUT ${CUPRUM_TEST_TIMEOUT_S}
                                                 ENVIRONMENT "CUPRUM_EMULATOR_LOG=off")
  endif()
endfunction()
