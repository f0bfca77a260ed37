// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuda.h>

#include <stdexcept>
#include <string>

namespace cuprum::emulator {

/// Ends a driver call with a result code. The message goes to the log.
class DriverError : public std::runtime_error {
public:
    DriverError(CUresult code, const std::string& message)
        : std::runtime_error(message), code_(code) {}

    [[nodiscard]] CUresult code() const noexcept { return code_; }

private:
    CUresult code_;
};

/// Throws DriverError.
[[noreturn]] void fail(CUresult code, const std::string& message);

/// Throws DriverError(CUDA_ERROR_INVALID_VALUE) if `condition` is false.
inline void require(bool condition, const char* message) {
    if (!condition) {
        fail(CUDA_ERROR_INVALID_VALUE, message);
    }
}

/// Throws DriverError(CUDA_ERROR_INVALID_VALUE) unless an array of reserved fields is all 0.
template <typename T>
void require_zero(const T& reserved) {
    for (const auto& each : reserved) {
        require(each == 0, "the reserved fields must be 0");
    }
}

} // namespace cuprum::emulator
