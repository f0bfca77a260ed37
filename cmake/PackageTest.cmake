# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# Run by ctest: builds and runs the small project in SOURCE with cuprum::cuprum. WAY selects how the
# project gets it: find_package or pkg_config (from a fresh installation), add_subdirectory or
# fetch_content.

function(step what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output
                  ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed (${status}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(prefix "${WORK}/prefix")
set(build "${WORK}/build")
file(REMOVE_RECURSE "${WORK}")

set(options
    -G "${GENERATOR}" "-DCMAKE_MAKE_PROGRAM=${MAKE_PROGRAM}" "-DCMAKE_CXX_COMPILER=${COMPILER}"
    -DCMAKE_BUILD_TYPE=Debug "-DCUPRUM_WAY=${WAY}" "-DCUPRUM_PROJECT=${PROJECT}"
    "-DCUPRUM_SANITIZE=${SANITIZE}" "-DCUPRUM_VERSION=${VERSION}")
if(LAUNCHER)
  list(APPEND options "-DCMAKE_CXX_COMPILER_LAUNCHER=${LAUNCHER}")
endif()

if(WAY MATCHES "find_package|pkg_config")
  set(is_installed TRUE)
  step("installing" "${CMAKE_COMMAND}" --install "${PROJECT_BUILD}" --prefix "${prefix}")
  list(APPEND options "-DCMAKE_PREFIX_PATH=${prefix}")
else()
  # Without options, only the library is built. CUPRUM_DRIVER below selects the existing device.
  set(is_installed FALSE)
  list(APPEND options "-DCUPRUM_CUDA_INCLUDE_DIR=${CUDA_INCLUDE}")
endif()

step("configuring" "${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${prefix}/${LIBDIR}/pkgconfig"
     "${CMAKE_COMMAND}" -S "${SOURCE}" -B "${build}" ${options})
step("building" "${CMAKE_COMMAND}" --build "${build}" --parallel 2)

if(EMULATOR)
  set(driver "${PROJECT_BUILD}/emulator/lib/libcuda.so.1")
  if(is_installed)
    set(driver emulated)
  endif()
  step("running" "${CMAKE_COMMAND}" -E env "CUPRUM_DRIVER=${driver}" "${build}/consumer")
  if(WAY STREQUAL "find_package")
    step("asking the installed command" "${prefix}/bin/cuprum-emulator" info)
    if(NOT output MATCHES "device 0: Cuprum Emulated Device")
      message(FATAL_ERROR "the installed command does not find its device:\n${output}")
    endif()
  endif()
else()
  step("running" "${build}/consumer" --without-device)
endif()
message("${output}")
