// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/context.hpp>

#include "device/context_state.hpp"
#include "device/device_state.hpp"
#include "driver/current.hpp"
#include "driver/deferred_release.hpp"
#include "driver/explanations.hpp"
#include "driver/handle.hpp"
#include "support/locks.hpp"
#include "support/once.hpp"
#include "support/text.hpp"

#include <cuprum/device_resources.hpp>
#include <cuprum/error.hpp>
#include <cuprum/event.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>

namespace cuprum {

using driver::call;
using driver::table;

std::optional<Context> Context::current() {
    driver::initialise();
    CUcontext handle = nullptr;
    call(table().cuCtxGetCurrent, &handle);
    if (handle == nullptr) {
        return std::nullopt;
    }
    return Context(detail::context_state(handle));
}

Context Context::from_handle(CUcontext handle) {
    if (handle == nullptr) {
        throw std::invalid_argument("handle is null, expected a context");
    }
    return Context(detail::context_state(handle));
}

CUcontext Context::handle() const {
    return detail::open(state_, "Context").handle;
}

Device Context::device() const {
    return Device(detail::open(state_, "Context").device);
}

bool Context::is_primary() const {
    return detail::open(state_, "Context").is_primary;
}

void Context::sync() const {
    const driver::Current current(handle());
    call(table().cuCtxSynchronize);
    detail::release_deferred();
}

bool Context::is_green() const {
    return detail::open(state_, "Context").green != nullptr;
}

void Context::push() const {
    call(table().cuCtxPushCurrent, handle());
}

Context Context::pop() {
    driver::initialise();
    CUcontext popped = nullptr;
    call(table().cuCtxPopCurrent, &popped);
    return Context(detail::context_state(popped));
}

bool operator==(const Context& left, const Context& right) noexcept {
    const CUcontext first = left.is_closed() ? nullptr : left.state_->handle.get();
    const CUcontext second = right.is_closed() ? nullptr : right.state_->handle.get();
    return first == second;
}

std::string to_string(const Context& context) {
    if (context.is_closed()) {
        return "<Context closed>";
    }
    const detail::ContextState& state = *detail::Access::state(context);
    return "<Context handle=" + detail::hexadecimal(state.handle.get()) +
           " device=" + std::to_string(state.device->ordinal) + ">";
}

CurrentContext::CurrentContext(const Context& context)
    : kept_(detail::Access::state(context)),
      is_pushed_(driver::push_unless_current(context.handle())) {}

CurrentContext::~CurrentContext() {
    if (is_pushed_) {
        driver::pop_pushed();
    }
}

namespace detail {

namespace {

/// The contexts that we made, by handle. Few programs make any: then the list is not even locked.
struct MadeContexts {
    std::mutex mutex;
    std::map<CUcontext, std::weak_ptr<ContextState>> contexts;
    std::atomic<std::size_t> count = 0;
};

MadeContexts& made_contexts() {
    static NeverDestroyed<MadeContexts> only; // static objects may hold contexts
    [[maybe_unused]] static const bool is_kept =
        keep_unlocked_in_children<[]() -> std::mutex& { return made_contexts().mutex; }>();
    return *only;
}

std::shared_ptr<ContextState> find_made_context(CUcontext handle) {
    MadeContexts& made = made_contexts();
    if (made.count.load(std::memory_order_acquire) == 0) {
        return nullptr;
    }
    const std::lock_guard lock(made.mutex);
    const auto place = made.contexts.find(handle);
    return place == made.contexts.end() ? nullptr : place->second.lock();
}

} // namespace

void note_context(const std::shared_ptr<ContextState>& context) {
    MadeContexts& made = made_contexts();
    const std::lock_guard lock(made.mutex);
    made.contexts[context->handle] = context;
    made.count.store(made.contexts.size(), std::memory_order_release);
}

ContextState::~ContextState() {
    if (!is_owned) {
        return;
    }
    // Forgotten before it is destroyed: the driver may give the handle to the next context.
    if (handle.get() != nullptr) {
        MadeContexts& made = made_contexts();
        const std::lock_guard lock(made.mutex);
        made.contexts.erase(handle);
        made.count.store(made.contexts.size(), std::memory_order_release);
    }
    if (green != nullptr) {
        release_or_defer("green context", driver::table().cuGreenCtxDestroy, green);
    } else if (handle.get() != nullptr) {
        release_or_defer("context", driver::table().cuCtxDestroy, handle.get());
    }
}

std::shared_ptr<ContextState> context_state(CUcontext handle) {
    for (const auto& device : devices()) {
        const auto* primary = device->primary.peek();
        if (primary != nullptr && (*primary)->handle == handle) {
            return *primary;
        }
    }
    if (auto made = find_made_context(handle)) {
        return made;
    }
    CUdevice number = 0;
    {
        const driver::Current current(handle);
        call(table().cuCtxGetDevice, &number);
    }
    DeviceState& device = device_state(number);
    // Somebody else may have made the primary context; then retaining it makes nothing new.
    if (device.primary.peek() == nullptr) {
        unsigned flags = 0;
        int is_active = 0;
        call(table().cuDevicePrimaryCtxGetState, device.handle, &flags, &is_active);
        if (is_active != 0 && primary_context(device)->handle == handle) {
            return primary_context(device);
        }
    }
    return std::make_shared<ContextState>(handle, &device);
}

CUcontext current_context(const char* what) {
    driver::initialise();
    CUcontext handle = nullptr;
    call(table().cuCtxGetCurrent, &handle);
    if (handle == nullptr) {
        throw CUDAError(CUDA_ERROR_INVALID_CONTEXT, table().cuCtxGetCurrent.name,
                        std::string(what) + " needs a current context and no CUDA context is "
                                            "current on this thread; make a device "
                                            "current first (Device set_current)");
    }
    return handle;
}

} // namespace detail

} // namespace cuprum

