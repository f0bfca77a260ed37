# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# Install rules, the package for find_package(cuprum CONFIG), and cuprum.pc.
#
# Components: library, development (headers, CMake and pkg-config files), emulator, emulator-development,
# and python, which only wheels install. Distributions put each into a package of its own.
#
# The library searches for the emulated device in lib/cuprum beside itself. In site-packages, where the
# two are separate wheels, it is libcuprum/lib/libcuprum.so and cuprum_emulator/lib/cuprum/libcuda.so.1.
# libcudart.so.13, .12 and libnvidia-ml.so.1 are beside libcuda.so.1, because the command cuprum-emulator
# adds that folder to the library path of the programs it runs.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/cuprum")
set(emulator_dir "${CMAKE_INSTALL_LIBDIR}/cuprum")

# ---- the library --------------------------------------------------------------------------------

install(TARGETS cuprum EXPORT cuprumTargets
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library
        NAMELINK_COMPONENT development
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(DIRECTORY core/include/cuprum DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
        COMPONENT development
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def"
        # Only the library and its bindings may access the private parts of the classes.
        PATTERN "access.hpp" EXCLUDE)
install(EXPORT cuprumTargets NAMESPACE cuprum:: DESTINATION "${package_dir}" COMPONENT development)

configure_package_config_file(
  cmake/cuprumConfig.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/cuprumConfig.cmake"
  INSTALL_DESTINATION "${package_dir}" NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/cuprumConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/cuprumConfig.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/cuprumConfigVersion.cmake"
        DESTINATION "${package_dir}" COMPONENT development)

# The .pc file names its folders relative to itself, so the installation can be moved.
set(pkgconfig_dir "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR
           BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" OUTPUT_VARIABLE includedir)
configure_file(cmake/cuprum.pc.in "${CMAKE_CURRENT_BINARY_DIR}/cuprum.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/cuprum.pc" DESTINATION "${pkgconfig_dir}"
        COMPONENT development)

# ---- the emulated device ------------------------------------------------------------------------

if(CUPRUM_EMULATOR)
  set(runtime)
  set(archives)
  if(TARGET cuprum_runtime)
    set(runtime cuprum_runtime cuprum_runtime_12)
    set(archives cuprum_runtime_static)
    install(TARGETS ${archives} ARCHIVE DESTINATION "${emulator_dir}"
            COMPONENT emulator-development)
  endif()
  install(TARGETS cuprum_emulator cuprum_emulator_nvml ${runtime}
          LIBRARY DESTINATION "${emulator_dir}" COMPONENT emulator)
  set(plugin)
  if(TARGET cuprum_jit)
    set(plugin cuprum_jit)
    install(TARGETS cuprum_jit LIBRARY DESTINATION "${emulator_dir}" COMPONENT emulator)
  endif()
  install(TARGETS cuprum_emulator_name LIBRARY DESTINATION "${emulator_dir}/names" COMPONENT emulator)
  set(compilers cuprum_ptxas cuprum_nvjitlink_12 cuprum_nvjitlink_13 cuprum_nvrtc_12 cuprum_nvrtc_13
                cuprum_nvfatbin_12 cuprum_nvfatbin_13)
  install(TARGETS ${compilers} DESTINATION "${emulator_dir}/compilers" COMPONENT emulator)
  get_property(stand_ins GLOBAL PROPERTY cuprum_stand_ins)
  install(TARGETS ${stand_ins} LIBRARY DESTINATION "${emulator_dir}/stand_ins" COMPONENT emulator)
  install(PROGRAMS emulator/compilers/nvcc.sh DESTINATION "${emulator_dir}/compilers/bin"
          RENAME nvcc COMPONENT emulator)
  install(FILES emulator/compilers/python/sitecustomize.py
          DESTINATION "${emulator_dir}/compilers/python" COMPONENT emulator)
  install(TARGETS cuprum_emulator_command RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
          COMPONENT emulator)
  install(FILES emulator/include/cuprum_emulator.h DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
          COMPONENT emulator-development)
  # Builds all that is installed here. The wheel cuprum-emulator names this target alone.
  add_custom_target(cuprum_emulator_package)
  add_dependencies(cuprum_emulator_package cuprum_emulator cuprum_emulator_name cuprum_emulator_nvml
                   ${plugin} ${runtime} ${archives} ${compilers} ${stand_ins} cuprum_emulator_command)
endif()

# ---- the extension module and licences ----------------------------------------------------------

if(CUPRUM_PYTHON)
  install(TARGETS _cuprum LIBRARY DESTINATION cuprum COMPONENT python EXCLUDE_FROM_ALL)
endif()

if(CUPRUM_WHEEL)
  # Wheels hold their licences in their metadata, and there a list of what is linked into them.
  include(CuprumSbom)
else()
  set(licenses_dir "${CMAKE_INSTALL_DATADIR}/licenses/cuprum")
  install(FILES LICENSE NOTICE DESTINATION "${licenses_dir}" COMPONENT library)
  if(CUPRUM_EMULATOR)
    install(FILES LICENSE NOTICE licenses/zstd.txt licenses/llvm.txt DESTINATION "${licenses_dir}"
            COMPONENT emulator)
  endif()
endif()
