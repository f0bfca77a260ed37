// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/devices/device_resources.hpp"

#include "objects/devices/device.hpp"
#include "objects/devices/green_context.hpp"
#include "objects/process/driver.hpp"
#include "objects/process/error.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <string>

namespace cuprum::emulator {

namespace {

constexpr std::uint32_t MAGIC = 0x43755265; // marks private bytes that we have written
constexpr std::size_t MAX_RANGES = 6;       // that fit into the private bytes

/// The contents of the private bytes of a CUdevResource.
struct Private {
    std::uint32_t magic = 0;
    std::int32_t device = 0;
    std::uint64_t split = 0; // the split that made it; 0 if none did, so that it can be split
    std::uint32_t range_count = 0;
    std::uint32_t unused = 0;
    std::array<SmRange, MAX_RANGES> ranges{};
};

static_assert(sizeof(Private) <= sizeof(CUdevResource::_internal_padding));

constexpr unsigned KNOWN_FLAGS = CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING |
                                 CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE;

std::atomic<std::uint64_t> next_split{1};

std::uint32_t count_of(std::span<const SmRange> ranges) {
    std::uint32_t count = 0;
    for (const SmRange& range : ranges) {
        count += range.count;
    }
    return count;
}

CUdevResource make(const Device& device, std::span<const SmRange> ranges, std::uint64_t split) {
    Private inside;
    inside.magic = MAGIC;
    inside.device = device.ordinal();
    inside.split = split;
    inside.range_count = static_cast<std::uint32_t>(ranges.size());
    std::ranges::copy(ranges, inside.ranges.begin());
    const SmGranularity granularity = sm_granularity(device, 0);
    CUdevResource resource{};
    resource.type = CU_DEV_RESOURCE_TYPE_SM;
    std::memcpy(resource._internal_padding, &inside, sizeof inside);
    resource.sm.smCount = count_of(ranges);
    resource.sm.minSmPartitionSize = granularity.smallest;
    resource.sm.smCoscheduledAlignment = granularity.step;
    return resource;
}

/// Reads the private bytes. A program may have written anything there.
Private inside_of(const CUdevResource& resource) {
    if (resource.type != CU_DEV_RESOURCE_TYPE_SM) {
        fail(CUDA_ERROR_INVALID_RESOURCE_TYPE, "the resource is not of multiprocessors");
    }
    Private inside;
    std::memcpy(static_cast<void*>(&inside), resource._internal_padding, sizeof inside);
    require(inside.magic == MAGIC && inside.range_count <= MAX_RANGES,
            "the resource was not made by this driver");
    const Device& device = device_at(inside.device);
    for (std::uint32_t index = 0; index < inside.range_count; ++index) {
        const SmRange& range = inside.ranges[index];
        require(range.first <= device.sm_count() && range.count <= device.sm_count() - range.first,
                "the resource was not made by this driver");
    }
    return inside;
}

/// Takes `count` multiprocessors from the front of some ranges.
std::vector<SmRange> take(std::vector<SmRange>& from, std::uint32_t count) {
    std::vector<SmRange> taken;
    while (count != 0 && !from.empty()) {
        SmRange& front = from.front();
        const std::uint32_t part = std::min(count, front.count);
        taken.push_back({front.first, part});
        front.first += part;
        front.count -= part;
        count -= part;
        if (front.count == 0) {
            from.erase(from.begin());
        }
    }
    return taken;
}

} // namespace

SmGranularity sm_granularity(const Device& device, unsigned flags) {
    const bool has_clusters = device.major() >= 9;
    if ((flags & CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING) != 0) {
        return {2, 2};
    }
    return has_clusters ? SmGranularity{8, 8} : SmGranularity{device.major() >= 8 ? 4U : 2U, 2};
}

CUdevResource make_resource(const Device& device, std::span<const SmRange> ranges) {
    return make(device, ranges, 0);
}

unsigned split_resource(CUdevResource* groups, unsigned limit, const CUdevResource& input,
                        CUdevResource* remaining, unsigned flags, unsigned least) {
    const Private inside = inside_of(input);
    const Device& device = device_at(inside.device);
    require((flags & ~KNOWN_FLAGS) == 0, "unknown flags of a split");
    require(flags != KNOWN_FLAGS, "the flags of the split exclude each other");
    require((flags & CU_DEV_SM_RESOURCE_SPLIT_MAX_POTENTIAL_CLUSTER_SIZE) == 0 ||
                device.major() >= 9,
            "clusters need compute capability 9.0 or newer");
    if (inside.split != 0) {
        fail(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
             "the result of a split cannot be split again; make a green context of it first");
    }
    std::vector<SmRange> left(inside.ranges.begin(), inside.ranges.begin() + inside.range_count);
    const std::uint32_t total = count_of(left);
    if (least > total || total == 0) {
        fail(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
             "groups of " + std::to_string(least) +
                 " multiprocessors were requested, but there are " + std::to_string(total) +
                 " (CUPRUM_EMULATOR_MULTIPROCESSORS sets the number)");
    }
    const SmGranularity granularity = sm_granularity(device, flags);
    const std::uint32_t wanted = std::max(least, granularity.smallest);
    // All multiprocessors may form one group, even if their number does not fit the granularity.
    const std::uint32_t size =
        std::min(total, (wanted + granularity.step - 1) / granularity.step * granularity.step);
    const unsigned possible = total / size;
    if (groups == nullptr) {
        return possible;
    }
    const unsigned count = std::min(possible, limit);
    const std::uint64_t split = next_split.fetch_add(1, std::memory_order_relaxed);
    for (unsigned index = 0; index < count; ++index) {
        groups[index] = make(device, take(left, size), split);
    }
    if (remaining != nullptr) {
        *remaining = make(device, left, split);
        if (left.empty()) {
            remaining->type = CU_DEV_RESOURCE_TYPE_INVALID;
        }
    }
    return count;
}

void split_structured(CUdevResource* results, std::span<StructuredGroup> groups,
                      const CUdevResource& input, CUdevResource* remainder) {
    const Private inside = inside_of(input);
    const Device& device = device_at(inside.device);
    std::vector<SmRange> left(inside.ranges.begin(), inside.ranges.begin() + inside.range_count);
    const std::uint32_t most_coscheduled = device.major() >= 9 ? 32 : 2;
    std::vector<std::vector<SmRange>> parts;
    for (StructuredGroup& group : groups) {
        const std::uint32_t step =
            group.coscheduled != 0 ? group.coscheduled : sm_granularity(device, 0).step;
        if (step % 2 != 0 || step > most_coscheduled) {
            fail(CUDA_ERROR_INVALID_VALUE,
                 "the number of multiprocessors that are scheduled together must be even and at "
                 "most " +
                     std::to_string(most_coscheduled));
        }
        require(group.count % 2 == 0, "the number of multiprocessors of a group must be even");
        require(group.is_backfilled || group.coscheduled == 0 ||
                    group.count % group.coscheduled == 0,
                "the number of multiprocessors of a group is no multiple of those that are "
                "scheduled together");
        const std::uint32_t available = count_of(left);
        if (group.count > available) {
            fail(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                 "a group of " + std::to_string(group.count) +
                     " multiprocessors was requested, but only " + std::to_string(available) +
                     " are left (CUPRUM_EMULATOR_MULTIPROCESSORS sets the number)");
        }
        if (group.count == 0) {
            const std::uint32_t unit = group.is_backfilled ? 2 : step;
            group.count = available >= step ? available / unit * unit : 0;
        }
        if (results != nullptr && group.count == 0) {
            fail(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                 "no multiprocessors are left for a group");
        }
        parts.push_back(take(left, group.count));
    }
    const std::uint64_t split = next_split.fetch_add(1, std::memory_order_relaxed);
    for (std::size_t index = 0; results != nullptr && index < parts.size(); ++index) {
        results[index] = make(device, parts[index], split);
    }
    if (remainder != nullptr) {
        *remainder = make(device, left, split);
        if (left.empty()) {
            remainder->type = CU_DEV_RESOURCE_TYPE_INVALID;
        }
    }
}

CUdevResource resource_of(const Device& device, const GreenContext* green, CUdevResourceType type) {
    if (static_cast<unsigned>(type) == WORKQUEUE_CONFIG_TYPE) {
        WorkqueueConfig queues;
        queues.device = device.ordinal();
        if (green != nullptr) {
            queues = green->queues();
        }
        CUdevResource resource{};
        resource.type = type;
        std::memcpy(resource._oversize, &queues, sizeof queues);
        return resource;
    }
    if (type != CU_DEV_RESOURCE_TYPE_SM) {
        fail(CUDA_ERROR_INVALID_RESOURCE_TYPE,
             "the resources of this device are multiprocessors and the configuration of work "
             "queues");
    }
    const SmRange all{0, device.sm_count()};
    return green != nullptr ? make_resource(device, green->ranges())
                            : make_resource(device, {&all, 1});
}

CUdevResourceDesc describe_resources(std::span<const CUdevResource> given) {
    require(!given.empty(), "no resource is given");
    // At most one resource configures work queues. The others are multiprocessors.
    std::vector<CUdevResource> resources;
    std::optional<WorkqueueConfig> wanted_queues;
    for (const CUdevResource& resource : given) {
        if (static_cast<unsigned>(resource.type) != WORKQUEUE_CONFIG_TYPE) {
            resources.push_back(resource);
            continue;
        }
        require(!wanted_queues, "work queues are configured twice");
        WorkqueueConfig queues;
        std::memcpy(static_cast<void*>(&queues), resource._oversize, sizeof queues);
        require(queues.concurrency_limit != 0 && queues.sharing_scope <= 1,
                "the configuration of work queues is invalid");
        (void)device_at(queues.device);
        wanted_queues = queues;
    }
    if (resources.empty()) {
        resources.push_back(
            resource_of(device_at(wanted_queues->device), nullptr, CU_DEV_RESOURCE_TYPE_SM));
    }
    const Private first = inside_of(resources.front());
    WorkqueueConfig queues;
    queues.device = first.device;
    if (wanted_queues) {
        require(wanted_queues->device == first.device, "the resources belong to two devices");
        queues = *wanted_queues;
    }
    std::vector<SmRange> ranges;
    for (const CUdevResource& resource : resources) {
        const Private inside = inside_of(resource);
        if (inside.device != first.device || inside.split != first.split ||
            (resources.size() > 1 && inside.split == 0)) {
            fail(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
                 "the resources are not of one device and one split");
        }
        ranges.insert(ranges.end(), inside.ranges.begin(),
                      inside.ranges.begin() + inside.range_count);
    }
    std::ranges::sort(ranges, {}, &SmRange::first);
    std::vector<SmRange> joined;
    for (const SmRange& range : ranges) {
        if (!joined.empty() && range.first < joined.back().first + joined.back().count) {
            fail(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, "a resource is given twice");
        }
        if (!joined.empty() && range.first == joined.back().first + joined.back().count) {
            joined.back().count += range.count;
        } else {
            joined.push_back(range);
        }
    }
    if (joined.size() > MAX_RANGES) {
        fail(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION,
             "the multiprocessors lie in more than 6 separate groups");
    }
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    auto& table = HandleTable::instance();
    for (const auto& object : table.all(HandleKind::ResourceDescription)) {
        const auto& known = static_cast<const ResourceDescription&>(*object);
        if (known.device() == first.device && known.ranges() == joined &&
            known.queues() == queues) {
            return known.handle<CUdevResourceDesc>();
        }
    }
    const auto made =
        std::make_shared<ResourceDescription>(first.device, std::move(joined), queues);
    table.insert(HandleKind::ResourceDescription, made);
    return made->handle<CUdevResourceDesc>();
}

} // namespace cuprum::emulator
