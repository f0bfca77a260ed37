// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Calls that pass registers and constants directly, not through .param variables. If the callee
// expects a value in memory, the value gets a place there. Vectors are passed component by
// component.

#include "interp/control.hpp"
#include "passes/function_lowering.hpp"
#include "passes/words.hpp"

namespace cuprum::emulator::passes {

using bytecode::Instruction;
using bytecode::Operand;
using bytecode::Width;

namespace {

using OperandKind = ptx::Operand::Kind;

} // namespace

/// Returns a place in local memory for a value passed as a .param parameter. Stores the value there
/// if it is an argument. If it cannot be passed this way, reports that and returns nullptr.
std::shared_ptr<const ParameterStorage>
FunctionLowering::spill(const ptx::Variable& formal, const ptx::Operand& actual, bool is_argument) {
    const bool is_value = actual.kind == OperandKind::Name || actual.kind == OperandKind::Integer ||
                          actual.kind == OperandKind::Float32 ||
                          actual.kind == OperandKind::Float64 ||
                          (actual.kind == OperandKind::Discarded && !is_argument);
    const Width width = width_for(formal.type);
    if (!is_value || !formal.dimensions.empty() || formal.vector_width > 1 ||
        (width != Width::B32 && width != Width::B64)) {
        unsupported("passing " + quoted(actual.text) + " as parameter " + quoted(formal.name) +
                    " is not supported; pass a variable in .param space");
        return nullptr;
    }
    // A result narrower than its register leaves the rest zero.
    const Operand value = is_argument ? source(actual, width, formal.type) : constant(0, width);
    if (value.is_none()) {
        return nullptr;
    }
    const auto bytes = static_cast<std::uint32_t>(width);
    auto storage = std::make_shared<ParameterStorage>();
    storage->local_offset = place_local(bytes, bytes);
    Instruction write;
    write.form = FixedOp::WriteLocal;
    write.flags = bytecode::HAS_SIDE_EFFECT;
    write.src_count = 1;
    write.src[0] = value;
    write.target = storage->local_offset;
    write.tag = static_cast<std::uint16_t>(bytes);
    emit(write);
    note_local_write(storage->local_offset, bytes, false);
    return storage;
}

/// Reads a result from the place that spill() returned, unless it is discarded.
void FunctionLowering::fetch_spilled(const ParameterStorage& storage, Operand to, Width width) {
    if (to.is_none()) {
        return;
    }
    Instruction read;
    read.form = FixedOp::ReadLocal;
    read.flags = bytecode::HAS_SIDE_EFFECT;
    read.dst_count = 1;
    read.dst[0] = to;
    read.target = storage.local_offset;
    read.tag = static_cast<std::uint16_t>(width);
    emit(read);
}

/// Passes a vector register as a .reg parameter, whose own register is `vector`. Copies an argument
/// now. Adds to `results`, unless null, what to copy after the body.
void FunctionLowering::bind_vector(const ptx::Variable& formal, const ptx::Operand& actual,
                                   const Symbol& vector,
                                   std::vector<std::pair<Symbol, Operand>>* results) {
    has_vectors_ = true;
    const Symbol* const passed = actual.kind == OperandKind::Name ? find(actual.text) : nullptr;
    const Width width = width_for(formal.type);
    if (passed == nullptr || passed->kind != Symbol::Kind::Vector ||
        passed->vector->components.size() != formal.vector_width ||
        width_for(passed->type) != width) {
        invalid("parameter " + quoted(formal.name) + " needs a register of " +
                std::to_string(formal.vector_width) + " components like its own");
        return;
    }
    for (std::uint32_t i = 0; i < formal.vector_width; ++i) {
        const Symbol& own = vector.vector->components[i];
        const Operand other = passed->vector->components[i].value;
        if (results != nullptr) {
            results->emplace_back(own, other);
        } else {
            emit_copy(own.value, other, width);
        }
    }
}

} // namespace cuprum::emulator::passes
