// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/devices/device.hpp"

#include "objects/devices/context.hpp"
#include "objects/memory/host_room.hpp"
#include "objects/memory/pool.hpp"
#include "objects/process/error.hpp"
#include "usage/publisher.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>

namespace cuprum::emulator {

Device::Device(int ordinal, const Settings& settings)
    : ordinal_(ordinal), unit_(ordinal), settings_(settings),
      default_pool_(Pool::create_default(*this)), current_pool_(default_pool_) {
    describe_device(ordinal, settings, attributes_);
    track_pool(default_pool_);
}

Device::~Device() = default;

CUuuid Device::uuid_of(int unit) const noexcept {
    CUuuid uuid{};
    const auto bytes = device_uuid(unit, settings_.major);
    std::memcpy(uuid.bytes, bytes.data(), bytes.size());
    return uuid;
}

void Device::move_to(int unit) noexcept {
    unit_ = unit;
    usage::move_device(ordinal_, unit);
    attributes_[CU_DEVICE_ATTRIBUTE_PCI_BUS_ID] = pci_bus(unit);
}

std::string Device::pci_bus_id() const {
    char text[16];
    std::snprintf(text, sizeof text, "0000:%02X:00.0",
                  static_cast<unsigned>(attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)) & 0xFFU);
    return text;
}

int Device::attribute(CUdevice_attribute attribute) const {
    // The driver is that of CUDA 13.4. What that adds to our headers does not exist here.
    constexpr int last_of_driver = 161;
    if (attribute < 1 || attribute > std::max<int>(last_of_driver, CU_DEVICE_ATTRIBUTE_MAX - 1)) {
        fail(CUDA_ERROR_INVALID_VALUE, "unknown device attribute " + std::to_string(attribute));
    }
    return attribute < CU_DEVICE_ATTRIBUTE_MAX ? attributes_[attribute] : 0;
}

void Device::charge(std::uint64_t bytes) {
    std::uint64_t used = used_bytes_.load(std::memory_order_relaxed);
    bool was_trimmed = false;
    for (;;) {
        if (bytes > total_bytes() || used > total_bytes() - bytes) {
            if (!was_trimmed) {
                was_trimmed = true;
                trim_pools();
                used = used_bytes_.load(std::memory_order_relaxed);
                continue;
            }
            fail(CUDA_ERROR_OUT_OF_MEMORY, "out of device memory: " + std::to_string(bytes) +
                                               " bytes requested, " + std::to_string(free_bytes()) +
                                               " of " + std::to_string(total_bytes()) +
                                               " free on device " + std::to_string(ordinal_) +
                                               " (CUPRUM_EMULATOR_MEMORY sets the size)");
        }
        if (used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed)) {
            usage::add(usage::device(ordinal_).used_bytes, bytes);
            break;
        }
    }
    // The memory is charged before the container is asked, so that two processes which allocate at
    // the same time see each other.
    std::string problem = host_room::find_problem(bytes);
    if (!problem.empty() && !was_trimmed) {
        trim_pools();
        problem = host_room::find_problem(bytes);
    }
    if (!problem.empty()) {
        refund(bytes);
        fail(CUDA_ERROR_OUT_OF_MEMORY, "out of device memory: " + problem);
    }
}

std::uint64_t Device::available_bytes() const {
    return std::min(free_bytes(), host_room::available_bytes().value_or(free_bytes()));
}

/// Takes back the idle memory of pools.
void Device::trim_pools() {
    std::vector<std::weak_ptr<Pool>> pools;
    {
        const std::lock_guard lock(pool_mutex_);
        pools = pools_;
    }
    for (const auto& weak : pools) {
        if (const auto pool = weak.lock()) {
            pool->trim_to(0);
        }
    }
}

void Device::refund(std::uint64_t bytes) noexcept {
    used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    usage::subtract(usage::device(ordinal_).used_bytes, bytes);
}

