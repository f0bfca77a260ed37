// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/version.hpp>

#include "driver/call.hpp"
#include "driver/library.hpp"

#include <string>

namespace cuprum {

const char* version() noexcept {
    static const std::string text = std::to_string(CUPRUM_VERSION_MAJOR) + "." +
                                    std::to_string(CUPRUM_VERSION_MINOR) + "." +
                                    std::to_string(CUPRUM_VERSION_PATCH);
    return text.c_str();
}

int driver_version() {
    int version = 0;
    driver::call(driver::table().cuDriverGetVersion, &version);
    driver::send_choice_warning();
    return version;
}

std::string driver_description() {
    const driver::DriverLibrary& driver = driver::driver_library();
    driver::send_choice_warning();
    return std::string(driver.is_emulated ? "emulated" : "native") + " (" + driver.library.path +
           ")";
}

} // namespace cuprum
