// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/handle_table.hpp"
#include "objects/operation.hpp"

#include <cuda.h>

#include <memory>
#include <mutex>

namespace cuprum::emulator {

class Context;
class Stream;

/// Marks a point in the work of a stream; recording again moves the mark.
class Event final : public Object {
public:
    Event(std::shared_ptr<Context> context, unsigned flags);

    /// Puts the mark behind everything given to `stream` so far.
    void record(Stream& stream);

    /// Holds back later work of `stream` until the mark, where it is now, is reached.
    void hold_back(Stream& stream) const;

    /// Tells whether the mark was reached; true before the first record().
    [[nodiscard]] bool is_done() const;

    /// Blocks until the mark is reached.
    void synchronize() const;

    /// Returns milliseconds between two marks.
    ///
    /// @throws DriverError INVALID_HANDLE without timing or record, NOT_READY before both are
    /// reached.
    [[nodiscard]] static float elapsed_ms(const Event& begin, const Event& end);

    [[nodiscard]] Context& context() const noexcept { return *context_; }

    [[nodiscard]] unsigned flags() const noexcept { return flags_; }

private:
    [[nodiscard]] std::shared_ptr<Operation> mark() const;

    std::shared_ptr<Context> context_;
    unsigned flags_;
    mutable std::mutex mutex_;
    std::shared_ptr<Operation> mark_;
};

} // namespace cuprum::emulator
