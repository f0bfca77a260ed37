// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

namespace cuprum::emulator::bytecode {

/// Returns the name of a kernel or variable for people: as its source has it, without parameters,
/// and cut after 120 characters. "_Z5scaleIfEvPT_f" is "scale<float>", "_ZZ3sumE7partial" is
/// "sum::partial". Other names stay as they are.
[[nodiscard]] std::string readable_name(std::string_view symbol);

} // namespace cuprum::emulator::bytecode
