// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// EXPECT: cuprum: a kernel argument must be trivially copyable

#include <cuprum/launch.hpp>

#include <string>

void launch_it(const cuprum::Stream& stream, const cuprum::Kernel& kernel,
               const std::string& text) {
    cuprum::launch(stream, {}, kernel, text);
}
