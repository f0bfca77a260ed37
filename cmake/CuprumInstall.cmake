# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# Install rules and the package for find_package(cuprum CONFIG).
#
# The library searches for the emulated device by this layout: lib/libcuprum.so and
# lib/cuprum/libcuda.so.1; in a wheel, cuprum/libcuprum.so and cuprum/_emulator/libcuda.so.1.
# libcudart.so.13, .12 and libnvidia-ml.so.1 are beside libcuda.so.1, because the command cuprum-emulator adds
# that folder to the library path of the programs it runs.

set(runtime)
if(TARGET cuprum_runtime)
  set(runtime cuprum_runtime cuprum_runtime_12)
endif()

if(SKBUILD)
  install(TARGETS cuprum _cuprum LIBRARY DESTINATION cuprum COMPONENT python)
  if(CUPRUM_EMULATOR)
    install(TARGETS cuprum_emulator cuprum_emulator_nvml ${runtime} LIBRARY DESTINATION cuprum/_emulator
            COMPONENT python)
    install(TARGETS cuprum_ptxas cuprum_nvjitlink_12 cuprum_nvjitlink_13 cuprum_nvrtc_12
                    cuprum_nvrtc_13
            DESTINATION cuprum/_emulator/compilers COMPONENT python)
    install(PROGRAMS emulator/compilers/nvcc.sh DESTINATION cuprum/_emulator/compilers/bin
            RENAME nvcc COMPONENT python)
    install(FILES emulator/compilers/python/sitecustomize.py
            DESTINATION cuprum/_emulator/compilers/python COMPONENT python)
    install(TARGETS cuprum_emulator_command RUNTIME DESTINATION "${SKBUILD_SCRIPTS_DIR}"
            COMPONENT python)
  endif()
  return()
endif()

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/cuprum")

install(DIRECTORY core/include/cuprum DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def"
        # Only the library and its bindings may access the private parts of the classes.
        PATTERN "access.hpp" EXCLUDE)
install(TARGETS cuprum EXPORT cuprumTargets LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT cuprumTargets NAMESPACE cuprum:: DESTINATION "${package_dir}")

set(emulator_path "")
if(CUPRUM_EMULATOR)
  set(emulator_path "${CMAKE_INSTALL_LIBDIR}/cuprum/libcuda.so.1")
  install(TARGETS cuprum_emulator cuprum_emulator_nvml ${runtime}
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/cuprum")
  install(TARGETS cuprum_ptxas cuprum_nvjitlink_12 cuprum_nvjitlink_13 cuprum_nvrtc_12
                  cuprum_nvrtc_13
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/cuprum/compilers")
  install(PROGRAMS emulator/compilers/nvcc.sh
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/cuprum/compilers/bin" RENAME nvcc)
  install(FILES emulator/compilers/python/sitecustomize.py
          DESTINATION "${CMAKE_INSTALL_LIBDIR}/cuprum/compilers/python")
  if(runtime)
    install(TARGETS cuprum_runtime_static ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}/cuprum")
  endif()
  install(TARGETS cuprum_emulator_command RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(FILES emulator/include/cuprum_emulator.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
endif()

configure_package_config_file(
  cmake/cuprumConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/cuprumConfig.cmake"
  INSTALL_DESTINATION "${package_dir}" NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/cuprumConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/cuprumConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/cuprumConfigVersion.cmake"
        DESTINATION "${package_dir}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/cuprum")
if(CUPRUM_EMULATOR)
  install(FILES licenses/zstd.txt DESTINATION "${CMAKE_INSTALL_DATADIR}/licenses/cuprum")
endif()
