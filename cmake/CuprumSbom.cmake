# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

# Writes a bill of materials (CycloneDX 1.6) into the metadata of a wheel, as PEP 770 describes: the
# wheel itself and the libraries of others that are linked into it.

# cuprum_sbom_component(<variable> <name> <version> <licence> <URL>)
function(cuprum_sbom_component variable name version license url)
  set(${variable}
      "{
      \"type\": \"library\",
      \"bom-ref\": \"${name}@${version}\",
      \"name\": \"${name}\",
      \"version\": \"${version}\",
      \"licenses\": [{\"license\": {\"id\": \"${license}\"}}],
      \"externalReferences\": [{\"type\": \"vcs\", \"url\": \"${url}\"}]
    }"
      PARENT_SCOPE)
endfunction()

set(parts)
set(names)
if(CUPRUM_WHEEL STREQUAL "cuprum")
  set(component python)
  cuprum_sbom_component(part nanobind "${nanobind_VERSION}" BSD-3-Clause
                        https://github.com/wjakob/nanobind)
  list(APPEND parts "${part}")
  list(APPEND names "\"nanobind@${nanobind_VERSION}\"")
  # nanobind contains a copy; its header has the version.
  file(GLOB header "${NB_DIR}/ext/robin_map/include/tsl/robin_map.h")
  set(robin_map_version bundled)
  if(header)
    cmake_path(GET header PARENT_PATH folder)
    file(STRINGS "${folder}/robin_growth_policy.h" lines
         REGEX "TSL_RH_VERSION_(MAJOR|MINOR|PATCH) [0-9]+")
    string(REGEX REPLACE "[^;0-9]" "" lines "${lines}")
    list(JOIN lines "." lines)
    if(lines)
      set(robin_map_version "${lines}")
    endif()
  endif()
  cuprum_sbom_component(part robin-map "${robin_map_version}" MIT
                        https://github.com/Tessil/robin-map)
  list(APPEND parts "${part}")
  list(APPEND names "\"robin-map@${robin_map_version}\"")
elseif(CUPRUM_WHEEL STREQUAL "cuprum-emulator")
  set(component emulator)
  if(CUPRUM_ZSTD_INCLUDE_DIR)
    file(STRINGS "${CUPRUM_ZSTD_INCLUDE_DIR}/zstd.h" lines
         REGEX "^#define ZSTD_VERSION_(MAJOR|MINOR|RELEASE) ")
    string(REGEX REPLACE "[^;0-9]" "" lines "${lines}")
    list(JOIN lines "." zstd_version)
    cuprum_sbom_component(part zstd "${zstd_version}" BSD-3-Clause https://github.com/facebook/zstd)
    list(APPEND parts "${part}")
    list(APPEND names "\"zstd@${zstd_version}\"")
  endif()
elseif(CUPRUM_WHEEL STREQUAL "libcuprum")
  set(component library)
else()
  message(FATAL_ERROR "CUPRUM_WHEEL is '${CUPRUM_WHEEL}', expected libcuprum, cuprum-emulator or cuprum")
endif()
list(JOIN parts ", " parts)
list(JOIN names ", " names)

set(sbom "${CMAKE_CURRENT_BINARY_DIR}/${CUPRUM_WHEEL}.cdx.json")
file(CONFIGURE OUTPUT "${sbom}" @ONLY CONTENT [[{
  "bomFormat": "CycloneDX",
  "specVersion": "1.6",
  "version": 1,
  "metadata": {
    "component": {
      "type": "library",
      "bom-ref": "@CUPRUM_WHEEL@@@PROJECT_VERSION@",
      "name": "@CUPRUM_WHEEL@",
      "version": "@PROJECT_VERSION@",
      "purl": "pkg:pypi/@CUPRUM_WHEEL@@@PROJECT_VERSION@",
      "licenses": [{"license": {"id": "Apache-2.0"}}]
    }
  },
  "components": [@parts@],
  "dependencies": [
    {"ref": "@CUPRUM_WHEEL@@@PROJECT_VERSION@", "dependsOn": [@names@]}
  ]
}
]])
install(FILES "${sbom}" DESTINATION "${SKBUILD_METADATA_DIR}/sboms" COMPONENT ${component})
