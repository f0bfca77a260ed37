// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <atomic>

namespace cuprum::python {

/// The data that nearly every call reads, in one cache line: a driver call evicts everything else
/// of ours. The code that uses a member gives it a name of its own.
struct alignas(64) HotData {
    PyTypeObject* stream_type = nullptr;
    PyTypeObject* buffer_type = nullptr;
    PyTypeObject* kernel_type = nullptr;
    PyTypeObject* launch_config_type = nullptr;
    PyTypeObject* device_pool_type = nullptr;
    PyObject* legacy_default = nullptr;
    PyObject* per_thread_default = nullptr;
    std::atomic<bool> may_driver_run_python = false;
    std::atomic<bool> follows_reference = false;
    // Set when the module is imported, before any other thread sees them; see fast_paths.hpp.
    bool reads_instances = false;
    bool reads_ints = false;
};

static_assert(sizeof(HotData) == 64);

inline constinit HotData hot_data;

} // namespace cuprum::python