void Device::give_up() noexcept {
    usage::DeviceRecord& record = usage::device(ordinal_);
    given_up_bytes_ = used_bytes_.exchange(0);
    given_up_contexts_ = record.context_count.exchange(0);
    usage::subtract(record.used_bytes, given_up_bytes_);
}

void Device::take_back() noexcept {
    usage::DeviceRecord& record = usage::device(ordinal_);
    used_bytes_.fetch_add(given_up_bytes_);
    usage::add(record.used_bytes, given_up_bytes_);
    usage::add(record.context_count, given_up_contexts_);
    given_up_bytes_ = 0;
    given_up_contexts_ = 0;
}

std::shared_ptr<Pool> Device::current_pool() const {
    const std::lock_guard lock(pool_mutex_);
    return current_pool_;
}

void Device::set_current_pool(std::shared_ptr<Pool> pool) {
    const std::lock_guard lock(pool_mutex_);
    current_pool_ = std::move(pool);
}

void Device::track_pool(const std::shared_ptr<Pool>& pool) {
    constexpr std::size_t smallest = 16;
    const std::lock_guard lock(pool_mutex_);
    if (pools_.size() >= next_sweep_) {
        std::erase_if(pools_, [](const auto& weak) { return weak.expired(); });
        next_sweep_ = std::max(smallest, pools_.size() * 2);
    }
    pools_.push_back(pool);
}

void Device::release_unused_pool_memory() {
    std::vector<std::shared_ptr<Pool>> pools;
    {
        const std::lock_guard lock(pool_mutex_);
        for (const auto& weak : pools_) {
            if (auto pool = weak.lock(); pool != nullptr && pool->has_excess()) {
                pools.push_back(std::move(pool));
            }
        }
    }
    for (const auto& pool : pools) {
        pool->trim_to_threshold();
    }
}

std::shared_ptr<Context> Device::retain_primary() {
    const std::lock_guard lock(primary_mutex_);
    if (primary_ == nullptr) {
        primary_ = std::make_shared<Context>(*this, primary_flags_, true);
        HandleTable::instance().insert(HandleKind::Context, primary_);
    }
    if (!primary_->is_active()) {
        primary_->set_flags(primary_flags_);
        primary_->activate();
    }
    ++primary_shares_;
    return primary_;
}

/// Waits for the work of the primary context, without the lock: host functions in its streams may
/// wait for threads that ask for the context. What is enqueued from now on is waited for under it.
void Device::drain_primary(std::uint32_t most_shares) {
    std::shared_ptr<Context> context;
    {
        const std::lock_guard lock(primary_mutex_);
        context = primary_shares_ <= most_shares ? primary_ : nullptr;
    }
    if (context != nullptr && context->is_active()) {
        context->drain();
    }
}

void Device::release_primary() {
    drain_primary(1);
    const std::lock_guard lock(primary_mutex_);
    if (primary_shares_ == 0) {
        fail(CUDA_ERROR_INVALID_CONTEXT, "the primary context is not retained");
    }
    if (--primary_shares_ == 0) {
        primary_->tear_down();
    }
}

void Device::reset_primary() {
    drain_primary(std::numeric_limits<std::uint32_t>::max());
    const std::lock_guard lock(primary_mutex_);
    if (primary_ != nullptr) {
        // Its holders keep their shares. The next retain activates it again.
        primary_->tear_down();
    }
}

void Device::set_primary_flags(unsigned flags) {
    check_context_flags(flags);
    require((flags & CU_CTX_MAP_HOST) == 0,
            "CU_CTX_MAP_HOST is not a flag of primary contexts, which map host memory anyway");
    const std::lock_guard lock(primary_mutex_);
    primary_flags_ = flags;
    if (primary_ != nullptr) {
        primary_->set_flags(flags);
    }
}

unsigned Device::primary_flags() const {
    const std::lock_guard lock(primary_mutex_);
    return primary_flags_;
}

bool Device::is_primary_active() const {
    const std::lock_guard lock(primary_mutex_);
    return primary_ != nullptr && primary_->is_active();
}

} // namespace cuprum::emulator
