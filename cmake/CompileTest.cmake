# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# Run by ctest with COMPILER, SOURCE, INCLUDE and EXPECTATION (compiles|fails). Checks that SOURCE
# compiles, or that it fails and the compiler's output contains the text after every `// EXPECT: ` in
# SOURCE.

execute_process(
  COMMAND "${COMPILER}" -std=c++20 -Wall -Wextra -Werror -fsyntax-only "-I${INCLUDE}" "${SOURCE}"
  RESULT_VARIABLE status
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output)

if(EXPECTATION STREQUAL "compiles")
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${SOURCE} does not compile:\n${output}")
  endif()
  return()
endif()

file(STRINGS "${SOURCE}" expected REGEX "// EXPECT: ")
if(NOT expected)
  message(FATAL_ERROR "${SOURCE} expects no error message; add a line `// EXPECT: <text>`")
endif()
if(status EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles, but must fail")
endif()
foreach(line IN LISTS expected)
  string(REGEX REPLACE "^.*// EXPECT: " "" text "${line}")
  string(STRIP "${text}" text)
  string(FIND "${output}" "${text}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "the compiler's output does not contain \"${text}\":\n${output}")
  endif()
endforeach()
