// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A management library with two devices. Queries without an answer of their own succeed with zeros.

#pragma once

#include "libraries/nvml.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::testing {

/// Installs the fake library for a scope; there may be only one at a time. NVML counts as not
/// initialised at its beginning and end.
class FakeNvml {
public:
    static constexpr unsigned DEVICE_COUNT = 2;

    FakeNvml();
    ~FakeNvml();
    FakeNvml(const FakeNvml&) = delete;
    FakeNvml& operator=(const FakeNvml&) = delete;

    /// Makes every call of a function return a code.
    void fail(const std::string& function, nvml_abi::nvmlReturn_t status) {
        failures[function] = status;
    }

    /// Makes a function missing, as in an older library.
    void remove(const std::string& function) {
        fail(function, nvml_abi::NVML_ERROR_FUNCTION_NOT_FOUND);
    }

    std::map<std::string, nvml_abi::nvmlReturn_t, std::less<>> failures; // by function
    std::map<std::string, int, std::less<>> calls;                       // by function
    int live_sets = 0;                                                   // of events
    bool is_initialized = false; // nvmlInit ran; queries fail before
    std::vector<nvml_abi::nvmlProcessInfo_t> processes;
    std::vector<nvml_abi::nvmlEventData_t> events; // waiting to be delivered
    std::vector<nvml_abi::nvmlSystemEventData_v1_t> system_events;
    unsigned long long clock_reasons = 0;
    nvml_abi::nvmlPstates_t pstate = nvml_abi::NVML_PSTATE_0;
    std::string serial = "1234";
    std::string uuid_prefix = "GPU-";
    unsigned fans = 2;
    unsigned nvlink_version = 6;
    std::vector<unsigned> missing_mig_devices; // by index
    nvml_abi::nvmlReturn_t mig_activation = nvml_abi::NVML_SUCCESS;
    std::mutex mutex;

private:
    nvml::Table table_;
    nvml::Table* previous_;
};

} // namespace cuprum::testing
