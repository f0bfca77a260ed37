// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which NVML is loaded. It must know the devices that the driver knows: the emulated NVML lies
// beside the emulated driver. Asking a native NVML for its devices needs no CUDA, so a process that
// only monitors never starts the driver.

#include "libraries/nvml/table.hpp"

#include "driver/library.hpp"

#include <cuprum/error.hpp>

#include <array>
#include <optional>
#include <utility>

namespace cuprum::nvml {

namespace {

constexpr const char* FILE_NAME = "libnvidia-ml.so.1";
constexpr std::array FILE_NAMES{FILE_NAME};
constexpr const char* EMULATOR_MARK = "cuprumEmulatorVersion"; // exported by the emulated NVML
constexpr const char* EMULATOR_ADVICE =
    "install the package with the emulator, or set CUPRUM_NVML to the absolute path of its "
    "libnvidia-ml.so.1";

detail::SharedLibrary load_file(const libraries::LibraryRequest& request);
detail::SharedLibrary load_native(const libraries::LibraryRequest& request);
detail::SharedLibrary load_emulated(const driver::DriverLibrary& driver);
std::string why_unusable(const detail::SharedLibrary& file);

} // namespace

int driver_with(std::string_view function) noexcept {
#define CUPRUM_NVML_FUNCTION(name, driver)                                                         \
    if (function == #name) {                                                                       \
        return driver;                                                                             \
    }
#include "libraries/nvml/symbols.def"
#undef CUPRUM_NVML_FUNCTION
    return 0;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

detail::SharedLibrary load_file(const libraries::LibraryRequest& request) {
    if (!detail::environment(request.variable).empty()) {
        return load_library(request); // the user's choice, which the search prefers
    }
    const std::string wish = detail::environment("CUPRUM_DRIVER");
    const bool is_chosen = driver::is_library_loaded() || (!wish.empty() && wish != "native");
    if (is_chosen) {
        const driver::DriverLibrary& driver = driver::driver_library();
        return driver.is_emulated ? load_emulated(driver) : load_native(request);
    }
    if (wish == "native") {
        return load_native(request);
    }

    // Nothing is chosen yet: native if it sees a device, else what the driver chooses.
    std::optional<LibraryNotFoundError> missing;
    std::optional<detail::SharedLibrary> native;
    try {
        native = load_library(request);
        if (why_unusable(*native).empty()) {
            return *std::move(native);
        }
    } catch (const LibraryNotFoundError& error) {
        missing = error;
    }
    try {
        if (const driver::DriverLibrary& driver = driver::driver_library(); driver.is_emulated) {
            return load_emulated(driver);
        }
    } catch (const LibraryNotFoundError&) {
        // No driver either. What is said about NVML below is what the caller asked for.
    }
    if (native) {
        return *std::move(native); // its nvmlInit says best what is wrong
    }
    throw LibraryNotFoundError(*missing);
}

detail::SharedLibrary load_native(const libraries::LibraryRequest& request) {
    detail::SharedLibrary library = load_library(request);
    if (library.find(EMULATOR_MARK) != nullptr) {
        throw LibraryNotFoundError(request.name, {library.path + ": is of the emulated device"},
                                   request.advice);
    }
    return library;
}

detail::SharedLibrary load_emulated(const driver::DriverLibrary& driver) {
    std::vector<std::string> tried;
    if (auto library = driver::open_beside(driver, FILE_NAME, tried)) {
        return *std::move(library);
    }
    throw LibraryNotFoundError("the NVML of the emulated device", std::move(tried),
                               EMULATOR_ADVICE);
}

/// Initialises an NVML and counts its devices; returns what is wrong, or nothing.
std::string why_unusable(const detail::SharedLibrary& file) {
    using namespace nvml_abi;
    const auto initialise = reinterpret_cast<functions::nvmlInit_v2*>(file.find("nvmlInit_v2"));
    const auto count_devices =
        reinterpret_cast<functions::nvmlDeviceGetCount_v2*>(file.find("nvmlDeviceGetCount_v2"));
    if (initialise == nullptr || count_devices == nullptr) {
        return "it is no NVML";
    }
    if (const nvmlReturn_t status = initialise(); status != NVML_SUCCESS) {
        return "nvmlInit_v2 returned code " + std::to_string(status);
    }
    unsigned count = 0;
    if (const nvmlReturn_t status = count_devices(&count); status != NVML_SUCCESS) {
        return "nvmlDeviceGetCount_v2 returned code " + std::to_string(status);
    }
    return count > 0 ? std::string() : "it sees no device";
}

} // namespace

} // namespace cuprum::nvml

namespace cuprum::libraries {

template <>
constinit const LibraryDescription Loader<nvml::Table>::DESCRIPTION{
    .request = {.name = "NVML",
                .file_names = nvml::FILE_NAMES,
                .variable = "CUPRUM_NVML",
                .advice = "install the NVIDIA driver, which contains it (in a container, start it "
                          "with the NVIDIA container toolkit and the capability `utility`), set "
                          "CUPRUM_NVML to the absolute path of libnvidia-ml.so.1, or use the "
                          "emulated device (CUPRUM_DRIVER=emulated)"},
    .min_version = 0,
    .load_file = nvml::load_file};

template class Loader<nvml::Table>;

} // namespace cuprum::libraries
