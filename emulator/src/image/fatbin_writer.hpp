// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cuprum::emulator {

/// Returns a fatbin with one PTX entry for devices of compute capability `sm` (90 for 9.0).
///
/// cuLinkComplete returns images by address, so they need a container that states its size.
[[nodiscard]] std::string make_fatbin(std::string_view ptx, std::uint32_t sm,
                                      std::uint32_t version_major, std::uint32_t version_minor);

} // namespace cuprum::emulator
