// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which NVML is loaded. It must know the devices that the driver knows: the emulated NVML lies
// beside the emulated driver. Asking a native NVML for its devices needs no CUDA, so a process that
// only monitors never starts the driver.

#include "libraries/nvml.hpp"

#include "driver/library.hpp"

#include <cuprum/error.hpp>

#include <pthread.h>

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

detail::SharedLibrary load_emulated(const driver::DriverLibrary& driver) {
    std::vector<std::string> tried;
    if (auto library = driver::open_beside(driver, FILE_NAME, tried)) {
        return *std::move(library);
    }
    throw LibraryNotFoundError("the NVML of the emulated device", std::move(tried),
                               EMULATOR_ADVICE);
}

detail::SharedLibrary load_native(const libraries::LibraryRequest& request) {
    detail::SharedLibrary library = load_library(request);
    if (library.find(EMULATOR_MARK) != nullptr) {
        throw LibraryNotFoundError(request.name, {library.path + ": is of the emulated device"},
                                   request.advice);
    }
    return library;
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

} // namespace

int driver_with(std::string_view function) noexcept {
#define CUPRUM_NVML_FUNCTION(name, driver)                                                         \
    if (function == #name) {                                                                       \
        return driver;                                                                             \
    }
#include "libraries/nvml.def"
#undef CUPRUM_NVML_FUNCTION
    return 0;
}

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

