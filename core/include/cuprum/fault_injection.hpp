// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/export.hpp>

#include <memory>
#include <string>

namespace cuprum {

/// Makes driver calls fail, so that a program can test what it does about errors. A call that is
/// made to fail does not reach the driver, unless it releases something: that is released, and the
/// failure is told all the same, so that a test leaks nothing.
///
/// @code
/// const cuprum::FaultInjection fault("cuMemAllocFromPoolAsync", 1, 2 /* out of memory */);
/// try {
///     const cuprum::Buffer memory = device.allocate(1024, stream);
/// } catch (const cuprum::OutOfMemoryError&) {
///     std::puts("the program survives that");
/// }
/// @endcode
class CUPRUM_API FaultInjection {
public:
    /// Makes the nth call of a driver function from now on return `code`, the first being 1.
    /// The function "*" means any.
    ///
    /// @throws std::invalid_argument for a function that the library never calls, for `nth` below 1
    /// and for code 0.
    FaultInjection(const std::string& function, int nth, int code);
    ~FaultInjection();

    FaultInjection(const FaultInjection&) = delete;
    FaultInjection& operator=(const FaultInjection&) = delete;

    /// Returns how often the function has been called since.
    [[nodiscard]] int call_count() const noexcept;

    /// Returns whether the call was made to fail.
    [[nodiscard]] bool has_failed() const noexcept;

    /// Returns the function whose call was made to fail; empty if none was yet.
    [[nodiscard]] std::string failed_call() const;

private:
    struct State;
    std::shared_ptr<State> state_;
};

} // namespace cuprum
