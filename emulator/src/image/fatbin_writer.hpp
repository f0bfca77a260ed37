// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cuprum::emulator {

/// Returns a fatbin with one PTX entry that stands for machine code of an architecture such as
/// "sm_90" or "sm_90a". The last line of its PTX, a comment, names the architecture: only devices
/// that could run the machine code load it.
///
/// cuLinkComplete returns images by address, so they need a container that states its size.
[[nodiscard]] std::string make_fatbin(std::string_view ptx, std::string_view architecture,
                                      std::uint32_t version_major, std::uint32_t version_minor);

} // namespace cuprum::emulator
