// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nanobind/nanobind.h>

#include <atomic>

namespace cuprum::python {

/// What nearly every call reads, in one line of the cache: after a driver call nothing of ours is
/// near the processor. Each has a name of its own where it is used.
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
};

inline constinit HotData hot_data;

} // namespace cuprum::python
