// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// EXPECT: cuprum: the number of arguments is not that of the kernel's parameters

#include <cuprum/typed_kernel.hpp>

void launch_it(const cuprum::Stream& stream, const cuprum::Kernel& kernel) {
    kernel.as<void(int, float)>()(stream, {}, 1);
}
