// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// EXPECT: incomplete type

#include <cuprum/cuprum.hpp>

// The public headers declare the access to private parts, but do not define it.
const void* reach_in(const cuprum::Stream& stream) {
    return cuprum::detail::Access::state(stream).get();
}
