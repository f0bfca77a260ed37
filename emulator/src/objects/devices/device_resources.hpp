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
#include <optional>
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

/// A group of a structured split.
struct StructuredGroup {
    std::uint32_t count = 0;       // 0: as many as possible; the split writes the number here
    std::uint32_t coscheduled = 0; // 0: as usual for the device
    bool is_backfilled = false;    // the number need not be a multiple of `coscheduled`
};

/// Divides a resource into groups of given sizes, and a rest: cuDevSmResourceSplit. If `results` is
/// nullptr, it only computes the sizes.
void split_structured(CUdevResource* results, std::span<StructuredGroup> groups,
                      const CUdevResource& input, CUdevResource* remainder);

/// The wishes of a program for work queues, of CUDA 13.1. They make no difference here.
struct WorkqueueConfig {
    int device = 0;
    std::uint32_t concurrency_limit = 8;
    std::uint32_t sharing_scope = 0;

    bool operator==(const WorkqueueConfig&) const = default;
};

/// CU_DEV_RESOURCE_TYPE_WORKQUEUE_CONFIG, which older headers lack.
constexpr unsigned WORKQUEUE_CONFIG_TYPE = 1000;

class GreenContext;

/// Returns a resource of a device, or of a green context unless that is nullptr.
///
/// @throws Error INVALID_RESOURCE_TYPE for resources that the device does not have.
[[nodiscard]] CUdevResource resource_of(const Device& device, const GreenContext* green,
                                        CUdevResourceType type);

/// What a green context will have. A CUdevResourceDesc is the handle of one.
class ResourceDescription final : public Object {
public:
    ResourceDescription(int device, std::vector<SmRange> ranges, WorkqueueConfig queues)
        : device_(device), ranges_(std::move(ranges)), queues_(queues) {}

    [[nodiscard]] int device() const noexcept { return device_; }

    [[nodiscard]] const std::vector<SmRange>& ranges() const noexcept { return ranges_; }

    [[nodiscard]] const WorkqueueConfig& queues() const noexcept { return queues_; }

private:
    int device_;
    std::vector<SmRange> ranges_;
    WorkqueueConfig queues_;
};

/// Returns the handle of a description. Equal resources get the same handle, because CUDA has no
/// function to release one.
[[nodiscard]] CUdevResourceDesc describe_resources(std::span<const CUdevResource> resources);

} // namespace cuprum::emulator
