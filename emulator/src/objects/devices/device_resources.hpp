// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// How a device is divided: ranges of its numbered multiprocessors.
//
// A CUdevResource is a value that the program holds. Its private bytes store what we need later:
// the device, the multiprocessors and the split that it came from.

#pragma once

#include "objects/process/handle_table.hpp"

#include <cuda.h>

#include <cstdint>
#include <span>
#include <vector>

namespace cuprum::emulator {

class Device;

/// Multiprocessors `first` to `first + count - 1` of a device.
struct SmRange {
    std::uint32_t first = 0;
    std::uint32_t count = 0;

    bool operator==(const SmRange&) const = default;
};

/// How the multiprocessors of a compute capability can be divided.
struct SmGranularity {
    std::uint32_t smallest = 1; // count of a group
    std::uint32_t step = 1;     // counts are multiples of this
};

/// Returns how a device can be divided. `flags` are those of a split.
[[nodiscard]] SmGranularity sm_granularity(const Device& device, unsigned flags);

/// Describes a range for the program. It can be divided again.
[[nodiscard]] CUdevResource make_resource(const Device& device, std::span<const SmRange> ranges);

/// Divides a resource into groups of at least `least` multiprocessors: cuDevSmResourceSplitByCount.
///
/// Writes at most `limit` groups to `groups`, which may be nullptr, and returns their number.
unsigned split_resource(CUdevResource* groups, unsigned limit, const CUdevResource& input,
                        CUdevResource* remaining, unsigned flags, unsigned least);

/// The multiprocessors that a green context will have. A CUdevResourceDesc is the handle of one.
class ResourceDescription final : public Object {
public:
    ResourceDescription(int device, std::vector<SmRange> ranges)
        : device_(device), ranges_(std::move(ranges)) {}

    [[nodiscard]] int device() const noexcept { return device_; }

    [[nodiscard]] const std::vector<SmRange>& ranges() const noexcept { return ranges_; }

private:
    int device_;
    std::vector<SmRange> ranges_;
};

/// Returns the handle of a description. Equal resources get the same handle, because CUDA has no
/// function to release one.
[[nodiscard]] CUdevResourceDesc describe_resources(std::span<const CUdevResource> resources);

} // namespace cuprum::emulator
