// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace cuprum::detail {

/// One image in a fat binary.
struct FatbinImage {
    enum class Kind : unsigned short { Ptx = 1, Cubin = 2 };

    Kind kind;
    std::string_view arch; // "sm_90", "sm_90a", "compute_90"
    std::span<const std::byte> code;
};

/// Writes a fat binary, which the driver, nvJitLink and the emulated device all load: a container
/// of images, of which each takes the one that suits it best.
[[nodiscard]] std::vector<std::byte> write_fatbin(std::span<const FatbinImage> images);

/// Returns the first PTX in a fat binary, without its final NULs; empty if there is none, or none
/// that is not compressed. Does not trust the sizes in it.
[[nodiscard]] std::string_view ptx_in_fatbin(std::span<const std::byte> fatbin) noexcept;

} // namespace cuprum::detail
