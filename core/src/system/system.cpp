// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/system/system.hpp>

#include "system/query.hpp"

#include <cuprum/error.hpp>
#include <cuprum/system/device.hpp>
#include <cuprum/version.hpp>

#include <cstdlib>

namespace cuprum::system {

using namespace nvml_abi;

namespace {

/// Reads "580.65.06" as {580, 65, 6}.
std::vector<int> numbers_of(const std::string& version) {
    std::vector<int> numbers;
    const char* text = version.c_str();
    for (char* end = nullptr;; text = end + 1) {
        const long number = std::strtol(text, &end, 10);
        if (end == text) {
            return numbers;
        }
        numbers.push_back(static_cast<int>(number));
        if (*end != '.') {
            return numbers;
        }
    }
}

} // namespace

CudaVersion user_mode_driver_version() {
    int version = 0;
    try {
        nvml::call(nvml::table().nvmlSystemGetCudaDriverVersion_v2, &version);
    } catch (const LibraryNotFoundError&) {
        version = driver_version();
    }
    return {version / 1000, version % 1000 / 10};
}

std::vector<int> kernel_mode_driver_version() {
    return numbers_of(query_text<NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE>(
        nvml::table().nvmlSystemGetDriverVersion));
}

std::vector<int> nvml_version() {
    return numbers_of(
        query_text<NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE>(nvml::table().nvmlSystemGetNVMLVersion));
}

std::string driver_branch() {
    nvmlSystemDriverBranchInfo_t answer{};
    answer.version = nvmlSystemDriverBranchInfo_v1;
    nvml::call(nvml::table().nvmlSystemGetDriverBranch, &answer,
               NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE);
    return answer.branch;
}

std::string process_name(unsigned pid) {
    constexpr std::size_t max_length = 4096;
    // NVML remembers the names of processes that it has listed.
    for (const Device& device : Device::all()) {
        unsigned count = 0;
        static_cast<void>(nvml::try_call(nvml::table().nvmlDeviceGetComputeRunningProcesses_v3,
                                         native(device.handle()), &count,
                                         static_cast<nvmlProcessInfo_t*>(nullptr)));
    }
    const auto& entry = nvml::table().nvmlSystemGetProcessName;
    std::vector<char> name(max_length);
    const nvmlReturn_t status =
        nvml::try_call(entry, pid, name.data(), static_cast<unsigned>(name.size()));
    if (status != NVML_SUCCESS) {
        const std::string advice = "process " + std::to_string(pid) +
                                   " is gone, or uses no device; list the processes again";
        nvml::raise(status, entry.name, status == NVML_ERROR_NOT_FOUND ? advice : "");
    }
    name.back() = '\0';
    return name.data();
}

std::string library_path() {
    return nvml::Library::loaded().file.path;
}

LibraryState library_state() noexcept {
    return nvml::state.load(std::memory_order_acquire) == nvml::State::Initialized
               ? LibraryState::Initialized
               : LibraryState::Uninitialized;
}

void initialize() {
    if (library_state() != LibraryState::Initialized) {
        nvml::initialize();
    }
}

} // namespace cuprum::system
