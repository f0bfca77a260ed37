// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Handlers of the instructions on textures and surfaces (see bytecode/image_forms.hpp).

#pragma once

#include "bytecode/image_forms.hpp"
#include "bytecode/instruction.hpp"
#include "interp/image.hpp"

#include <cstdint>

namespace cuprum::emulator {

namespace texture {

/// tex and tld4.
[[nodiscard]] const bytecode::Instruction*
sample(WarpContext& warp, const bytecode::Instruction* at, std::uint32_t mask);

/// txq and suq.
[[nodiscard]] const bytecode::Instruction* query(WarpContext& warp, const bytecode::Instruction* at,
                                                 std::uint32_t mask);

/// istypep: dst[0] is a predicate; `tag`: a ReferenceType.
[[nodiscard]] const bytecode::Instruction*
is_type(WarpContext& warp, const bytecode::Instruction* at, std::uint32_t mask);

} // namespace texture

namespace surface {

/// suld, sust and sured.
[[nodiscard]] const bytecode::Instruction*
access(WarpContext& warp, const bytecode::Instruction* at, std::uint32_t mask);

} // namespace surface

} // namespace cuprum::emulator
