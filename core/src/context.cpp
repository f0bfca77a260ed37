// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/context.hpp>

#include "driver/current.hpp"
#include "state/device_state.hpp"
#include "state/handle.hpp"

#include <cuprum/error.hpp>

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
}

bool operator==(const Context& left, const Context& right) noexcept {
    const CUcontext first = left.is_closed() ? nullptr : left.state_->handle;
    const CUcontext second = right.is_closed() ? nullptr : right.state_->handle;
    return first == second;
}

CurrentContext::CurrentContext(const Context& context) : kept_(context.state()) {
    const CUcontext wanted = context.handle();
    CUcontext current = nullptr;
    call(table().cuCtxGetCurrent, &current);
    if (current != wanted) {
        call(table().cuCtxPushCurrent, wanted);
        is_pushed_ = true;
    }
}

CurrentContext::~CurrentContext() {
    if (is_pushed_) {
        CUcontext popped = nullptr;
        driver::release("current context", table().cuCtxPopCurrent, &popped);
    }
}

namespace detail {

std::shared_ptr<ContextState> context_state(CUcontext handle) {
    for (const auto& device : devices()) {
        const auto* primary = device->primary.peek();
        if (primary != nullptr && (*primary)->handle == handle) {
            return *primary;
        }
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
    return std::make_shared<ContextState>(ContextState{handle, &device, false});
}

CUcontext current_context(const char* what) {
    driver::initialise();
    CUcontext handle = nullptr;
    call(table().cuCtxGetCurrent, &handle);
    if (handle == nullptr) {
        throw CUDAError(CUDA_ERROR_INVALID_CONTEXT, table().cuCtxGetCurrent.name,
                        std::string(what) +
                            " needs a current context and this thread has none; make a device "
                            "current first (Device set_current)");
    }
    return handle;
}

} // namespace detail

} // namespace cuprum
