// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace cuprum::emulator {

/// Makes `selectors()` return those of a level ("v2", "v3", "v4") from now on, for tests, or those
/// of this machine again (nullptr). Returns false and changes nothing if the level is unavailable.
/// Do not call it while kernels are compiled.
bool use_selectors_of(const char* level) noexcept;

} // namespace cuprum::emulator
