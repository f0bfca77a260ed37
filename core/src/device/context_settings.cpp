// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "device/context_flags.hpp"
#include "device/device_state.hpp"
#include "driver/current.hpp"
#include "driver/handle.hpp"
#include "launch/kernel_state.hpp"
#include "stream/event_state.hpp"

#include <cuprum/context.hpp>
#include <cuprum/device_resources.hpp>
#include <cuprum/error.hpp>
#include <cuprum/event.hpp>

#include <string>

namespace cuprum {

using driver::call;
using driver::table;

namespace detail {

unsigned flag_bits(const ContextFlags& flags) noexcept {
    return static_cast<unsigned>(flags.wait) | (flags.map_host ? unsigned{CU_CTX_MAP_HOST} : 0U) |
           (flags.resize_local_memory ? unsigned{CU_CTX_LMEM_RESIZE_TO_MAX} : 0U) |
           (flags.coredump_on_error ? unsigned{CU_CTX_COREDUMP_ENABLE} : 0U) |
           (flags.user_coredump ? unsigned{CU_CTX_USER_COREDUMP_ENABLE} : 0U) |
           (flags.sync_memory_operations ? unsigned{CU_CTX_SYNC_MEMOPS} : 0U);
}

ContextFlags flags_from_bits(unsigned bits) noexcept {
    return {.wait = static_cast<HostWait>(bits & CU_CTX_SCHED_MASK),
            .map_host = (bits & CU_CTX_MAP_HOST) != 0,
            .resize_local_memory = (bits & CU_CTX_LMEM_RESIZE_TO_MAX) != 0,
            .coredump_on_error = (bits & CU_CTX_COREDUMP_ENABLE) != 0,
            .user_coredump = (bits & CU_CTX_USER_COREDUMP_ENABLE) != 0,
            .sync_memory_operations = (bits & CU_CTX_SYNC_MEMOPS) != 0};
}

} // namespace detail

std::uint64_t Context::id() const {
    unsigned long long id = 0;
    call(table().cuCtxGetId, handle(), &id);
    return id;
}

DeviceResources Context::resources() const {
    return {device(), state_};
}

void Context::record(const Event& event) const {
    const detail::ContextState& own = detail::open(state_, "Context");
    if (own.green != nullptr) {
        call(table().cuGreenCtxRecordEvent, own.green, event.handle());
    } else {
        call(table().cuCtxRecordEvent, own.handle.get(), event.handle());
    }
    detail::open(event).is_recorded.store(true, std::memory_order_relaxed);
}

void Context::wait(const Event& event) const {
    const detail::ContextState& own = detail::open(state_, "Context");
    if (own.green != nullptr) {
        call(table().cuGreenCtxWaitEvent, own.green, event.handle());
    } else {
        call(table().cuCtxWaitEvent, own.handle.get(), event.handle());
    }
}

std::size_t Context::limit(Limit which) const {
    const driver::Current current(handle());
    std::size_t value = 0;
    call(table().cuCtxGetLimit, &value, static_cast<CUlimit>(which));
    return value;
}

void Context::set_limit(Limit which, std::size_t value) const {
    const driver::Current current(handle());
    const auto& set = table().cuCtxSetLimit;
    const CUresult status = set(static_cast<CUlimit>(which), value);
    if (status == CUDA_ERROR_INVALID_VALUE || status == CUDA_ERROR_UNSUPPORTED_LIMIT) {
        throw CUDAError(status, set.name,
                        "value is " + std::to_string(value) +
                            ", which the device does not take for this limit; it stays as it was");
    }
    if (status != CUDA_SUCCESS) {
        driver::raise(status, set.name);
    }
}

CacheConfig Context::cache_config() const {
    const driver::Current current(handle());
    CUfunc_cache config = CU_FUNC_CACHE_PREFER_NONE;
    call(table().cuCtxGetCacheConfig, &config);
    return static_cast<CacheConfig>(config);
}

void Context::set_cache_config(CacheConfig config) const {
    const driver::Current current(handle());
    call(table().cuCtxSetCacheConfig, static_cast<CUfunc_cache>(config));
    detail::forget_occupancy(); // which depends on what is left for shared memory
}

ContextFlags Context::flags() const {
    const driver::Current current(handle());
    unsigned bits = 0;
    call(table().cuCtxGetFlags, &bits);
    return detail::flags_from_bits(bits);
}

void Context::set_flags(const ContextFlags& flags) const {
    const driver::Current current(handle());
    call(table().cuCtxSetFlags, detail::flag_bits(flags));
}

void Context::reset_persisting_l2_cache() const {
    const driver::Current current(handle());
    call(table().cuCtxResetPersistingL2Cache);
}

} // namespace cuprum
