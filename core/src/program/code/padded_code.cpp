// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "program/code/padded_code.hpp"

#include <algorithm>

namespace cuprum::detail {

PaddedCode::PaddedCode(std::span<const std::byte> code) : PaddedCode(for_overwrite(code.size())) {
    std::copy(code.begin(), code.end(), memory_.get());
}

PaddedCode PaddedCode::for_overwrite(std::size_t size) {
    PaddedCode code;
    code.memory_ = std::make_unique_for_overwrite<std::byte[]>(size + PADDING_BYTES);
    code.shorten(size);
    return code;
}

void PaddedCode::shorten(std::size_t size) noexcept {
    size_ = size;
    std::fill_n(memory_.get() + size, PADDING_BYTES, std::byte{0});
}

} // namespace cuprum::detail
