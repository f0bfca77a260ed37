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

/// Returns whether a name contains the parts of a pattern, between its stars, in order.
bool has_parts(std::string_view name, std::string_view pattern) {
    while (!pattern.empty()) {
        const std::string_view part = pattern.substr(0, pattern.find('*'));
        const std::size_t found = name.find(part);
        if (found == std::string_view::npos) {
            return false;
        }
        name.remove_prefix(found + part.size());
        pattern.remove_prefix(std::min(part.size() + 1, pattern.size()));
    }
    return true;
}

} // namespace

JitOptions::JitOptions(unsigned count, CUjit_option* options, void** values) {
    require(count == 0 || (options != nullptr && values != nullptr),
            "options and values must not be NULL");
    for (unsigned index = 0; index < count; ++index) {
        read(options[index], values + index);
    }
    read_names(count, options, values);
    write_error("");
    write_info("");
}

/// Reads the names of kernels and variables that are used; their number is another option.
void JitOptions::read_names(unsigned count, const CUjit_option* options, void* const* values) {
    const auto find = [&](CUjit_option wanted) -> void* {
        const auto* const end = options + count;
        const auto* const found = std::find(options, end, wanted);
        return found == end ? nullptr : values[found - options];
    };
    void* const kernels = find(CU_JIT_REFERENCED_KERNEL_COUNT);
    void* const variables = find(CU_JIT_REFERENCED_VARIABLE_COUNT);
    const std::uint32_t kernel_count = kernels == nullptr ? 0 : number_of(&kernels);
    names_code_ = kernel_count != 0 || (variables != nullptr && number_of(&variables) != 0);
    const auto* const names = static_cast<const char* const*>(find(CU_JIT_REFERENCED_KERNEL_NAMES));
    require(kernel_count == 0 || names != nullptr, "CU_JIT_REFERENCED_KERNEL_NAMES is missing");
    for (std::uint32_t index = 0; index < kernel_count; ++index) {
        require(names[index] != nullptr, "a name in CU_JIT_REFERENCED_KERNEL_NAMES is NULL");
        kernels_.emplace_back(names[index]);
    }
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

void JitOptions::remove_unnamed_kernels(ptx::Module& module) const {
    if (!names_code_) {
        return;
    }
    std::erase_if(module.functions, [this](const ptx::Function& function) {
        return function.is_entry && std::ranges::none_of(kernels_, [&](const std::string& pattern) {
                   return has_parts(function.name, pattern);
               });
    });
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
