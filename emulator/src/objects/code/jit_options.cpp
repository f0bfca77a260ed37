// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/code/jit_options.hpp"

#include "objects/process/error.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

namespace cuprum::emulator {

namespace {

constexpr std::uint32_t MAX_THREADS_PER_BLOCK = 1024;
// Added to a target: for one architecture only, and for a family. Older headers have no names.
constexpr std::uint32_t ACCELERATED_TARGET = 0x10000;
constexpr std::uint32_t FAMILY_TARGET = 0x20000;

/// The architectures of CUjit_target.
constexpr std::uint32_t TARGETS[] = {30, 32, 35, 37, 50, 52, 53,  60,  61,  62,  70,  72, 75,
                                     80, 86, 87, 88, 89, 90, 100, 101, 103, 110, 120, 121};

std::uint32_t number_of(void* const* value) {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(*value));
}

} // namespace

JitOptions::JitOptions(unsigned count, CUjit_option* options, void** values) {
    require(count == 0 || (options != nullptr && values != nullptr),
            "options and values must not be NULL");
    for (unsigned index = 0; index < count; ++index) {
        read(options[index], values + index);
    }
    write_error("");
    write_info("");
}

void JitOptions::read(CUjit_option option, void** value) {
    switch (option) {
    case CU_JIT_INFO_LOG_BUFFER:
        info_.data = static_cast<char*>(*value);
        break;
    case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        info_.size = number_of(value);
        info_.written = value;
        break;
    case CU_JIT_ERROR_LOG_BUFFER:
        error_.data = static_cast<char*>(*value);
        break;
    case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        error_.size = number_of(value);
        error_.written = value;
        break;
    case CU_JIT_MAX_REGISTERS:
        max_registers_ = number_of(value);
        break;
    case CU_JIT_WALL_TIME:
        wall_time_ = value;
        break;
    case CU_JIT_THREADS_PER_BLOCK:
        require(number_of(value) <= MAX_THREADS_PER_BLOCK,
                "CU_JIT_THREADS_PER_BLOCK is larger than a block can be");
        threads_per_block_ = value;
        break;
    case CU_JIT_LOG_VERBOSE:
        is_verbose_ = number_of(value) != 0;
        break;
    case CU_JIT_OPTIMIZATION_LEVEL:
        require(number_of(value) <= 4, "CU_JIT_OPTIMIZATION_LEVEL is from 0 to 4");
        break;
    case CU_JIT_CACHE_MODE: // there is no cache
        require(number_of(value) <= CU_JIT_CACHE_OPTION_CA,
                "CU_JIT_CACHE_MODE is not one of CUjit_cacheMode");
        break;
    case CU_JIT_TARGET:
        target_sm_ = number_of(value) & 0xFFFFU;
        if (number_of(value) != 0 && // none
            std::ranges::find(TARGETS, target_sm_) == std::end(TARGETS)) {
            fail(CUDA_ERROR_INVALID_VALUE, "CU_JIT_TARGET is " + std::to_string(number_of(value)) +
                                               ", which is no architecture");
        }
        switch (number_of(value) & ~0xFFFFU) {
        case 0:
            target_suffix_ = "";
            break;
        case ACCELERATED_TARGET:
            target_suffix_ = "a";
            break;
        case FAMILY_TARGET:
            target_suffix_ = "f";
            break;
        default:
            fail(CUDA_ERROR_INVALID_VALUE, "CU_JIT_TARGET is " + std::to_string(number_of(value)) +
                                               "; expected a value of CUjit_target");
        }
        break;
    case CU_JIT_GLOBAL_SYMBOL_COUNT:
        if (number_of(value) != 0) {
            fail(CUDA_ERROR_NOT_SUPPORTED, "CU_JIT_GLOBAL_SYMBOL_COUNT: symbols given by address "
                                           "are not supported by the emulated device");
        }
        break;
    default:
        if (option < 0 || option >= CU_JIT_NUM_OPTIONS) {
            fail(CUDA_ERROR_INVALID_VALUE, "unknown JIT option " + std::to_string(option));
        }
        break;
    }
}

void JitOptions::limit_registers(ptx::Module& module) const noexcept {
    if (max_registers_ == 0) {
        return;
    }
    for (ptx::Function& function : module.functions) {
        if (function.is_entry && function.directives.max_registers == 0) {
            function.directives.max_registers = max_registers_;
        }
    }
}

void JitOptions::write_results() const {
    if (wall_time_ != nullptr) {
        const std::chrono::duration<float, std::milli> took =
            std::chrono::steady_clock::now() - start_;
        const float milliseconds = took.count();
        std::memcpy(wall_time_, &milliseconds, sizeof milliseconds);
    }
    if (threads_per_block_ != nullptr && number_of(threads_per_block_) == 0) {
        *threads_per_block_ =
            reinterpret_cast<void*>(static_cast<std::uintptr_t>(MAX_THREADS_PER_BLOCK));
    }
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
    if (buffer.written == nullptr) {
        return;
    }
    *buffer.written = reinterpret_cast<void*>(static_cast<std::uintptr_t>(length));
}

} // namespace cuprum::emulator
