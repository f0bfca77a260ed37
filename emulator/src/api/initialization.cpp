// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cuInit, versions and entry points.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "cuprum_emulator.h"
#include "objects/process/error.hpp"
#include "objects/process/log.hpp"
#include "places/native_stack.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

using namespace cuprum::emulator;

namespace {

struct OwnEntry {
    std::string_view name;
    void* address;
};

CUdriverProcAddressQueryResult find_entry_point(const char* name, int version, cuuint64_t flags,
                                                void** address) {
    constexpr cuuint64_t known_flags =
        CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    require(name != nullptr && address != nullptr, "an argument is NULL");
    require((flags & ~known_flags) == 0, "unknown flags");
    *address = nullptr;
    if (version > driver_version()) {
        fail(CUDA_ERROR_INVALID_VALUE, "CUDA " + std::to_string(version) +
                                           " was asked for, but this driver is " +
                                           std::to_string(driver_version()));
    }
    const OwnEntry own_entries[] = {
        {"cuprumEmulatorVersion", reinterpret_cast<void*>(&cuprumEmulatorVersion)},
        {"cuprumEmulatorLiveObjects", reinterpret_cast<void*>(&cuprumEmulatorLiveObjects)},
        {"cuprumEmulatorMarkWritten", reinterpret_cast<void*>(&cuprumEmulatorMarkWritten)},
        {"cuprumEmulatorFunction", reinterpret_cast<void*>(&cuprumEmulatorFunction)},
        {"cuprumEmulatorIsImplemented", reinterpret_cast<void*>(&cuprumEmulatorIsImplemented)},
    };
    for (const OwnEntry& own : own_entries) {
        if (own.name == name) {
            *address = own.address;
            return CU_GET_PROC_ADDRESS_SUCCESS;
        }
    }
    const bool wants_per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    const auto versions =
        std::ranges::equal_range(rows(), std::string_view(name), {},
                                 [](const Row* row) { return std::string_view(row->name); });
    const Row* best = nullptr;
    for (const Row* each : versions) { // newer ones follow, then those for per-thread streams
        if (each->version <= version && (!each->is_per_thread || wants_per_thread)) {
            best = each;
        }
    }
    if (best == nullptr) {
        return versions.empty() ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
                                : CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    }
    *address = best->address;
    return CU_GET_PROC_ADDRESS_SUCCESS;
}

// NVRTC asks for this table whenever it compiles, and works without it.
constexpr std::string_view TABLE_OF_NVRTC = "da9151d33ae6cc41a5c04f26d533e328";

/// Returns the runtime library beside this driver that takes the place of NVIDIA's shared one;
/// nothing if `file` is another library, or if there is none.
std::filesystem::path replacement_of(const std::filesystem::path& file) {
    constexpr std::string_view prefix = "libcudart.so.";
    const std::string name = file.filename();
    Dl_info own{};
    if (!name.starts_with(prefix) || ::dladdr(reinterpret_cast<const void*>(&cuInit), &own) == 0) {
        return {};
    }
    std::error_code error;
    const std::string major = name.substr(0, name.find('.', prefix.size()));
    const auto path = std::filesystem::canonical(own.dli_fname, error).replace_filename(major);
    return std::filesystem::exists(path, error) ? path : std::filesystem::path();
}

/// Logs which table was requested. The first time that a library asks, it explains what to do.
void explain_export_tables(const CUuuid& id) {
    std::string text;
    for (const char byte : id.bytes) {
        constexpr std::string_view digits = "0123456789abcdef";
        text += digits[static_cast<unsigned char>(byte) >> 4U];
        text += digits[static_cast<unsigned char>(byte) & 15U];
    }
    log(LogLevel::Info, "cuGetExportTable: there is no table " + text);
    if (text == TABLE_OF_NVRTC) {
        return;
    }
    const std::string file = places::calling_file();
    static std::mutex mutex;
    static std::set<std::string> explained;
    if (const std::lock_guard lock(mutex); !explained.insert(file).second) {
        return;
    }
    const std::string library = places::calling_library();
    if (const auto ours = replacement_of(file); !ours.empty()) {
        log(LogLevel::Error,
            file + " is NVIDIA's CUDA runtime" + (library.empty() ? "" : ", used by " + library) +
                ". It asks for private tables of NVIDIA's driver, which the emulated device does "
                "not have. Load Cuprum's runtime before it: LD_PRELOAD=" +
                ours.string() + " cuprum-emulator run PROGRAM");
        return;
    }
    log(LogLevel::Error,
        (library.empty() ? "the program" : library) +
            " asks for private tables of NVIDIA's driver, which the emulated device does not have. "
            "It contains NVIDIA's CUDA runtime: if you build it yourself, link it with 'nvcc "
            "-cudart shared' (CMake: CUDA_RUNTIME_LIBRARY Shared) and start the program with "
            "'cuprum-emulator run', which provides another runtime library. If not, that part "
            "needs a GPU or another library");
}

} // namespace

ROW(cuInit, 2000, Early, Flags<> /*flags*/) {
    Driver::instance().initialize();
}

ROW(cuDriverGetVersion, 2020, Early, int* driverVersion) {
    put(driverVersion, driver_version());
}

ROW(cuGetProcAddress_v2, 12000, Early, const char* symbol, void** pfn, int cudaVersion,
    cuuint64_t flags, CUdriverProcAddressQueryResult* symbolStatus) {
    const auto status = find_entry_point(symbol, cudaVersion, flags, pfn);
    put_optional(symbolStatus, status);
}

FORWARD(cuGetProcAddress, 11030, const char* symbol, void** pfn, int cudaVersion,
        cuuint64_t flags) {
    return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, nullptr);
}

ANSWER(cuGetExportTable, 3000, Early, const void*& ppExportTable, const CUuuid& pExportTableId) {
    ppExportTable = nullptr;
    // NOTE: these tables are private to NVIDIA's own libraries, and we do not provide them on
    // purpose. NVIDIA's runtime library uses one of them to verify the driver, and an answer
    // would circumvent that. Programs use our runtime library instead.
    explain_export_tables(pExportTableId);
    return CUDA_ERROR_NOT_FOUND;
}

ROW(cuProfilerStart, 4000) {}

ROW(cuProfilerStop, 4000) {}
