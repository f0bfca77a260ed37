# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# An overlay port that builds the clone it is in. It needs a triplet with shared libraries:
#   vcpkg install cuprum --overlay-ports=packaging/vcpkg --triplet x64-linux-dynamic
# A port for vcpkg's own registry replaces SOURCE_PATH by vcpkg_from_github() of a release.

cmake_path(SET SOURCE_PATH NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../..")

vcpkg_check_features(OUT_FEATURE_OPTIONS options FEATURES emulator CUPRUM_EMULATOR)

vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS ${options} -DCUPRUM_PYTHON=OFF -DCUPRUM_TESTS=OFF -DCUPRUM_EXAMPLES=OFF
          -DCUPRUM_BENCHMARKS=OFF)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/cuprum)
vcpkg_fixup_pkgconfig()

# vcpkg has its own place for licences.
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
     "${CURRENT_PACKAGES_DIR}/share/licenses")
if("emulator" IN_LIST FEATURES)
  # The emulated device must have the name libcuda.so.1, beside which its other libraries are.
  set(VCPKG_POLICY_DLLS_IN_STATIC_LIBRARY enabled)
endif()
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE" "${SOURCE_PATH}/NOTICE")
