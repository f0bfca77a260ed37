// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "support/shared_library.hpp"

#include <optional>
#include <string>
#include <vector>

namespace cuprum::driver {

/// The driver that was chosen for this process.
struct DriverLibrary {
    cuprum::detail::SharedLibrary library;
    void* get_proc_address = nullptr; // null in drivers before 11.3
    bool is_get_proc_address_v2 = false;
    int version = 0; // the CUDA version it supports, 13000 for 13.0
    bool is_emulated = false;
};

/// A driver and what to tell the user about the choice, empty if nothing.
struct DriverChoice {
    DriverLibrary driver;
    std::string warning;
};

/// Chooses and loads a driver after the value of CUPRUM_DRIVER: `native`, `emulated`, an absolute
/// path, or empty (native if it sees a device, else emulated with a warning). Does not keep it.
/// @throws std::invalid_argument for any other value, LibraryNotFoundError if there is none.
[[nodiscard]] DriverChoice choose_driver(const std::string& wish);

/// Returns the driver of this process, choosing it on the first call.
[[nodiscard]] const DriverLibrary& driver_library();

/// Returns whether the driver of this process is loaded.
[[nodiscard]] bool is_library_loaded() noexcept;

/// Finds a function in a driver.
/// @throws NotSupportedError if it has none of this name and version.
[[nodiscard]] void* find_function(const DriverLibrary& driver, const char* name, int version);

/// Opens another library in the folder of an emulated driver, such as its NVML. Appends to `tried`
/// why it cannot.
[[nodiscard]] std::optional<cuprum::detail::SharedLibrary>
open_beside(const DriverLibrary& driver, const char* file_name, std::vector<std::string>& tried);

/// Sends the warning about the choice of driver, if one is due; hold no lock.
void send_choice_warning() noexcept;

} // namespace cuprum::driver