namespace cuprum::nvml {

using namespace nvml_abi;

namespace {

/// A result code, and what it means.
struct Code {
    nvmlReturn_t status;
    const char* name;
    const char* explanation;
};

const Code& code_of(nvmlReturn_t status) {
    static constexpr std::array CODES{
        Code{NVML_ERROR_UNKNOWN, "NVML_ERROR_UNKNOWN",
             "the driver failed for a reason that it does not give; its messages are in the kernel "
             "log (dmesg)"},
        Code{NVML_SUCCESS, "NVML_SUCCESS", "the call succeeded"},
        Code{NVML_ERROR_UNINITIALIZED, "NVML_ERROR_UNINITIALIZED",
             "another library shut NVML down while it was in use; try again"},
        Code{NVML_ERROR_INVALID_ARGUMENT, "NVML_ERROR_INVALID_ARGUMENT",
             "an argument is out of range, or this kind of device (a MIG device, say) does not "
             "answer the query; check the values that were passed"},
        Code{NVML_ERROR_NOT_SUPPORTED, "NVML_ERROR_NOT_SUPPORTED",
             "this device, or its current mode, does not support the query; treat the value as "
             "unknown"},
        Code{NVML_ERROR_NO_PERMISSION, "NVML_ERROR_NO_PERMISSION",
             "this user may not do that; run the program as root (sudo), or ask the administrator "
             "of the machine"},
        Code{NVML_ERROR_ALREADY_INITIALIZED, "NVML_ERROR_ALREADY_INITIALIZED",
             "NVML is initialised already; nothing needs to be done"},
        Code{NVML_ERROR_NOT_FOUND, "NVML_ERROR_NOT_FOUND",
             "nothing with this name or number exists, or it is gone; list the devices or "
             "processes again"},
        Code{NVML_ERROR_INSUFFICIENT_SIZE, "NVML_ERROR_INSUFFICIENT_SIZE",
             "the answer is longer than the memory for it; try again, as it may have grown in the "
             "meantime"},
        Code{NVML_ERROR_INSUFFICIENT_POWER, "NVML_ERROR_INSUFFICIENT_POWER",
             "a power cable of the device is not attached; shut the machine down and attach it"},
        Code{NVML_ERROR_DRIVER_NOT_LOADED, "NVML_ERROR_DRIVER_NOT_LOADED",
             "the kernel has not loaded the NVIDIA driver; load it (modprobe nvidia), install it, "
             "or use the emulated device (CUPRUM_DRIVER=emulated)"},
        Code{NVML_ERROR_TIMEOUT, "NVML_ERROR_TIMEOUT",
             "nothing happened within the time given; wait again, or for longer"},
        Code{NVML_ERROR_IRQ_ISSUE, "NVML_ERROR_IRQ_ISSUE",
             "the kernel found a problem with the interrupts of the device; see the kernel log "
             "(dmesg)"},
        Code{NVML_ERROR_LIBRARY_NOT_FOUND, "NVML_ERROR_LIBRARY_NOT_FOUND",
             "a library that NVML needs is missing; install the NVIDIA driver again"},
        Code{NVML_ERROR_FUNCTION_NOT_FOUND, "NVML_ERROR_FUNCTION_NOT_FOUND",
             "this version of NVML lacks the function; update the NVIDIA driver"},
        Code{NVML_ERROR_CORRUPTED_INFOROM, "NVML_ERROR_CORRUPTED_INFOROM",
             "the memory that identifies the board is damaged; the board needs service"},
        Code{NVML_ERROR_GPU_IS_LOST, "NVML_ERROR_GPU_IS_LOST",
             "the device no longer answers: it fell off the bus or was removed; stop using it, "
             "reset it (nvidia-smi --gpu-reset) or restart the machine, and see the kernel log "
             "(dmesg)"},
        Code{NVML_ERROR_RESET_REQUIRED, "NVML_ERROR_RESET_REQUIRED",
             "the device needs a reset; end the programs that use it and run nvidia-smi "
             "--gpu-reset"},
        Code{NVML_ERROR_OPERATING_SYSTEM, "NVML_ERROR_OPERATING_SYSTEM",
             "the operating system blocks the access to the device, in a container or a control "
             "group, say; allow the device files /dev/nvidia*"},
        Code{NVML_ERROR_LIB_RM_VERSION_MISMATCH, "NVML_ERROR_LIB_RM_VERSION_MISMATCH",
             "NVML and the loaded kernel module have different versions, as after an update; "
             "restart the machine or reload the module"},
        Code{NVML_ERROR_IN_USE, "NVML_ERROR_IN_USE",
             "the device is in use; end the programs that use it"},
        Code{NVML_ERROR_MEMORY, "NVML_ERROR_MEMORY", "there is not enough memory for the call"},
        Code{NVML_ERROR_NO_DATA, "NVML_ERROR_NO_DATA",
             "the driver has no data for this query yet; try again later"},
        Code{NVML_ERROR_VGPU_ECC_NOT_SUPPORTED, "NVML_ERROR_VGPU_ECC_NOT_SUPPORTED",
             "virtual GPUs cannot be used while ECC is on; switch ECC off"},
        Code{NVML_ERROR_INSUFFICIENT_RESOURCES, "NVML_ERROR_INSUFFICIENT_RESOURCES",
             "the device lacks the resources for that, other than memory; release some and try "
             "again"},
        Code{NVML_ERROR_FREQ_NOT_SUPPORTED, "NVML_ERROR_FREQ_NOT_SUPPORTED",
             "the device does not run at this frequency; choose one that it lists"},
        Code{NVML_ERROR_ARGUMENT_VERSION_MISMATCH, "NVML_ERROR_ARGUMENT_VERSION_MISMATCH",
             "the driver does not know this version of the query; update the NVIDIA driver"},
        Code{NVML_ERROR_DEPRECATED, "NVML_ERROR_DEPRECATED",
             "this driver no longer offers the query; use the one that replaced it"},
        Code{NVML_ERROR_NOT_READY, "NVML_ERROR_NOT_READY",
             "the device is not ready yet; try again later"},
        Code{NVML_ERROR_GPU_NOT_FOUND, "NVML_ERROR_GPU_NOT_FOUND",
             "there is no device; check that this process may see one (/dev/nvidia*), or use the "
             "emulated device (CUPRUM_DRIVER=emulated)"},
        Code{NVML_ERROR_INVALID_STATE, "NVML_ERROR_INVALID_STATE",
             "the device is in a state that does not allow that; finish what is under way and try "
             "again"},
        Code{NVML_ERROR_RESET_TYPE_NOT_SUPPORTED, "NVML_ERROR_RESET_TYPE_NOT_SUPPORTED",
             "the device does not support this kind of reset; use another kind"},
    };
    for (const Code& code : CODES) {
        if (code.status == status) {
            return code;
        }
    }
    return CODES.front();
}

std::string missing_function_text(const char* function) {
    std::array<char, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE> version{};
    // NOTE: not call(), which may throw.
    const bool is_known =
        table().nvmlSystemGetDriverVersion(version.data(), static_cast<unsigned>(version.size())) ==
        NVML_SUCCESS;
    return "it needs driver " + std::to_string(driver_with(function)) +
           " or newer, and the loaded NVML is of driver " +
           (is_known ? version.data() : "an unknown version") + "; update the NVIDIA driver";
}

} // namespace

constinit std::atomic<State> state{State::Uninitialized};

void initialize() {
    // NOTE: no mutex. nvmlInit may fork to run nvidia-modprobe, so a handler that locks before a
    // fork would wait for itself; a mutex that is locked during a fork stays so in the child.
    for (;;) {
        State expected = State::Uninitialized;
        if (state.compare_exchange_strong(expected, State::Busy)) {
            break;
        }
        if (expected == State::Initialized) {
            return;
        }
        state.wait(State::Busy);
    }
    static const int watches_forks = ::pthread_atfork(
        nullptr, nullptr, [] { state.store(State::Uninitialized, std::memory_order_relaxed); });
    static_cast<void>(watches_forks);
    const auto leave = [](State result) {
        state.store(result, std::memory_order_release);
        state.notify_all();
    };
    const auto& entry = table().nvmlInit_v2;
    nvmlReturn_t status = NVML_ERROR_UNKNOWN;
    try {
        status = entry();
    } catch (...) {
        leave(State::Uninitialized);
        throw;
    }
    leave(status == NVML_SUCCESS ? State::Initialized : State::Uninitialized);
    driver::send_choice_warning(); // loading NVML may have chosen the driver
    if (status != NVML_SUCCESS) {
        raise(status, entry.name);
    }
}

std::string name_of(nvmlReturn_t status) {
    const Code& code = code_of(status);
    return code.status == status ? code.name : "NVML error " + std::to_string(status);
}

void raise(nvmlReturn_t status, const char* function, std::string_view advice) {
    const std::string more = status == NVML_ERROR_FUNCTION_NOT_FOUND && advice.empty()
                                 ? missing_function_text(function)
                                 : std::string(advice);
    throw NVMLError(status, name_of(status), function, code_of(status).explanation, more);
}

} // namespace cuprum::nvml
