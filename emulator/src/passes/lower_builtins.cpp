// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Calls of functions that the device itself provides. Each becomes one instruction.

#include "builtins/builtins.hpp"
#include "interp/control.hpp"
#include "passes/function_lowering.hpp"

#include <algorithm>

namespace cuprum::emulator::passes {

using bytecode::Instruction;
using bytecode::Operand;
using bytecode::Width;

namespace {

Width width_of_size(std::uint32_t size_bytes) {
    return size_bytes == 8 ? Width::B64 : Width::B32;
}

} // namespace

void FunctionLowering::lower_builtin(const builtins::Builtin& builtin,
                                     std::span<const ptx::Operand> returns,
                                     std::span<const ptx::Operand> arguments) {
    // A declaration may leave the result out.
    const bool has_result = builtin.result_size != 0;
    if (arguments.size() != builtin.parameter_count || returns.size() > (has_result ? 1 : 0)) {
        invalid("function '" + std::string(builtin.name) +
                "' is declared with other parameters than the device's function has");
        return;
    }
    Instruction call;
    call.form = builtin.op;
    call.flags = bytecode::HAS_SIDE_EFFECT;
    const auto check = [&](const ptx::Operand& actual, std::uint32_t size) {
        const ParameterStorage* storage = storage_of(actual);
        if (storage == nullptr || find(actual.text)->size_bytes != size) {
            invalid("argument '" + std::string(actual.text) + "' of '" + std::string(builtin.name) +
                    "' must be a variable of " + std::to_string(size) + " bytes in .param space");
            storage = nullptr;
        }
        return storage;
    };
    for (std::uint32_t i = 0; i < builtin.used_count; ++i) {
        const std::uint32_t size = builtin.parameter_sizes[i];
        const ParameterStorage* storage = check(arguments[i], size);
        if (storage == nullptr) {
            return;
        }
        const ParameterElement* element =
            storage->is_in_registers ? storage->find(0, size) : nullptr;
        Operand value = element != nullptr ? element->value : temporary(width_of_size(size));
        if (!storage->is_in_registers) {
            Instruction read;
            read.form = FixedOp::ReadLocal;
            read.flags = bytecode::HAS_SIDE_EFFECT;
            read.dst_count = 1;
            read.dst[0] = value;
            read.target = storage->local_offset;
            read.tag = static_cast<std::uint16_t>(size);
            emit(read);
        }
        call.src[call.src_count++] = value;
    }
    const ParameterStorage* result =
        returns.empty() ? nullptr : check(returns[0], builtin.result_size);
    if (!returns.empty() && result == nullptr) {
        return;
    }
    if (has_result) {
        const ParameterElement* element = result != nullptr && result->is_in_registers
                                              ? result->find(0, builtin.result_size)
                                              : nullptr;
        call.dst_count = 1;
        call.dst[0] =
            element != nullptr ? element->value : temporary(width_of_size(builtin.result_size));
    }
    build_.kernel.uses_heap = build_.kernel.uses_heap || builtin.is_heap;
    emit(call);
    if (result != nullptr && !result->is_in_registers) {
        Instruction write;
        write.form = FixedOp::WriteLocal;
        write.flags = bytecode::HAS_SIDE_EFFECT;
        write.src_count = 1;
        write.src[0] = call.dst[0];
        write.target = result->local_offset;
        write.tag = static_cast<std::uint16_t>(builtin.result_size);
        emit(write);
        note_local_write(result->local_offset, builtin.result_size, false);
    }
}

/// Returns the storage of a variable that is passed to a function, or nullptr if it is not a .param
/// variable.
const ParameterStorage* FunctionLowering::storage_of(const ptx::Operand& actual) {
    const Symbol* symbol = actual.kind == ptx::Operand::Kind::Name ? find(actual.text) : nullptr;
    return symbol != nullptr && symbol->kind == Symbol::Kind::Parameter ? symbol->storage.get()
                                                                        : nullptr;
}

} // namespace cuprum::emulator::passes