std::size_t std::hash<cuprum::Context>::operator()(const cuprum::Context& context) const noexcept {
    const auto& state = cuprum::detail::Access::state(context);
    return std::hash<const void*>()(state == nullptr ? nullptr : state->handle.get());
}

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

// Contexts that we make: plain and green ones, and the primary one made anew.

namespace {

using driver::call;
using driver::table;

std::vector<CUdevResource> checked_resources(const Device& device, const ContextOptions& options) {
    std::vector<CUdevResource> resources;
    bool has_multiprocessors = false;
    for (const auto& resource : options.resources) {
        const detail::ResourceState& state = *std::visit(
            [](const auto& held) { return detail::Access::state(held).get(); }, resource);
        has_multiprocessors = has_multiprocessors || std::holds_alternative<SMResource>(resource);
        if (!state.is_usable) {
            throw std::invalid_argument("resources holds a dry-run SMResource, which only shows "
                                        "sizes; split without dry_run to use it");
        }
        if (state.device != device) {
            throw std::invalid_argument(
                "resources holds one of device " + std::to_string(state.device.ordinal()) +
                ", expected those of device " + std::to_string(device.ordinal()));
        }
        resources.push_back(state.resource);
    }
    if (!has_multiprocessors) {
        throw std::invalid_argument("resources must hold at least one SMResource; "
                                    "Device::resources().sm() has all multiprocessors");
    }
    return resources;
}

} // namespace

Context Context::create(const Device& device, const ContextFlags& flags) {
    auto state = std::make_shared<detail::ContextState>();
    state->device = &detail::device_state(device.handle());
    // The driver makes a new context current; what was current before is so again afterwards.
    CUcontext handle = nullptr;
    call(table().cuCtxCreate, &handle, nullptr, detail::flag_bits(flags), device.handle());
    state->handle = handle;
    state->is_owned = true;
    CUcontext popped = nullptr;
    call(table().cuCtxPopCurrent, &popped);
    detail::note_context(state);
    return Context(std::move(state));
}

