// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// EXPECT: operand

#include <cuprum/stream.hpp>

auto time(const cuprum::Stream& stream) {
    return stream.record() - stream.record();
}
