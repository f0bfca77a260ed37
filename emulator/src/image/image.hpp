// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace cuprum::emulator {

/// The kinds of module images.
enum class ImageKind : std::uint8_t {
    Unknown,
    Ptx,    // text
    Fatbin, // a container, bare or behind the wrapper that host compilers emit
    Cubin,  // machine code of a GPU
};

/// Why an image has no usable PTX. It determines the driver's result code.
enum class ImageProblem : std::uint8_t {
    None,
    Malformed,   // CUDA_ERROR_INVALID_IMAGE
    NoPtx,       // CUDA_ERROR_NO_BINARY_FOR_GPU: it contains only machine code
    TooNew,      // CUDA_ERROR_NO_BINARY_FOR_GPU: its PTX is for newer devices than this one
    OtherDevice, // CUDA_ERROR_NO_BINARY_FOR_GPU: its PTX stands for machine code of other devices
    Unsupported, // CUDA_ERROR_NOT_SUPPORTED: valid, but this build cannot read it
};

/// The contents of an image.
struct ImageResult {
    ImageKind kind = ImageKind::Unknown;
    std::optional<std::string> ptx;            // the text to run, without a NUL
    std::uint32_t ptx_sm = 0;                  // the target in its container; 0 for bare text
    ImageProblem problem = ImageProblem::None; // None if and only if there is PTX
    std::string message;  // what is wrong and what to do; empty if there is PTX
    std::size_t size = 0; // bytes of the image, a closing NUL not counted
    bool has_cubin = false;
    std::uint32_t cubin_sm = 0; // of its first cubin, 90 for sm_90; 0 when unknown
};

/// Finds the PTX in a module image: PTX text, a fatbin, or the wrapper around one.
///
/// If there are several PTX entries, it takes the one for the newest device up to
/// `compute_capability` (90 for 9.0). PTX that stands for machine code counts only for devices that
/// could run the machine code. The driver gets images by address alone: without `size`, the
/// extent comes from the image's own headers or the NUL that ends a text, and the caller must
/// guarantee that this memory is readable. With `size`, nothing beyond is read. Images are
/// untrusted: every field is checked before it is used.
[[nodiscard]] ImageResult read_image(const void* data, std::optional<std::size_t> size,
                                     std::uint32_t compute_capability);

/// Returns whether this build reads PTX that is compressed with zstd, as current toolkits do.
[[nodiscard]] bool can_read_zstd() noexcept;

} // namespace cuprum::emulator
