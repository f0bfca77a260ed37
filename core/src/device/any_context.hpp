// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/current.hpp"

#include <cuprum/context.hpp>
#include <cuprum/device.hpp>

#include <optional>

namespace cuprum::detail {

/// Sees to it that some context is current for a scope: the one that is, or else the primary
/// context of the device that `Device()` names.
class AnyContext {
public:
    [[nodiscard]] AnyContext() {
        CUcontext current = nullptr;
        driver::call(driver::table().cuCtxGetCurrent, &current);
        if (current == nullptr) {
            context_ = Device().primary_context();
            current_.emplace(context_->handle());
        }
    }

private:
    std::optional<Context> context_;
    std::optional<driver::Current> current_;
};

} // namespace cuprum::detail
