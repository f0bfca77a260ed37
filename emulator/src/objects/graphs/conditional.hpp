// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <memory>

namespace cuprum::emulator {

class Context;

/// The value that decides what a conditional node runs. Kernels set it by its handle.
class ConditionalVariable {
public:
    ConditionalVariable(std::shared_ptr<Context> context, std::uint32_t default_value,
                        unsigned flags);
    ~ConditionalVariable();
    ConditionalVariable(const ConditionalVariable&) = delete;
    ConditionalVariable& operator=(const ConditionalVariable&) = delete;

    [[nodiscard]] CUgraphConditionalHandle handle() const noexcept { return handle_; }

    [[nodiscard]] const std::shared_ptr<Context>& context() const noexcept { return context_; }

    [[nodiscard]] std::uint32_t default_value() const noexcept { return default_value_; }

    [[nodiscard]] unsigned flags() const noexcept { return flags_; }

    [[nodiscard]] std::uint32_t value() const noexcept {
        return value_.load(std::memory_order_acquire);
    }

    /// Sets the default value, if the handle was made to be set at each launch.
    void begin_launch() noexcept;

    bool is_used = false; // by a conditional node

private:
    std::shared_ptr<Context> context_;
    std::uint32_t default_value_;
    unsigned flags_;
    std::atomic<std::uint32_t> value_;
    CUgraphConditionalHandle handle_;
};

} // namespace cuprum::emulator
