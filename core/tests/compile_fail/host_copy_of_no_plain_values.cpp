// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// EXPECT: memory holds plain values only

#include <cuprum/buffer.hpp>

#include <string>
#include <vector>

void copy_it(const cuprum::Buffer& buffer, const std::vector<std::string>& texts,
             const cuprum::Stream& stream) {
    buffer.copy_from_host(texts, stream);
}
