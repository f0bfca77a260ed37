// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace cuprum::emulator::builtins {

/// An object in static memory that is never destroyed, because kernels may end while the process
/// exits. Not on the heap: a worker that ends a grid may be the first to use it, when no memory is
/// left.
template <typename T>
union NeverDestroyed {
    NeverDestroyed() : value() {}

    ~NeverDestroyed() {} // NOLINT(modernize-use-equals-default): that would destroy the value

    NeverDestroyed(const NeverDestroyed&) = delete;
    NeverDestroyed& operator=(const NeverDestroyed&) = delete;

    T value;
};

} // namespace cuprum::emulator::builtins
