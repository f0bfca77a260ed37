// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/context_state.hpp"
#include "driver/current.hpp"

#include <cuprum/context.hpp>
#include <cuprum/device.hpp>

#include <memory>

namespace cuprum::detail {

/// Makes sure that some context is current for a scope: the current one or, if there is none, the
/// primary context of device 0. For calls that need a context but not a certain one.
class AnyContext {
public:
    [[nodiscard]] AnyContext() {
        CUcontext current = nullptr;
        driver::call(driver::table().cuCtxGetCurrent, &current);
        if (current == nullptr) {
            driver::call(driver::table().cuCtxPushCurrent, Device().primary_context().handle());
            is_pushed_ = true;
        }
    }

    ~AnyContext() {
        if (is_pushed_) {
            driver::pop_pushed();
        }
    }

    AnyContext(const AnyContext&) = delete;
    AnyContext& operator=(const AnyContext&) = delete;

private:
    bool is_pushed_ = false;
};

/// Returns the same context as a state that can be kept.
[[nodiscard]] inline std::shared_ptr<ContextState> any_context() {
    const auto current = Context::current();
    return Access::state(current ? *current : Device().primary_context());
}

} // namespace cuprum::detail
