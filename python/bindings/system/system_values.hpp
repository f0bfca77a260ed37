// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Values that need more than the core keeps.

#pragma once

#include <cuprum/system/device.hpp>
#include <cuprum/system/sampling.hpp>
#include <cuprum/system/values.hpp>

namespace cuprum::python {

/// NVML's code for what a device lacks.
inline constexpr int NOT_SUPPORTED = 3;

/// BAR1 memory, which is a kind of MemoryInfo in Python.
struct PyBar1MemoryInfo : system::MemoryInfo {
    explicit PyBar1MemoryInfo(const system::BAR1MemoryInfo& info)
        : system::MemoryInfo{info.total, info.free, info.used, 0} {}
};

/// A process and the device that it uses.
struct PyProcessInfo {
    system::ProcessInfo info;
    system::Device device;
};

} // namespace cuprum::python
