// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Semaphores that streams share with other programs and interfaces.
//
// A binary semaphore is an eventfd: a signal adds 1 to it, a wait takes its value. A timeline
// semaphore is a file of shared memory whose first 8 bytes are a counter in the byte order of the
// machine: a signal raises it to a value, a wait ends when it has reached one. Other processes can
// use both with plain system calls.

#pragma once

#include "objects/process/handle_table.hpp"

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace cuprum::emulator {

/// A semaphore that was imported by a file descriptor.
class ExternalSemaphore : public Object {
public:
    /// Imports a semaphore and takes over its descriptor.
    ///
    /// @throws DriverError INVALID_VALUE, NOT_SUPPORTED; the caller then keeps the descriptor.
    [[nodiscard]] static std::shared_ptr<ExternalSemaphore>
    import(const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC& description);

    /// Signals; a binary semaphore ignores the value.
    virtual void signal(std::uint64_t value) noexcept = 0;

    /// Returns whether a wait for a value may end now. A binary semaphore is then taken.
    [[nodiscard]] virtual bool try_wait(std::uint64_t value) noexcept = 0;
};

/// Signals of several semaphores, or waits for them.
template <typename Item>
struct SemaphoreBatch {
    std::vector<std::shared_ptr<ExternalSemaphore>> semaphores;
    std::vector<CUexternalSemaphore> handles; // as programs pass and read them
    std::vector<Item> items;
};

using SemaphoreSignals = SemaphoreBatch<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS>;
using SemaphoreWaits = SemaphoreBatch<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS>;

/// Signals all semaphores.
void perform(const SemaphoreSignals& batch) noexcept;

/// Goes on with waits, of which the first `next` have ended. Returns whether all have.
[[nodiscard]] bool try_waits(const SemaphoreWaits& batch, std::size_t& next) noexcept;

} // namespace cuprum::emulator