Context Device::create_context(const ContextOptions& options) const {
    std::vector<CUdevResource> resources = checked_resources(*this, options);
    CUdevResourceDesc description = nullptr;
    call(table().cuDevResourceGenerateDesc, &description, resources.data(),
         static_cast<unsigned>(resources.size()));
    auto state = std::make_shared<detail::ContextState>();
    state->device = state_;
    call(table().cuGreenCtxCreate, &state->green, description, state_->handle,
         unsigned{CU_GREEN_CTX_DEFAULT_STREAM});
    state->is_owned = true;
    CUcontext handle = nullptr;
    call(table().cuCtxFromGreenCtx, &handle, state->green);
    state->handle = handle;
    detail::note_context(state);
    return detail::Access::make<Context>(std::move(state));
}

PrimaryContextState Device::primary_context_state() const {
    unsigned bits = 0;
    int is_active = 0;
    call(table().cuDevicePrimaryCtxGetState, state_->handle, &bits, &is_active);
    return {.is_active = is_active != 0, .flags = detail::flags_from_bits(bits)};
}

void Device::set_primary_context_flags(const ContextFlags& flags) const {
    call(table().cuDevicePrimaryCtxSetFlags, state_->handle, detail::flag_bits(flags));
}

void Device::reset_primary_context() const {
    static std::mutex one_at_a_time; // so that every life of the context is retained once
    const detail::QuietLock lock(one_at_a_time);
    const auto* primary = state_->primary.peek();
    if (primary != nullptr) {
        // Before the driver destroys anything: no thread may use or release an object that is about
        // to go. The count is odd during the reset, so that objects made meanwhile are lost as
        // well.
        (*primary)->reset_count.fetch_add(1);
        driver::detail::process_flags.was_reset.store(true);
    }
    const auto end = [primary](bool is_reset) {
        if (primary != nullptr) { // after a failed reset, the earlier objects still exist
            (*primary)->reset_count.fetch_add(is_reset ? 1U : ~0U);
        }
    };
    const auto& reset = table().cuDevicePrimaryCtxReset;
    const CUresult status = reset(state_->handle);
    end(status == CUDA_SUCCESS);
    if (status != CUDA_SUCCESS) {
        driver::raise(status, reset.name);
    }
    driver::forget_fault();
    if (primary != nullptr) {
        // The context stays ours but is inactive until somebody retains it once more.
        CUcontext renewed = nullptr;
        call(table().cuDevicePrimaryCtxRetain, &renewed, state_->handle);
        (*primary)->handle = renewed;
        ++state_->retained;
    }
}

int Device::p2p_attribute(P2PAttribute attribute, const Device& peer) const {
    if (peer == *this) {
        throw std::invalid_argument("peer is device " + std::to_string(ordinal()) +
                                    " itself, expected another device");
    }
    int value = 0;
    call(table().cuDeviceGetP2PAttribute, &value, static_cast<CUdevice_P2PAttribute>(attribute),
         state_->handle, peer.state_->handle);
    return value;
}

void Device::enable_peer_access(const Device& peer) const {
    if (peer == *this) {
        return;
    }
    const CUcontext other = detail::primary_context(*peer.state_)->handle;
    const driver::Current current(detail::primary_context(*state_)->handle);
    const auto& entry = table().cuCtxEnablePeerAccess;
    const CUresult status = entry(other, 0U);
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED) {
        driver::raise(status, entry.name);
    }
    driver::note_peer_access();
}

void Device::disable_peer_access(const Device& peer) const {
    if (peer == *this) {
        return;
    }
    const CUcontext other = detail::primary_context(*peer.state_)->handle;
    const driver::Current current(detail::primary_context(*state_)->handle);
    const auto& entry = table().cuCtxDisablePeerAccess;
    const CUresult status = entry(other);
    if (status != CUDA_SUCCESS && status != CUDA_ERROR_PEER_ACCESS_NOT_ENABLED) {
        driver::raise(status, entry.name);
    }
}

namespace detail {

namespace {

constinit std::atomic<unsigned> changes{0};

} // namespace

unsigned occupancy_changes() noexcept {
    return changes.load(std::memory_order_acquire);
}

void forget_occupancy() noexcept {
    changes.fetch_add(1, std::memory_order_release);
}

} // namespace detail

} // namespace cuprum
