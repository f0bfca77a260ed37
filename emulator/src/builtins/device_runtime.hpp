// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The functions of CUDA's device runtime library, libcudadevrt, that the emulated device has.
//
// That library holds machine code for each GPU and PTX for the newest one only, so it cannot be
// linked here. Programs link it for the barrier of a cooperative grid (Numba's grid.sync()), and
// for kernels that launch kernels.

#pragma once

#include <string>

namespace cuprum::emulator::builtins {

/// Returns a PTX module that links treat like a member of an archive.
[[nodiscard]] const std::string& device_runtime_ptx();

} // namespace cuprum::emulator::builtins
