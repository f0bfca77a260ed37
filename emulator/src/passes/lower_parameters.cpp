// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Parameters. A scalar kernel parameter is an operand of the Launch bank, so ld.param only renames
// it. The parameters of functions and calls are in registers or in local memory; see
// function_lowering.hpp.

#include "decode/reader.hpp"
#include "passes/function_lowering.hpp"

#include <algorithm>

namespace cuprum::emulator::passes {

using bytecode::Operand;
using bytecode::Width;
using ptx::Type;

namespace {

using OperandKind = ptx::Operand::Kind;

/// Returns the registers of a vector operand, or the operand itself.
std::span<const ptx::Operand> elements_of(const ptx::Operand& operand) {
    return operand.kind == OperandKind::Vector ? std::span<const ptx::Operand>(operand.parts)
                                               : std::span(&operand, 1);
}

} // namespace

bool is_param_modifier(std::string_view modifier) {
    return modifier == "param" || modifier == "param::entry" || modifier == "param::func";
}

AccessShape access_shape(const ptx::Instruction& instruction) {
    AccessShape shape;
    for (const std::string_view modifier : instruction.modifiers) {
        if (modifier == "v2" || modifier == "v4" || modifier == "v8") {
            shape.count = static_cast<std::uint32_t>(modifier[1] - '0');
        } else if (const Type type = ptx::type_from(modifier); type != Type::None) {
            shape.type = type;
        }
    }
    return shape;
}

/// Lowers ld.param and st.param. Returns false for loads and stores of other spaces.
bool FunctionLowering::lower_parameter_access(const ptx::Instruction& instruction) {
    if (!std::any_of(instruction.modifiers.begin(), instruction.modifiers.end(),
                     is_param_modifier)) {
        return false;
    }
    const bool is_load = instruction.opcode == "ld";
    const bool is_good = decoding::read(instruction, *this, [](decoding::Reader& reader) {
        decoding::MemoryAccess access;
        return decoding::take_memory_access(reader, access);
    });
    if (!is_good) {
        return true;
    }
    const ptx::Operand& address = instruction.operands[is_load ? 1 : 0];
    const Symbol* symbol = find(address.text);
    if (symbol != nullptr && symbol->kind == Symbol::Kind::KernelParameter && is_load) {
        load_kernel_parameter(instruction, *symbol);
    } else if (symbol != nullptr && symbol->kind == Symbol::Kind::Parameter) {
        access_storage(instruction, *symbol->storage, is_load);
    } else if (symbol != nullptr && symbol->kind == Symbol::Kind::Register) {
        // The address was computed from the address of a parameter.
        decode_in_space(instruction, frames_.size() > 1 || !is_in_kernel() ? "local" : "shared");
    } else {
        invalid("'" + std::string(address.text) + "' is not a parameter that can be " +
                (is_load ? "loaded" : "stored") + " here");
    }
    return true;
}

void FunctionLowering::load_kernel_parameter(const ptx::Instruction& instruction,
                                             const Symbol& parameter) {
    const AccessShape shape = access_shape(instruction);
    const std::size_t size = ptx::size_of(shape.type);
    const ptx::Operand& address = instruction.operands[1];
    const auto registers = elements_of(instruction.operands[0]);
    if (size > 8) {
        decode_in_space(instruction, "shared");
        return;
    }
    // The offset comes from untrusted text, so it must not be part of a sum before it is checked.
    const std::uint64_t bytes = size * registers.size();
    if (address.offset < 0 || bytes > parameter.size_bytes ||
        static_cast<std::uint64_t>(address.offset) > parameter.size_bytes - bytes) {
        invalid("parameter '" + std::string(address.text) + "' has " +
                std::to_string(parameter.size_bytes) + " bytes; this reads " +
                std::to_string(bytes) + " at offset " + std::to_string(address.offset));
        return;
    }
    std::uint64_t offset = parameter.offset + static_cast<std::uint64_t>(address.offset);
    for (const ptx::Operand& element : registers) {
        if (element.kind != OperandKind::Discarded) {
            const Width width = width_of(element);
            emit_copy(destination(element, width),
                      banks_.parameter(static_cast<std::uint32_t>(offset),
                                       static_cast<std::uint8_t>(size), is_signed(shape.type),
                                       width),
                      width);
        }
        offset += size;
    }
}

void FunctionLowering::access_storage(const ptx::Instruction& instruction,
                                      const ParameterStorage& storage, bool is_load) {
    if (!storage.is_in_registers) {
        decode_in_space(instruction, "local");
        return;
    }
    const AccessShape shape = access_shape(instruction);
    const auto size = static_cast<std::uint32_t>(ptx::size_of(shape.type));
    const Width width = size == 8 ? Width::B64 : Width::B32;
    std::int64_t offset = instruction.operands[is_load ? 1 : 0].offset;
    for (const ptx::Operand& value : elements_of(instruction.operands[is_load ? 0 : 1])) {
        const ParameterElement* element = storage.find(offset, size);
        if (element == nullptr) {
            invalid("access to a parameter outside its declared size");
            return;
        }
        if (value.kind == OperandKind::Name && width == Width::B32 &&
            width_of(value) == Width::B64) {
            convert_parameter(instruction, value, element->value, is_load);
        } else if (is_load) {
            emit_copy(destination(value, width), element->value, width);
        } else {
            emit_copy(element->value, source(value, width, shape.type), width);
        }
        offset += size;
    }
}

/// Loads a word of a parameter to a register of 64 bits, or stores the lower word of such a
/// register. PTX allows registers that are wider than the access.
void FunctionLowering::convert_parameter(const ptx::Instruction& access, const ptx::Operand& value,
                                         Operand word, bool is_load) {
    constexpr std::string_view name = "word of a parameter"; // no name that a program can declare
    const bool is_extended = is_signed(access_shape(access).type);
    Symbol symbol;
    symbol.type = is_extended ? Type::S32 : Type::U32;
    symbol.value = word;
    ptx::Operand other;
    other.text = name;
    ptx::Instruction conversion = access;
    conversion.opcode = "cvt";
    if (is_load) {
        conversion.modifiers = {is_extended ? "s64" : "u64", is_extended ? "s32" : "u32"};
        conversion.operands = {value, other};
    } else {
        conversion.modifiers = {"u32", "u64"};
        conversion.operands = {other, value};
    }
    scopes_.push(false);
    scopes_.declare(name, symbol);
    decode(conversion, *this);
    scopes_.pop();
}

/// Decodes an access to parameters as an access to the space that holds them.
void FunctionLowering::decode_in_space(const ptx::Instruction& instruction,
                                       std::string_view space) {
    ptx::Instruction other = instruction;
    for (std::string_view& modifier : other.modifiers) {
        if (is_param_modifier(modifier)) {
            modifier = space;
        }
    }
    decode(other, *this);
}

std::shared_ptr<const ParameterStorage>
FunctionLowering::make_storage(const ptx::Variable& variable, ParameterUse& use) {
    auto storage = std::make_shared<ParameterStorage>();
    if (use.is_memory || !use.is_disjoint()) {
        storage->local_offset = place_local(variable.size_bytes(), variable.effective_alignment());
        return storage;
    }
    storage->is_in_registers = true;
    for (const auto& [offset, size] : use.accesses) {
        const Width width = size == 8 ? Width::B64 : Width::B32;
        storage->elements.push_back({.offset = static_cast<std::uint32_t>(offset),
                                     .size_bytes = size,
                                     .value = temporary(width)});
    }
    return storage;
}

} // namespace cuprum::emulator::passes
