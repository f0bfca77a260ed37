// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "bytecode/kernel.hpp"

#include <cstddef>
#include <memory>
#include <new>

namespace cuprum::emulator::exec {

/// A reusable buffer, aligned for vector access.
class AlignedBuffer {
public:
    /// Makes room for `bytes` and returns the buffer. Growing discards the old contents.
    std::byte* reserve(std::size_t bytes) {
        if (bytes > capacity_ || bytes_ == nullptr) {
            bytes_.reset(); // free first, to lower the peak memory use
            bytes_.reset(static_cast<std::byte*>(
                ::operator new(bytes + bytecode::BANK_ALIGNMENT, ALIGNMENT)));
            capacity_ = bytes;
        }
        return bytes_.get();
    }

    [[nodiscard]] std::byte* data() const noexcept { return bytes_.get(); }

    [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }

private:
    static constexpr std::align_val_t ALIGNMENT{bytecode::BANK_ALIGNMENT};

    struct Release {
        void operator()(std::byte* bytes) const noexcept { ::operator delete(bytes, ALIGNMENT); }
    };

    std::unique_ptr<std::byte, Release> bytes_;
    std::size_t capacity_ = 0;
};

} // namespace cuprum::emulator::exec
