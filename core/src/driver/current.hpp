// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/call.hpp"

namespace cuprum::driver {

/// Makes a context current for a scope. When it is current already, which is nearly always, this
/// costs one cheap driver call and changes nothing; otherwise it is pushed and popped again.
class Current {
public:
    [[nodiscard]] explicit Current(CUcontext wanted) {
        CUcontext current = nullptr;
        call(table().cuCtxGetCurrent, &current);
        if (current != wanted) {
            call(table().cuCtxPushCurrent, wanted);
            is_pushed_ = true;
        }
    }

    ~Current() {
        if (is_pushed_) {
            CUcontext popped = nullptr;
            release("current context", table().cuCtxPopCurrent, &popped);
        }
    }

    Current(const Current&) = delete;
    Current& operator=(const Current&) = delete;

private:
    bool is_pushed_ = false;
};

} // namespace cuprum::driver
