// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/device_resources.hpp>

#include "device/context_state.hpp"
#include "device/device_state.hpp"
#include "driver/call.hpp"
#include "driver/handle.hpp"

#include <cuprum/error.hpp>
#include <cuprum/version.hpp>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>

namespace cuprum {

namespace {

using detail::ResourceState;
using driver::call;
using driver::table;

constexpr int STRUCTURED_SPLIT_VERSION = 13010;
constexpr int WORKQUEUE_VERSION = 13010;

CUdevResource query(const Device& device, const detail::ContextState* context,
                    CUdevResourceType type) {
    driver::initialise();
    CUdevResource resource{};
    if (context == nullptr) {
        call(table().cuDeviceGetDevResource, device.handle(), &resource, type);
    } else if (context->green != nullptr) {
        call(table().cuGreenCtxGetDevResource, context->green, &resource, type);
    } else {
        call(table().cuCtxGetDevResource, context->handle.get(), &resource, type);
    }
    return resource;
}

driver::SmResource read_sm(const ResourceState& state) {
    driver::SmResource sm{};
    std::memcpy(&sm, static_cast<const void*>(state.resource._oversize), sizeof(sm));
    return sm;
}

driver::WorkqueueConfig read_workqueue(const ResourceState& state) {
    driver::WorkqueueConfig config{};
    std::memcpy(&config, static_cast<const void*>(state.resource._oversize), sizeof(config));
    return config;
}

/// Returns the granularity of drivers for CUDA 12, which do not report it.
unsigned usual_granularity(const Device& device) {
    constexpr int hopper = 9;
    return device.compute_capability().major >= hopper ? 8 : 2;
}

SMResource make_sm(const CUdevResource& resource, const Device& device, bool is_usable) {
    return detail::Access::make<SMResource>(
        std::make_shared<ResourceState>(ResourceState{resource, device, is_usable}));
}

/// Reports a failed split, with the request and the available resources.
[[noreturn]] void raise_split_failure(CUresult status, const char* call, const ResourceState& input,
                                      std::span<const SMGroup> groups) {
    if (status != CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION && status != CUDA_ERROR_INVALID_VALUE) {
        driver::raise(status, call);
    }
    std::string wanted;
    for (const SMGroup& group : groups) {
        wanted += (wanted.empty() ? "" : ", ") +
                  (group.count ? std::to_string(*group.count) : std::string("any number"));
    }
    const SMResource whole = make_sm(input.resource, input.device, false);
    throw CUDAError(status, call,
                    "groups of " + wanted + " multiprocessors were asked for, there are " +
                        std::to_string(whole.sm_count()) + ", and a group has at least " +
                        std::to_string(whole.min_partition_size()) +
                        ", rounded up to a multiple of " +
                        std::to_string(whole.coscheduled_alignment()) + " without backfill");
}

SMSplit split_by_groups(const ResourceState& input, std::span<const SMGroup> groups,
                        bool is_dry_run) {
    std::vector<CU_DEV_SM_RESOURCE_GROUP_PARAMS> params(groups.size());
    for (std::size_t i = 0; i < groups.size(); ++i) {
        params[i].smCount = groups[i].count.value_or(0);
        params[i].coscheduledSmCount = groups[i].coscheduled_sm_count.value_or(0);
        params[i].preferredCoscheduledSmCount =
            groups[i].preferred_coscheduled_sm_count.value_or(0);
        params[i].flags = groups[i].backfill ? driver::BACKFILL : 0;
    }
    std::vector<CUdevResource> parts(groups.size());
    CUdevResource remainder{};
    const auto& entry = table().cuDevSmResourceSplit;
    const CUresult status =
        entry(is_dry_run ? nullptr : parts.data(), static_cast<unsigned>(groups.size()),
              &input.resource, &remainder, 0U, params.data());
    if (status != CUDA_SUCCESS) {
        raise_split_failure(status, entry.name, input, groups);
    }
    SMSplit split{{}, make_sm(remainder, input.device, !is_dry_run)};
    for (std::size_t i = 0; i < parts.size(); ++i) {
        if (is_dry_run) { // the driver wrote only the sizes
            parts[i].type = CU_DEV_RESOURCE_TYPE_SM;
            parts[i].sm.smCount = params[i].smCount;
        }
        split.groups.push_back(make_sm(parts[i], input.device, !is_dry_run));
    }
    return split;
}

/// Splits with the function of CUDA 12.4, which creates groups of one size.
SMSplit split_by_count(const ResourceState& input, std::span<const SMGroup> groups,
                       bool is_dry_run) {
    const SMGroup& first = groups.front();
    const bool is_plain = std::all_of(groups.begin(), groups.end(), [&](const SMGroup& group) {
        return group.count == first.count && group.backfill == first.backfill &&
               !group.coscheduled_sm_count && !group.preferred_coscheduled_sm_count;
    });
    if (!is_plain) { // groups of different sizes, or with co-scheduling
        throw NotSupportedError(table().cuDevSmResourceSplit.name, STRUCTURED_SPLIT_VERSION,
                                driver_version());
    }
    auto made = static_cast<unsigned>(groups.size());
    std::vector<CUdevResource> parts(groups.size());
    CUdevResource remainder{};
    const unsigned flags =
        first.backfill ? unsigned{CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING} : 0U;
    const auto& entry = table().cuDevSmResourceSplitByCount;
    const CUresult status =
        entry(parts.data(), &made, &input.resource, &remainder, flags, first.count.value_or(0));
    if (status != CUDA_SUCCESS) {
        raise_split_failure(status, entry.name, input, groups);
    }
    if (made < groups.size()) {
        throw CUDAError(CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION, entry.name,
                        "the driver can make " + std::to_string(made) + " groups of " +
                            std::to_string(first.count.value_or(0)) + " multiprocessors, " +
                            std::to_string(groups.size()) + " were asked for");
    }
    SMSplit split{{}, make_sm(remainder, input.device, !is_dry_run)};
    for (const CUdevResource& part : parts) {
        split.groups.push_back(make_sm(part, input.device, !is_dry_run));
    }
    return split;
}

} // namespace

unsigned SMResource::sm_count() const {
    return read_sm(*state_).sm_count;
}

unsigned SMResource::min_partition_size() const {
    const unsigned size = read_sm(*state_).min_partition_size;
    return size != 0 ? size : usual_granularity(state_->device); // drivers for CUDA 12 leave it out
}

unsigned SMResource::coscheduled_alignment() const {
    const unsigned alignment = read_sm(*state_).coscheduled_alignment;
    return alignment != 0 ? alignment : usual_granularity(state_->device);
}

unsigned SMResource::flags() const {
    return read_sm(*state_).flags;
}

Device SMResource::device() const {
    return state_->device;
}

bool SMResource::is_usable() const {
    return state_->is_usable;
}

const CUdevResource_st* SMResource::handle() const {
    return &state_->resource;
}

SMSplit SMResource::split(std::span<const SMGroup> groups, bool is_dry_run) const {
    if (groups.empty()) {
        throw std::invalid_argument("groups is empty, expected at least one group");
    }
    if (driver_version() >= STRUCTURED_SPLIT_VERSION) {
        return split_by_groups(*state_, groups, is_dry_run);
    }
    return split_by_count(*state_, groups, is_dry_run);
}

SMSplit SMResource::split(std::initializer_list<SMGroup> groups, bool is_dry_run) const {
    return split(std::span<const SMGroup>(groups.begin(), groups.size()), is_dry_run);
}

WorkqueueSharingScope WorkqueueResource::sharing_scope() const {
    return static_cast<WorkqueueSharingScope>(read_workqueue(*state_).sharing_scope);
}

unsigned WorkqueueResource::concurrency_limit() const {
    return read_workqueue(*state_).concurrency_limit;
}

Device WorkqueueResource::device() const {
    return state_->device;
}

void WorkqueueResource::configure(const WorkqueueResourceOptions& options) const {
    if (options.concurrency_limit == 0U) {
        throw std::invalid_argument("concurrency_limit must be >= 1, got 0");
    }
    driver::WorkqueueConfig config = read_workqueue(*state_);
    if (options.sharing_scope) {
        config.sharing_scope = static_cast<unsigned>(*options.sharing_scope);
    }
    config.concurrency_limit = options.concurrency_limit.value_or(config.concurrency_limit);
    std::memcpy(static_cast<void*>(state_->resource._oversize), &config, sizeof(config));
}

const CUdevResource_st* WorkqueueResource::handle() const {
    return &state_->resource;
}

SMResource DeviceResources::sm() const {
    return make_sm(query(device_, context_.get(), CU_DEV_RESOURCE_TYPE_SM), device_, true);
}

WorkqueueResource DeviceResources::workqueue() const {
    if (const int version = driver_version(); version < WORKQUEUE_VERSION) {
        throw NotSupportedError("cuDeviceGetDevResource for a WorkqueueResource", WORKQUEUE_VERSION,
                                version);
    }
    return detail::Access::make<WorkqueueResource>(std::make_shared<ResourceState>(
        ResourceState{query(device_, context_.get(), driver::WORKQUEUE_CONFIG), device_, true}));
}

} // namespace cuprum
