// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace cuprum::emulator {

/// What a module image turned out to be.
enum class ImageKind : std::uint8_t {
    Unknown,
    Ptx,    // text
    Fatbin, // a container, bare or behind the wrapper that host compilers emit
    Cubin,  // machine code of a GPU
};

/// Why an image gives no PTX: it decides the driver's result code.
enum class ImageProblem : std::uint8_t {
    None,
    Malformed,   // CUDA_ERROR_INVALID_IMAGE
    NoPtx,       // CUDA_ERROR_NO_BINARY_FOR_GPU: only machine code is in it
    TooNew,      // CUDA_ERROR_NO_BINARY_FOR_GPU: its PTX is for newer devices than this one
    Unsupported, // CUDA_ERROR_NOT_SUPPORTED: sound, but this build cannot read it
};

/// What was found in an image.
struct ImageResult {
    ImageKind kind = ImageKind::Unknown;
    std::optional<std::string> ptx;            // the text to run, without a NUL
    std::uint32_t ptx_sm = 0;                  // what its container says it is for; 0 for bare text
    ImageProblem problem = ImageProblem::None; // None exactly when there is PTX
    std::string message;  // what is wrong and what to do; empty when nothing is
    std::size_t size = 0; // bytes of the image, a closing NUL not counted
    bool has_cubin = false;
    std::uint32_t cubin_sm = 0; // of its first cubin, 90 for sm_90; 0 when unknown
};

/// Finds the PTX in a module image: PTX text, a fatbin, or the wrapper around one.
///
/// Of several PTX entries the one for the newest device that is not newer than `compute_capability`
/// (90 for 9.0) is taken. The driver passes images by address alone: without `size`, the extent
/// comes from the image's own headers or the NUL that ends a text, and the caller vouches for that
/// much memory; with it, nothing beyond is read. Every field is checked before it is believed.
[[nodiscard]] ImageResult read_image(const void* data, std::optional<std::size_t> size,
                                     std::uint32_t compute_capability);

/// Returns whether this build reads PTX that is compressed with zstd, as current toolkits do.
[[nodiscard]] bool can_read_zstd() noexcept;

} // namespace cuprum::emulator
