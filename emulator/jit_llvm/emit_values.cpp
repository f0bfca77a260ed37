// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "jit_llvm/emit_values.hpp"

#include <llvm/IR/Constants.h>

namespace cuprum::emulator::jit {

Target Target::of(std::string_view level) {
    const bool is_v4 = level == "isa_v4";
    const bool is_v3 = is_v4 || level == "isa_v3";
    const bool is_generic = level == "isa_generic";
    return {.is_x86 = !is_generic, .has_fma = is_v3 || is_generic, .has_avx512 = is_v4};
}

ValueEmitter::ValueEmitter(llvm::IRBuilder<>& ir, const bytecode::Kernel& kernel, unsigned lanes,
                           const Target& target)
    : ir_(ir), kernel_(kernel), lanes_(lanes), target_(target) {}

llvm::Type* ValueEmitter::shaped(llvm::Type* scalar) const {
    return lanes_ == 1 ? scalar : llvm::FixedVectorType::get(scalar, lanes_);
}

} // namespace cuprum::emulator::jit
