// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Checks of code before the driver sees it.
//
// The driver takes a pointer without a size and trusts the sizes inside, so it would read beyond
// the end of a truncated file. nvJitLink takes a size and trusts the sizes inside nevertheless.

#pragma once

#include <cuprum/object_code.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::detail {

/// Checks that code can be loaded and is complete. `what` names it in the message.
/// @throws CUDAError with CUDA_ERROR_INVALID_IMAGE.
void check_image(const std::string& what, CodeType type, std::span<const std::byte> code);

/// Checks that code to be linked is complete.
/// @throws std::invalid_argument that starts with `what`.
void check_link_input(const std::string& what, std::span<const std::byte> code);

/// Returns the architecture of a cubin, as in 90 for sm_90; 0 if the code is not a cubin.
[[nodiscard]] int cubin_architecture(std::span<const std::byte> code) noexcept;

/// The first four bytes of a fat binary.
inline constexpr std::uint32_t FATBIN_MAGIC = 0xBA55ED50;

/// One image in a fat binary.
struct FatbinImage {
    enum class Kind : unsigned short { Ptx = 1, Cubin = 2 };

    Kind kind;
    std::string_view arch; // "sm_90", "sm_90a", "compute_90"
    std::span<const std::byte> code;
};

/// Returns whether code is a fat binary. A cubin for an emulated device is one.
[[nodiscard]] bool is_fatbin(std::span<const std::byte> code) noexcept;

/// Writes a fat binary: a container of images. The driver, nvJitLink and the emulated device each
/// pick the image that suits them best.
[[nodiscard]] std::vector<std::byte> write_fatbin(std::span<const FatbinImage> images);

/// Returns machine code with its PTX as a fat binary for an architecture such as "sm_90". GPUs run
/// the machine code, the emulated device the PTX.
[[nodiscard]] std::vector<std::byte>
with_ptx(std::string_view arch, std::span<const std::byte> cubin, std::span<const std::byte> ptx);

/// Returns the first uncompressed PTX in a fat binary, without its final NULs; empty if it has
/// none. The sizes in the code are not trusted.
[[nodiscard]] std::string_view ptx_in_fatbin(std::span<const std::byte> fatbin) noexcept;

} // namespace cuprum::detail
