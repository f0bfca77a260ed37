// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/fake_nvml.hpp"

#include "libraries/nvml.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <stdexcept>

namespace cuprum::testing {

using namespace nvml_abi;

namespace {

FakeNvml* fake = nullptr;

nvmlDevice_t device_handle(unsigned index) {
    return reinterpret_cast<nvmlDevice_t>(std::uintptr_t{0x1000} * (index + 1));
}

unsigned index_of(nvmlDevice_t device) {
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(device) / 0x1000 - 1);
}

std::string uuid_of(unsigned index) {
    return fake->uuid_prefix + "00000000-0000-0000-0000-00000000000" + std::to_string(index);
}

std::string address_of(unsigned index) {
    return "00000000:0" + std::to_string(index) + ":00.0";
}

nvmlReturn_t write(const std::string& text, char* place, unsigned length) {
    if (text.size() >= length) {
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    std::strcpy(place, text.c_str());
    return NVML_SUCCESS;
}

template <typename T>
nvmlReturn_t write(const std::vector<T>& all, unsigned* count, T* place) {
    const bool fits = *count >= all.size();
    if (fits && place != nullptr) {
        std::copy(all.begin(), all.end(), place);
    }
    *count = static_cast<unsigned>(all.size());
    return fits ? NVML_SUCCESS : NVML_ERROR_INSUFFICIENT_SIZE;
}

/// Answers as the functions of the topology do: a count of 0 asks how many there are.
nvmlReturn_t write_all(const std::vector<nvmlDevice_t>& all, unsigned* count,
                       nvmlDevice_t* devices) {
    if (*count == 0) {
        *count = static_cast<unsigned>(all.size());
        return NVML_SUCCESS;
    }
    return *count == all.size() ? write(all, count, devices) : NVML_ERROR_INVALID_ARGUMENT;
}

/// Returns what a function must fail with, or success; counts the call.
nvmlReturn_t begin(const char* function) {
    const std::lock_guard lock(fake->mutex);
    ++fake->calls[function];
    const auto found = fake->failures.find(function);
    if (found != fake->failures.end()) {
        return found->second;
    }
    const bool needs_init = std::string_view(function) != "nvmlInit_v2";
    return needs_init && !fake->is_initialized ? NVML_ERROR_UNINITIALIZED : NVML_SUCCESS;
}

/// Stands for one function of NVML: fails on request, else runs its answer, else succeeds.
template <auto Member>
struct Fake;

template <typename... Params, libraries::Entry<nvmlReturn_t(Params...)> nvml::Table::* Member>
struct Fake<Member> {
    static inline nvmlReturn_t (*answer)(Params...) = nullptr;

    static nvmlReturn_t call(Params... args) {
        const nvmlReturn_t status = begin((nvml::table().*Member).name);
        return status == NVML_SUCCESS && answer != nullptr ? answer(args...) : status;
    }
};

template <auto Member>
void set_answer(nvml::Table& table, decltype(Fake<Member>::answer) answer) {
    Fake<Member>::answer = answer;
    table.*Member = &Fake<Member>::call;
}

void add_devices(nvml::Table& table) {
    using T = nvml::Table;
    set_answer<&T::nvmlInit_v2>(table, []() -> nvmlReturn_t {
        fake->is_initialized = true;
        return NVML_SUCCESS;
    });
    set_answer<&T::nvmlDeviceGetCount_v2>(table, [](unsigned* count) -> nvmlReturn_t {
        *count = FakeNvml::DEVICE_COUNT;
        return NVML_SUCCESS;
    });
    set_answer<&T::nvmlDeviceGetHandleByIndex_v2>(
        table, [](unsigned index, nvmlDevice_t* device) -> nvmlReturn_t {
            if (index >= FakeNvml::DEVICE_COUNT) {
                return NVML_ERROR_INVALID_ARGUMENT;
            }
            *device = device_handle(index);
            return NVML_SUCCESS;
        });
    set_answer<&T::nvmlDeviceGetIndex>(table,
                                       [](nvmlDevice_t device, unsigned* index) -> nvmlReturn_t {
                                           *index = index_of(device);
                                           return NVML_SUCCESS;
                                       });
    set_answer<&T::nvmlDeviceGetHandleByUUID>(
        table, [](const char* uuid, nvmlDevice_t* device) -> nvmlReturn_t {
            for (unsigned i = 0; i < FakeNvml::DEVICE_COUNT; ++i) {
                if (uuid == uuid_of(i)) {
                    *device = device_handle(i);
                    return NVML_SUCCESS;
                }
            }
            return NVML_ERROR_NOT_FOUND;
        });
    set_answer<&T::nvmlDeviceGetHandleByPciBusId_v2>(
        table, [](const char* bus_id, nvmlDevice_t* device) -> nvmlReturn_t {
            for (unsigned i = 0; i < FakeNvml::DEVICE_COUNT; ++i) {
                if (bus_id == address_of(i)) {
                    *device = device_handle(i);
                    return NVML_SUCCESS;
                }
            }
            return NVML_ERROR_NOT_FOUND;
        });
    set_answer<&T::nvmlDeviceGetUUID>(
        table, [](nvmlDevice_t device, char* uuid, unsigned length) -> nvmlReturn_t {
            return write(uuid_of(index_of(device)), uuid, length);
        });
    set_answer<&T::nvmlDeviceGetSerial>(
        table, [](nvmlDevice_t, char* serial, unsigned length) -> nvmlReturn_t {
            return write(fake->serial, serial, length);
        });
    set_answer<&T::nvmlDeviceGetName>(
        table, [](nvmlDevice_t, char* name, unsigned length) -> nvmlReturn_t {
            return write("Fake GPU", name, length);
        });
    set_answer<&T::nvmlDeviceGetPciInfoExt>(
        table, [](nvmlDevice_t device, nvmlPciInfoExt_t* info) -> nvmlReturn_t {
            if (info->version != nvmlPciInfoExt_v1) {
                return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
            }
            info->bus = index_of(device);
            info->pciDeviceId = 0x233010de;
            info->baseClass = 3;
            return write(address_of(index_of(device)), info->busId, sizeof(info->busId));
        });
    set_answer<&T::nvmlDeviceGetPciInfo_v3>(
        table, [](nvmlDevice_t device, nvmlPciInfo_t* info) -> nvmlReturn_t {
            info->bus = index_of(device);
            return write(address_of(index_of(device)), info->busId, sizeof(info->busId));
        });
    set_answer<&T::nvmlSystemGetTopologyGpuSet>(
        table, [](unsigned cpu, unsigned* count, nvmlDevice_t* devices) -> nvmlReturn_t {
            return write_all(cpu == 0 ? std::vector{device_handle(1)} : std::vector<nvmlDevice_t>(),
                             count, devices);
        });
    set_answer<&T::nvmlDeviceGetTopologyNearestGpus>(
        table,
        [](nvmlDevice_t device, nvmlGpuTopologyLevel_t, unsigned* count,
           nvmlDevice_t* devices) -> nvmlReturn_t {
            return write_all(std::vector{device_handle(1 - index_of(device))}, count, devices);
        });
}

void add_state(nvml::Table& table) {
    using T = nvml::Table;
    set_answer<&T::nvmlSystemGetDriverVersion>(table,
                                               [](char* version, unsigned length) -> nvmlReturn_t {
                                                   return write("535.104.05", version, length);
                                               });
    set_answer<&T::nvmlSystemGetNVMLVersion>(table,
                                             [](char* version, unsigned length) -> nvmlReturn_t {
                                                 return write("12.535.104.05", version, length);
                                             });
    set_answer<&T::nvmlSystemGetCudaDriverVersion_v2>(table, [](int* version) -> nvmlReturn_t {
        *version = 12020;
        return NVML_SUCCESS;
    });
    set_answer<&T::nvmlDeviceGetComputeRunningProcesses_v3>(
        table, [](nvmlDevice_t, unsigned* count, nvmlProcessInfo_t* processes) -> nvmlReturn_t {
            return write(fake->processes, count, processes);
        });
    set_answer<&T::nvmlDeviceGetMemoryInfo_v2>(
        table, [](nvmlDevice_t, nvmlMemory_v2_t* memory) -> nvmlReturn_t {
            if (memory->version != nvmlMemory_v2) {
                return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
            }
            memory->total = 100;
            memory->free = 70;
            memory->used = 20;
            memory->reserved = 10;
            return NVML_SUCCESS;
        });
    set_answer<&T::nvmlDeviceGetTemperatureV>(
        table, [](nvmlDevice_t, nvmlTemperature_t* temperature) -> nvmlReturn_t {
            temperature->temperature = 41;
            return NVML_SUCCESS;
        });
    set_answer<&T::nvmlDeviceGetTemperature>(
        table, [](nvmlDevice_t, nvmlTemperatureSensors_t, unsigned* temperature) -> nvmlReturn_t {
            *temperature = 42;
            return NVML_SUCCESS;
        });
    constexpr auto reasons = +[](nvmlDevice_t, unsigned long long* mask) -> nvmlReturn_t {
        *mask = fake->clock_reasons;
        return NVML_SUCCESS;
    };
    set_answer<&T::nvmlDeviceGetCurrentClocksEventReasons>(table, reasons);
    set_answer<&T::nvmlDeviceGetCurrentClocksThrottleReasons>(table, reasons);
    set_answer<&T::nvmlDeviceGetPerformanceState>(
        table, [](nvmlDevice_t, nvmlPstates_t* pstate) -> nvmlReturn_t {
            *pstate = fake->pstate;
            return NVML_SUCCESS;
        });
    set_answer<&T::nvmlDeviceGetSupportedPerformanceStates>(
        table, [](nvmlDevice_t, nvmlPstates_t* states, unsigned size) -> nvmlReturn_t {
            if (size != 16 * sizeof(*states)) {
                return NVML_ERROR_INSUFFICIENT_SIZE;
            }
            states[0] = NVML_PSTATE_0;
            states[1] = NVML_PSTATE_8;
            return NVML_SUCCESS;
        });
    set_answer<&T::nvmlDeviceGetNumFans>(table, [](nvmlDevice_t, unsigned* count) -> nvmlReturn_t {
        *count = fake->fans;
        return NVML_SUCCESS;
    });
    set_answer<&T::nvmlDeviceGetCoolerInfo>(
        table, [](nvmlDevice_t, nvmlCoolerInfo_t* cooler) -> nvmlReturn_t {
            cooler->signalType = NVML_THERMAL_COOLER_SIGNAL_VARIABLE;
            cooler->target = NVML_THERMAL_COOLER_TARGET_GPU_RELATED;
            return NVML_SUCCESS;
        });
    set_answer<&T::nvmlDeviceGetFieldValues>(
        table, [](nvmlDevice_t, int count, nvmlFieldValue_t* fields) -> nvmlReturn_t {
            for (int i = 0; i < count; ++i) {
                fields[i].timestamp = 7;
                fields[i].valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
                fields[i].value.uiVal = 3 + fields[i].scopeId;
                fields[i].nvmlReturn = fields[i].fieldId == NVML_FI_DEV_ECC_CURRENT
                                           ? NVML_ERROR_NOT_SUPPORTED
                                           : NVML_SUCCESS;
                if (fields[i].fieldId == NVML_FI_DEV_ECC_PENDING) {
                    fields[i].valueType = NVML_VALUE_TYPE_DOUBLE;
                    fields[i].value.dVal = 2.5;
                }
            }
            return NVML_SUCCESS;
        });
    set_answer<&T::nvmlDeviceGetNvLinkVersion>(
        table, [](nvmlDevice_t, unsigned, unsigned* version) -> nvmlReturn_t {
            *version = fake->nvlink_version;
            return NVML_SUCCESS;
        });
    set_answer<&T::nvmlDeviceGetCpuAffinityWithinScope>(
        table,
        [](nvmlDevice_t, unsigned, unsigned long* words, nvmlAffinityScope_t) -> nvmlReturn_t {
            words[0] = 0b1001;
            return NVML_SUCCESS;
        });
    set_answer<&T::nvmlDeviceGetMaxMigDeviceCount>(
        table, [](nvmlDevice_t, unsigned* count) -> nvmlReturn_t {
            *count = 3;
            return NVML_SUCCESS;
        });
    set_answer<&T::nvmlDeviceGetMigDeviceHandleByIndex>(
        table, [](nvmlDevice_t, unsigned index, nvmlDevice_t* device) -> nvmlReturn_t {
            const auto& missing = fake->missing_mig_devices;
            if (std::find(missing.begin(), missing.end(), index) != missing.end()) {
                return NVML_ERROR_NOT_FOUND;
            }
            *device = device_handle(10 + index);
            return NVML_SUCCESS;
        });
    set_answer<&T::nvmlDeviceSetMigMode>(
        table, [](nvmlDevice_t, unsigned, nvmlReturn_t* activation) -> nvmlReturn_t {
            *activation = fake->mig_activation;
            return NVML_SUCCESS;
        });
}

void add_events(nvml::Table& table) {
    using T = nvml::Table;
    set_answer<&T::nvmlEventSetCreate>(table, [](nvmlEventSet_t* set) -> nvmlReturn_t {
        ++fake->live_sets;
        *set = reinterpret_cast<nvmlEventSet_t>(fake);
        return NVML_SUCCESS;
    });
    set_answer<&T::nvmlEventSetFree>(table, [](nvmlEventSet_t) -> nvmlReturn_t {
        --fake->live_sets;
        return NVML_SUCCESS;
    });
    set_answer<&T::nvmlEventSetWait_v2>(
        table, [](nvmlEventSet_t, nvmlEventData_t* data, unsigned) -> nvmlReturn_t {
            if (fake->events.empty()) {
                return NVML_ERROR_TIMEOUT;
            }
            *data = fake->events.front();
            fake->events.erase(fake->events.begin());
            return NVML_SUCCESS;
        });
    set_answer<&T::nvmlSystemEventSetCreate>(
        table, [](nvmlSystemEventSetCreateRequest_t* request) -> nvmlReturn_t {
            ++fake->live_sets;
            request->set = reinterpret_cast<nvmlSystemEventSet_t>(fake);
            return NVML_SUCCESS;
        });
    set_answer<&T::nvmlSystemEventSetFree>(table,
                                           [](nvmlSystemEventSetFreeRequest_t*) -> nvmlReturn_t {
                                               --fake->live_sets;
                                               return NVML_SUCCESS;
                                           });
    set_answer<&T::nvmlSystemEventSetWait>(
        table, [](nvmlSystemEventSetWaitRequest_t* request) -> nvmlReturn_t {
            const auto count = std::min<std::size_t>(fake->system_events.size(), request->dataSize);
            std::copy_n(fake->system_events.begin(), count, request->data);
            request->numEvent = static_cast<unsigned>(count);
            return count == 0 ? NVML_ERROR_TIMEOUT : NVML_SUCCESS;
        });
}

} // namespace

FakeNvml::FakeNvml() {
    if (fake != nullptr) {
        throw std::logic_error("there is a fake NVML already");
    }
    fake = this;
#define CUPRUM_NVML_FUNCTION(function, driver) set_answer<&nvml::Table::function>(table_, nullptr);
#include "libraries/nvml.def"
#undef CUPRUM_NVML_FUNCTION
    add_devices(table_);
    add_state(table_);
    add_events(table_);
    previous_ = nvml::Library::exchange_table(&table_);
    nvml::state = nvml::State::Uninitialized;
}

FakeNvml::~FakeNvml() {
    nvml::Library::exchange_table(previous_);
    nvml::state = nvml::State::Uninitialized;
    fake = nullptr;
}

} // namespace cuprum::testing
