// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Finds NVIDIA's own libraries, whose names the stand-ins have.

#pragma once

#include <string>
#include <vector>

namespace cuprum::emulator::compilers {

/// Where a library of NVIDIA may be.
struct LibraryPlaces {
    const char* variable;            // an environment variable with its path
    std::vector<const char*> wheels; // paths in a folder of Python packages, best first
    std::vector<const char*> names;  // in other folders, best first
    const char* advice;              // what to do if there is none
};

/// Loads the library, and never unloads it. Does not find the stand-ins.
///
/// @throws CompileError with the advice if there is none.
[[nodiscard]] void* load_real(const LibraryPlaces& places);

/// Returns where NVRTC of a major version of CUDA may be.
[[nodiscard]] LibraryPlaces nvrtc_places(int major);

/// Returns where nvFatbin of a major version of CUDA may be.
[[nodiscard]] LibraryPlaces nvfatbin_places(int major);

} // namespace cuprum::emulator::compilers
