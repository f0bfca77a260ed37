// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Versions, processes by number, and events of the system, which never happen here.

#include "library.hpp"
#include "row.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>
#include <iterator>
#include <mutex>
#include <set>
#include <string>
#include <thread>

namespace nvml_abi {

struct nvmlSystemEventSet_st {
    unsigned long long event_types = 0;
};

} // namespace nvml_abi

using namespace cuprum::nvml;

namespace {

// Clients check versions. These are the ones of the first drivers for the CUDA version that the
// emulated driver reports.
std::string kernel_driver_version() {
    struct Branch {
        int cuda;
        const char* driver;
    };

    constexpr Branch branches[] = {{13040, "615.00"}, {13030, "610.00"}, {13020, "595.00"},
                                   {13010, "590.00"}, {13000, "580.00"}, {12090, "575.00"},
                                   {12080, "570.00"}, {12060, "560.00"}, {12050, "555.00"},
                                   {12040, "550.00"}, {12030, "545.00"}, {12020, "535.00"},
                                   {12010, "530.00"}};
    for (const Branch& each : branches) {
        if (cuprum::emulator::driver_version() >= each.cuda) {
            return each.driver;
        }
    }
    return "525.00";
}

std::string nvml_version() {
    return std::to_string(cuprum::emulator::driver_version() / 1000) + "." +
           kernel_driver_version();
}

constexpr const char* DRIVER_BRANCH = "cuprum-emulator";

std::mutex system_event_mutex;
[[maybe_unused]] const bool are_system_events_ready =
    keep_unlocked_in_children<system_event_mutex>();

/// The sets that exist. Never destroyed: a client may free its sets while the process exits.
std::set<nvmlSystemEventSet_t>& system_event_sets() {
    static auto* const sets = new std::set<nvmlSystemEventSet_t>;
    return *sets;
}

void require_system_set(nvmlSystemEventSet_t set) {
    require(system_event_sets().contains(set));
}

} // namespace

ROW(nvmlSystemGetDriverVersion, char* version, unsigned int length) {
    write_text(kernel_driver_version(), version, length);
}

ROW(nvmlSystemGetNVMLVersion, char* version, unsigned int length) {
    write_text(nvml_version(), version, length);
}

ROW(nvmlSystemGetDriverBranch, nvmlSystemDriverBranchInfo_t& branch_info, unsigned int length) {
    require_version(branch_info.version, nvmlSystemDriverBranchInfo_v1);
    write_text(DRIVER_BRANCH, branch_info.branch,
               std::min(length, NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE));
}

ROW(nvmlSystemGetCudaDriverVersion, int& cuda_driver_version) {
    cuda_driver_version = cuprum::emulator::driver_version();
}

ALIAS(nvmlSystemGetCudaDriverVersion_v2, nvmlSystemGetCudaDriverVersion);

ROW(nvmlSystemGetProcessName, unsigned int pid, char* name, unsigned int length) {
    require(name, length);
    const std::string folder = "/proc/" + std::to_string(pid);
    std::ifstream file(folder + "/cmdline", std::ios::binary);
    if (!file) {
        fail(errno == EACCES ? NVML_ERROR_NO_PERMISSION : NVML_ERROR_NOT_FOUND);
    }
    std::string text;
    std::getline(file, text, '\0'); // the program; its arguments follow
    if (text.empty()) {             // a thread of the kernel, or a process that has ended
        std::ifstream short_name(folder + "/comm");
        std::getline(short_name, text);
    }
    write_text(text, name, length);
}

// ---- events of the system ----

ROW(nvmlSystemEventSetCreate, nvmlSystemEventSetCreateRequest_t& request) {
    require_version(request.version, nvmlSystemEventSetCreateRequest_v1);
    const std::lock_guard lock(system_event_mutex);
    request.set = *system_event_sets().insert(new nvmlSystemEventSet_st).first;
}

ROW(nvmlSystemEventSetFree, nvmlSystemEventSetFreeRequest_t& request) {
    require_version(request.version, nvmlSystemEventSetFreeRequest_v1);
    const std::lock_guard lock(system_event_mutex);
    require_system_set(request.set);
    system_event_sets().erase(request.set);
    delete request.set;
}

ROW(nvmlSystemRegisterEvents, nvmlSystemRegisterEventRequest_t* request) {
    constexpr unsigned long long known =
        nvmlSystemEventTypeGpuDriverBind | nvmlSystemEventTypeGpuDriverUnbind;
    require(request);
    require_version(request->version, nvmlSystemRegisterEventRequest_v1);
    require((request->eventTypes & ~known) == 0);
    const std::lock_guard lock(system_event_mutex);
    require_system_set(request->set);
    request->set->event_types |= request->eventTypes;
}

ROW(nvmlSystemEventSetWait, nvmlSystemEventSetWaitRequest_t& request) {
    require_version(request.version, nvmlSystemEventSetWaitRequest_v1);
    {
        const std::lock_guard lock(system_event_mutex);
        require_system_set(request.set);
    }
    require(request.data, request.dataSize);
    request.numEvent = 0;
    // The emulated driver is never bound to a device nor unbound from it.
    std::this_thread::sleep_for(std::chrono::milliseconds(request.timeoutms));
    fail(NVML_ERROR_TIMEOUT);
}

// ---- units: racks of the S class, which only old servers have ----

ROW(nvmlUnitGetCount, unsigned int& unit_count) {
    unit_count = 0;
}
