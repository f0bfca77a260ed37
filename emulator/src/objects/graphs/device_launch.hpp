// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace cuprum::emulator {

/// Lets kernels of graphs launch graphs that were instantiated for that. Calling it again does
/// nothing.
void enable_device_launches() noexcept;

} // namespace cuprum::emulator
