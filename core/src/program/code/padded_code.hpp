// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace cuprum::detail {

/// Code in memory with some NULs after it, so that a text ends with one and a loader that looks at
/// the first words of a short image stays inside it.
///
/// NOTE: no vector, which writes zeros before a file can be read into it: for code of some hundred
/// KiB that takes as long as half the reading.
class PaddedCode {
public:
    static constexpr std::size_t PADDING_BYTES = 64;

    PaddedCode() = default;
    /// Copies code.
    explicit PaddedCode(std::span<const std::byte> code);
    /// Makes room for code that the caller writes: its bytes have no value yet.
    [[nodiscard]] static PaddedCode for_overwrite(std::size_t size);

    [[nodiscard]] std::span<std::byte> bytes() noexcept { return {memory_.get(), size()}; }

    [[nodiscard]] std::span<const std::byte> bytes() const noexcept {
        return {memory_.get(), size()};
    }

    /// Keeps the first bytes alone.
    void shorten(std::size_t size) noexcept;

private:
    [[nodiscard]] std::size_t size() const noexcept { return memory_ == nullptr ? 0 : size_; }

    std::unique_ptr<std::byte[]> memory_; // null once it is moved away
    std::size_t size_ = 0;
};

} // namespace cuprum::detail
