// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace cuprum::detail {

/// Code in memory, followed by NULs: text ends with one, and a loader that reads the first words of
/// a short image stays inside the memory.
///
/// NOTE: not a vector, which would zero the memory before a file is read into it. For some hundred
/// KiB of code that takes half as long as reading.
class PaddedCode {
public:
    static constexpr std::size_t PADDING_BYTES = 64;

    PaddedCode() = default;
    /// Copies code.
    explicit PaddedCode(std::span<const std::byte> code);
    /// Allocates uninitialised memory for code that the caller writes.
    [[nodiscard]] static PaddedCode for_overwrite(std::size_t size);

    [[nodiscard]] std::span<std::byte> bytes() noexcept { return {memory_.get(), size()}; }

    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return {memory_.get(), size()};
    }

    /// Drops everything after the first `size` bytes.
    void shorten(std::size_t size) noexcept;

private:
    [[nodiscard]] std::size_t size() const noexcept { return memory_ == nullptr ? 0 : size_; }

    std::unique_ptr<std::byte[]> memory_; // null once it is moved away
    std::size_t size_ = 0;
};

} // namespace cuprum::detail
