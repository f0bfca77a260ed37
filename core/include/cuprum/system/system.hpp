// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What NVML knows about the machine: versions, processes.

#pragma once

#include <cuprum/detail/export.hpp>

#include <string>
#include <vector>

namespace cuprum::system {

/// A version of CUDA.
struct CudaVersion {
    int major = 0; // the number before the dot
    int minor = 0; // the number behind the dot
    friend auto operator<=>(const CudaVersion&, const CudaVersion&) = default;
};

/// Returns the newest CUDA that the driver supports. Without NVML, the driver itself is asked.
[[nodiscard]] CUPRUM_API CudaVersion user_mode_driver_version();

/// Returns the version of the kernel's driver, {580, 65, 6}.
[[nodiscard]] CUPRUM_API std::vector<int> kernel_mode_driver_version();

/// Returns the version of NVML, {13, 580, 65, 6}.
[[nodiscard]] CUPRUM_API std::vector<int> nvml_version();

/// Returns the branch that the driver is from, "r580_00".
[[nodiscard]] CUPRUM_API std::string driver_branch();

/// Returns the name of a process that uses a device.
/// @throws NVMLError of the kind NOT_FOUND if it is gone or uses no device.
[[nodiscard]] CUPRUM_API std::string process_name(unsigned pid);

/// Returns the file that NVML was loaded from. Loads it.
[[nodiscard]] CUPRUM_API std::string library_path();

/// What is known about NVML in this process.
enum class LibraryState {
    Uninitialized, // not used yet, or not since a fork
    Initialized,
};

/// Returns whether NVML is in use. Loads nothing.
[[nodiscard]] CUPRUM_API LibraryState library_state() noexcept;

/// Loads NVML and initialises it, as every query does on its own.
/// @throws LibraryNotFoundError if there is no NVML.
/// @throws NVMLError if NVML fails.
CUPRUM_API void initialize();

} // namespace cuprum::system
