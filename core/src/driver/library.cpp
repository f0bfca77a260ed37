// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/library.hpp"

#include "driver/call.hpp"
#include "driver/explanations.hpp"
#include "driver/table.hpp"
#include "support/locks.hpp"
#include "support/once.hpp"
#include "support/warn.hpp"

#include <cuprum/error.hpp>
#include <cuprum/version.hpp>

#include <cuda.h>

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace cuprum::driver {

namespace {

namespace fs = std::filesystem;

using cuprum::detail::environment;
using cuprum::detail::open_library;
using cuprum::detail::own_directory;
using cuprum::detail::SharedLibrary;

constexpr const char* NATIVE_LIBRARY = "libcuda.so.1";
constexpr const char* EMULATOR_MARK = "cuprumEmulatorVersion"; // exported by the emulated device
constexpr int MAX_LINKS = 40;                                  // as many as Linux follows

struct Loader {
    std::mutex mutex;
    std::atomic<const DriverLibrary*> loaded{nullptr};
    std::string warning; // due, guarded by the mutex
};

Loader& loader() {
    static cuprum::detail::NeverDestroyed<Loader> only; // destructors may call the driver
    return *only;
}

/// Reads what can be told of a driver before it is initialised.
DriverLibrary describe(SharedLibrary library) {
    DriverLibrary driver;
    driver.library = std::move(library);
    driver.is_emulated = driver.library.find(EMULATOR_MARK) != nullptr;
    driver.get_proc_address = driver.library.find("cuGetProcAddress_v2");
    driver.is_get_proc_address_v2 = driver.get_proc_address != nullptr;
    if (!driver.is_get_proc_address_v2) {
        driver.get_proc_address = driver.library.find("cuGetProcAddress");
    }
    if (const auto query = reinterpret_cast<decltype(&::cuDriverGetVersion)>(
            driver.library.find("cuDriverGetVersion"))) {
        query(&driver.version);
    }
    return driver;
}

std::optional<SharedLibrary> open_native(std::vector<std::string>& tried) {
    return open_library(NATIVE_LIBRARY, tried);
}

/// Returns where an installation, a build or a wheel puts the emulated device of this library.
std::vector<fs::path> emulator_places(const fs::path& here) {
    std::vector<fs::path> places{here / "cuprum", here / "../emulator/lib"};
    // The two wheels share one site-packages. Only a library of a wheel looks there: from any other
    // folder, two levels up may be a place that belongs to someone else.
    if (here.filename() == "lib" && here.parent_path().filename() == "libcuprum") {
        places.push_back(here / "../../cuprum_emulator/lib/cuprum");
    }
    return places;
}

/// Returns what decides who can replace a file: all links on the way, what they lead to, and the
/// folders of all of these. Empty if something cannot be examined.
std::vector<struct stat> deciding_places(const fs::path& file) {
    std::vector<struct stat> places;
    fs::path step = file;
    for (int links = 0; links <= MAX_LINKS; ++links) {
        struct stat folder{};
        struct stat status{};
        if (::stat(step.parent_path().c_str(), &folder) != 0 ||
            ::lstat(step.c_str(), &status) != 0) {
            return {};
        }
        places.push_back(folder);
        places.push_back(status);
        if (!S_ISLNK(status.st_mode)) {
            return places;
        }
        std::error_code error;
        step = step.parent_path() / fs::read_symlink(step, error);
    }
    return {};
}

bool is_writable_by_others(const std::vector<struct stat>& places) {
    return std::ranges::any_of(places, [](const struct stat& place) {
        // In a sticky folder, only the owner of a file or a link can replace it. The mode of a link
        // means nothing.
        const bool is_sticky = S_ISDIR(place.st_mode) && (place.st_mode & S_ISVTX) != 0;
        return (place.st_mode & S_IWOTH) != 0 && !is_sticky && !S_ISLNK(place.st_mode);
    });
}

/// Returns whether neither root, nor the user, nor the owner of this library owns one of them.
bool is_owned_by_a_stranger(const std::vector<struct stat>& places) {
    struct stat own{};
    const bool is_own_known = ::stat(own_directory().c_str(), &own) == 0;
    return std::ranges::any_of(places, [&](const struct stat& place) {
        return place.st_uid != 0 && place.st_uid != ::geteuid() &&
               (!is_own_known || place.st_uid != own.st_uid);
    });
}

/// Opens a file that belongs to this library, unless anyone may have written it. `variable` is
/// where a user can insist on it.
std::optional<SharedLibrary> open_own(const fs::path& file, const char* variable,
                                      std::vector<std::string>& tried) {
    std::error_code error;
    if (!fs::exists(file, error)) {
        tried.push_back(file.string() + ": no such file");
        return std::nullopt;
    }
    const std::vector<struct stat> places = deciding_places(file);
    if (places.empty() || is_writable_by_others(places)) {
        tried.push_back(file.string() +
                        ": anyone may write to it or to its folder, ignored (name it in " +
                        variable + " to use it)");
    } else if (is_owned_by_a_stranger(places)) {
        tried.push_back(
            file.string() +
            ": it or its folder belongs to another user than this library, ignored (name "
            "it in " +
            variable + " to use it)");
    } else if (auto library = open_library(file.string(), tried)) {
        return library;
    }
    return std::nullopt;
}

/// Looks for the emulated device beside this library, and nowhere else unless told.
std::optional<SharedLibrary> open_emulator(std::vector<std::string>& tried) {
    if (const std::string file = environment("CUPRUM_EMULATOR_LIBRARY"); !file.empty()) {
        if (fs::path(file).is_absolute()) {
            return open_library(file, tried);
        }
        tried.push_back("CUPRUM_EMULATOR_LIBRARY=" + file + ": not an absolute path, ignored");
    }
    const fs::path here = own_directory();
    if (here.empty()) {
        tried.emplace_back("beside libcuprum: its place is not known");
        return std::nullopt;
    }
    for (const fs::path& place : emulator_places(here)) {
        if (auto library = open_own((place / NATIVE_LIBRARY).lexically_normal(),
                                    "CUPRUM_EMULATOR_LIBRARY", tried)) {
            return library;
        }
    }
    return std::nullopt;
}

/// Initialises a driver and counts its devices; says what is wrong, or nothing.
std::string why_unusable(const DriverLibrary& driver) {
    const auto initialise = reinterpret_cast<decltype(&::cuInit)>(driver.library.find("cuInit"));
    const auto count_devices =
        reinterpret_cast<decltype(&::cuDeviceGetCount)>(driver.library.find("cuDeviceGetCount"));
    if (initialise == nullptr || count_devices == nullptr) {
        return "it is not a CUDA driver";
    }
    const auto failure = [](const char* call, CUresult status) {
        // NOTE: not name_of(), which may ask the driver that is being chosen here.
        const char* name = known_name(status);
        return std::string(call) + " returned " + (name == nullptr ? "code" : name) + " (" +
               std::to_string(static_cast<int>(status)) + ")";
    };
    if (const CUresult status = initialise(0); status != CUDA_SUCCESS) {
        return failure("cuInit", status);
    }
    int count = 0;
    if (const CUresult status = count_devices(&count); status != CUDA_SUCCESS) {
        return failure("cuDeviceGetCount", status);
    }
    return count > 0 ? std::string() : "the driver sees no device";
}

} // namespace

DriverChoice choose_driver(const std::string& wish) {
    std::vector<std::string> tried;
    if (wish == "native") {
        if (auto library = open_native(tried)) {
            DriverLibrary driver = describe(*std::move(library));
            if (!driver.is_emulated) {
                return {std::move(driver), {}};
            }
            tried.push_back(driver.library.path + ": is the emulated device");
        }
        throw LibraryNotFoundError("the NVIDIA driver", std::move(tried),
                                   "install the NVIDIA driver, or allow the emulated device "
                                   "(CUPRUM_DRIVER=emulated or unset)");
    }
    if (wish == "emulated") {
        if (auto library = open_emulator(tried)) {
            return {describe(*std::move(library)), {}};
        }
        throw LibraryNotFoundError("the emulated device", std::move(tried),
                                   "install it (pip install cuprum-emulator), or name its "
                                   "libcuda.so.1 in CUPRUM_EMULATOR_LIBRARY");
    }
    if (!wish.empty()) {
        if (!fs::path(wish).is_absolute()) {
            throw std::invalid_argument("CUPRUM_DRIVER is '" + wish +
                                        "', expected native, emulated or the absolute path of a "
                                        "libcuda.so.1; unset it to let the library choose");
        }
        if (auto library = open_library(wish, tried)) {
            return {describe(*std::move(library)), {}};
        }
        throw LibraryNotFoundError("the driver named by CUPRUM_DRIVER", std::move(tried),
                                   "correct the path, or set CUPRUM_DRIVER to native or emulated");
    }

    std::optional<DriverLibrary> native;
    std::string reason;
    if (auto library = open_native(tried)) {
        native = describe(*std::move(library));
        reason = why_unusable(*native);
        if (reason.empty()) {
            return {*std::move(native), {}};
        }
        tried.push_back(native->library.path + ": " + reason);
    } else {
        reason = "no NVIDIA driver is installed";
    }
    if (auto library = open_emulator(tried)) {
        DriverLibrary driver = describe(*std::move(library));
        std::string warning = "no GPU can be used (" + reason +
                              "): kernels run on the CPU, on the emulated device (" +
                              driver.library.path +
                              "); set CUPRUM_DRIVER=emulated to choose it without this warning, or "
                              "CUPRUM_DRIVER=native to make this an error";
        return {std::move(driver), std::move(warning)};
    }
    if (native) {
        return {*std::move(native), {}}; // its cuInit says best what is wrong
    }
    throw LibraryNotFoundError("a CUDA driver", std::move(tried),
                               "install the NVIDIA driver, or the emulated device (pip install "
                               "cuprum-emulator; CUPRUM_EMULATOR_LIBRARY may name its "
                               "libcuda.so.1)");
}

const DriverLibrary& driver_library() {
    Loader& state = loader();
    if (const DriverLibrary* driver = state.loaded.load(std::memory_order_acquire)) {
        return *driver;
    }
    const cuprum::detail::QuietLock lock(state.mutex);
    if (const DriverLibrary* driver = state.loaded.load(std::memory_order_relaxed)) {
        return *driver;
    }
    DriverChoice choice = choose_driver(environment("CUPRUM_DRIVER"));
    state.warning = std::move(choice.warning);
    const auto* driver = new DriverLibrary(std::move(choice.driver)); // kept until the end
    state.loaded.store(driver, std::memory_order_release);
    return *driver;
}

bool is_library_loaded() noexcept {
    return loader().loaded.load(std::memory_order_acquire) != nullptr;
}

void send_choice_warning() noexcept {
    Loader& state = loader();
    std::string warning;
    {
        const std::lock_guard lock(state.mutex);
        warning.swap(state.warning);
    }
    if (!warning.empty()) {
        cuprum::detail::warn(WarningKind::EmulatedDevice, warning);
    }
}

void* find_function(const DriverLibrary& driver, const char* name, int version) {
    void* function = nullptr;
    if (driver.is_get_proc_address_v2) {
        CUdriverProcAddressQueryResult found{};
        const auto query = reinterpret_cast<decltype(&::cuGetProcAddress)>(driver.get_proc_address);
        if (query(name, &function, version, CU_GET_PROC_ADDRESS_DEFAULT, &found) != CUDA_SUCCESS ||
            found != CU_GET_PROC_ADDRESS_SUCCESS) {
            function = nullptr;
        }
    } else if (driver.get_proc_address != nullptr) {
        using Query = CUresult (*)(const char*, void**, int, cuuint64_t); // as 11.3 had it
        const auto query = reinterpret_cast<Query>(driver.get_proc_address);
        if (query(name, &function, version, CU_GET_PROC_ADDRESS_DEFAULT) != CUDA_SUCCESS) {
            function = nullptr;
        }
    } else {
        throw NotSupportedError("cuGetProcAddress", 11030, driver.version);
    }
    if (function == nullptr) {
        throw NotSupportedError(name, version, driver.version);
    }
    return function;
}

std::optional<SharedLibrary> open_beside(const DriverLibrary& driver, const char* file_name,
                                         std::vector<std::string>& tried) {
    std::error_code error;
    const fs::path here = fs::canonical(driver.library.path, error).parent_path();
    if (error) {
        tried.push_back(driver.library.path + ": its folder is not known");
        return std::nullopt;
    }
    return open_own(here / file_name, "CUPRUM_NVML", tried);
}

void* resolve(const char* name, int version) noexcept {
    int found = 0;
    try {
        const DriverLibrary& driver = driver_library();
        found = driver.version;
        return find_function(driver, name, version);
    } catch (...) {
        static_cast<void>(lack(name, version, found));
        return nullptr;
    }
}

} // namespace cuprum::driver

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
