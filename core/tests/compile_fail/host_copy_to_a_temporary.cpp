// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// EXPECT: a temporary is gone before the copy arrives in it

#include <cuprum/buffer.hpp>

#include <vector>

void copy_it(const cuprum::Buffer& buffer, const cuprum::Stream& stream) {
    buffer.copy_to_host(std::vector<int>(4), stream);
}
