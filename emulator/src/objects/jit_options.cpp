// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/jit_options.hpp"

#include "objects/error.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace cuprum::emulator {

JitOptions::JitOptions(unsigned count, CUjit_option* options, void** values) {
    require(count == 0 || (options != nullptr && values != nullptr),
            "options and values must not be NULL");
    for (unsigned index = 0; index < count; ++index) {
        void** value = values + index;
        switch (options[index]) {
        case CU_JIT_INFO_LOG_BUFFER:
            info_.data = static_cast<char*>(*value);
            break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
            info_.size = reinterpret_cast<std::uintptr_t>(*value) & 0xFFFFFFFFU;
            info_.written = value;
            break;
        case CU_JIT_ERROR_LOG_BUFFER:
            error_.data = static_cast<char*>(*value);
            break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
            error_.size = reinterpret_cast<std::uintptr_t>(*value) & 0xFFFFFFFFU;
            error_.written = value;
            break;
        default:
            if (options[index] < 0 || options[index] >= CU_JIT_NUM_OPTIONS) {
                fail(CUDA_ERROR_INVALID_VALUE,
                     "unknown JIT option " + std::to_string(options[index]));
            }
            break;
        }
    }
    write_error("");
    write_info("");
}

void JitOptions::write_error(std::string_view text) const {
    write(error_, text);
}

void JitOptions::write_info(std::string_view text) const {
    write(info_, text);
}

void JitOptions::write(const Buffer& buffer, std::string_view text) {
    if (buffer.data == nullptr || buffer.size == 0) {
        return;
    }
    const std::size_t length = std::min(text.size(), buffer.size - 1);
    std::memcpy(buffer.data, text.data(), length);
    buffer.data[length] = '\0';
    *buffer.written = reinterpret_cast<void*>(static_cast<std::uintptr_t>(length));
}

} // namespace cuprum::emulator
