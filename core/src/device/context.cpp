// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/context.hpp>

#include "device/device_state.hpp"
#include "driver/current.hpp"
#include "driver/handle.hpp"
#include "stream/deferred_release.hpp"
#include "support/fork.hpp"
#include "support/never_destroyed.hpp"
#include "support/text.hpp"

#include <cuprum/error.hpp>

#include <atomic>
#include <map>
#include <mutex>
#include <stdexcept>

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
