// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Which instructions in a row one handler can run, as the pass `fuse_loads` asks.

#pragma once

#include "bytecode/instruction.hpp"

namespace cuprum::emulator {

/// Gives the first of three instructions a handler that runs all of them, if they are two loads
/// with linear addresses and a multiply-add of what they load. The caller has made sure that nobody
/// else reads that, and that the three have no guards. May swap the factors of the multiply-add.
void fuse_load_load_fma(bytecode::Instruction& first, const bytecode::Instruction& second,
                        bytecode::Instruction& fma);

} // namespace cuprum::emulator
