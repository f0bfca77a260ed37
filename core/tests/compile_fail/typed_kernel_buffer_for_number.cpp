// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// EXPECT: cuprum: a Buffer was passed for a parameter that is not a pointer

#include <cuprum/typed_kernel.hpp>

void launch_it(const cuprum::Stream& stream, const cuprum::Kernel& kernel,
               const cuprum::Buffer& buffer) {
    kernel.as<void(unsigned long long)>()(stream, {}, buffer);
}
