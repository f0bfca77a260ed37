// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The operands of texture and surface instructions: from the value of a lane to an image.

#pragma once

#include "bytecode/kernel.hpp"
#include "interp/image.hpp"
#include "interp/warp.hpp"

#include <array>
#include <cstdint>
#include <string>

namespace cuprum::emulator {

typedef std::uint32_t ImageWord __attribute__((may_alias));
typedef std::uint64_t ImageHandle __attribute__((may_alias));

/// Returns the operand that an instruction writes or reads, counting those in `extra`.
[[nodiscard]] bytecode::Operand destination_of(const WarpContext& warp,
                                               const bytecode::Instruction* at, unsigned index);
[[nodiscard]] bytecode::Operand source_of(const WarpContext& warp, const bytecode::Instruction* at,
                                          unsigned index);

/// The words of an instruction's sources behind the handle and the sampler.
class ImageOperands {
public:
    ImageOperands(const WarpContext& warp, const bytecode::Instruction* at, unsigned skipped);

    [[nodiscard]] std::uint32_t word(unsigned index, std::uint32_t lane) const {
        return reinterpret_cast<const ImageWord*>(places_[index])[lane];
    }

    [[nodiscard]] const std::byte* place(unsigned index) const { return places_[index]; }

private:
    std::array<const std::byte*, 20> places_{};
};

/// The lanes that use the same image as the first lane of a mask.
struct ImageLanes {
    const Image* image = nullptr; // nullptr: a fault was raised
    std::uint32_t mask = 0;
};

/// Finds the image of the first lane in `mask`, and the other lanes that use it. Raises a fault if
/// the operand is not a valid handle, nor the address of a variable that holds one, or if memory
/// behind a texture is gone.
[[nodiscard]] ImageLanes find_image(WarpContext& warp, const bytecode::Instruction* at,
                                    std::uint32_t mask, ImageUse use);

/// Returns the image that all lanes of `mask` name, or nullptr if there is none or it cannot be
/// read; raises nothing.
[[nodiscard]] const Image* find_common_image(const WarpContext& warp,
                                             const bytecode::Instruction* at, std::uint32_t mask,
                                             ImageUse use);

/// Changes a sampler to what the second source says. Cuts `mask` down to the lanes that name the
/// same one as the first. Raises a fault and returns false if it is not a sampler.
[[nodiscard]] bool find_sampler(WarpContext& warp, const bytecode::Instruction* at,
                                std::uint32_t& mask, Sampler& sampler);

/// Returns whether the first source of a lane is an image or a sampler; raises nothing.
[[nodiscard]] bool is_image(const WarpContext& warp, const bytecode::Instruction* at,
                            std::uint32_t lane, ImageUse use);
[[nodiscard]] bool is_sampler(const WarpContext& warp, const bytecode::Instruction* at,
                              std::uint32_t lane, Sampler& sampler);

/// Describes an image for reports: "a 2-D array of 19 x 13 texels of 4 bytes".
[[nodiscard]] std::string describe_image(const Image& image);

} // namespace cuprum::emulator
