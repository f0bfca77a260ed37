// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/error.hpp"

namespace cuprum::emulator {

void fail(CUresult code, const std::string& message) {
    throw DriverError(code, message);
}

} // namespace cuprum::emulator
