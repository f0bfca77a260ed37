// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Instructions that look at other lanes of the warp. The gang is the whole warp then.

#include "bytecode/forms.hpp"
#include "jit_llvm/kernel_emitter.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/MDBuilder.h>

namespace cuprum::emulator::jit {

bool KernelEmitter::emit_warp(const Node& /*node*/, Mask /*mask*/) {
    return false;
}

} // namespace cuprum::emulator::jit
