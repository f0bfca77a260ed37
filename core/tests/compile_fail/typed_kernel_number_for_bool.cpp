// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// EXPECT: cuprum: the argument would lose its value in the kernel's parameter

#include <cuprum/typed_kernel.hpp>

void launch_it(const cuprum::Stream& stream, const cuprum::Kernel& kernel, int value) {
    kernel.as<void(bool)>()(stream, {}, value);
}
