// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace cuprum::emulator {

/// Makes `selectors()` return those of a level ("v2", "v3", "v4") from now on, for tests. Returns
/// false, changing nothing, when the level is not available here. Not to be called while kernels
/// are compiled.
bool use_selectors_of(const char* level) noexcept;

} // namespace cuprum::emulator
