// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Registers of several components, `.reg .v4 .f32 %v`, and special ones such as %tid.
//
// A component, `%v.x`, is an ordinary register. An instruction that names the whole vector is
// lowered as if it listed the components in braces. So later stages never see vectors.

#include "passes/function_lowering.hpp"

#include <algorithm>
#include <array>

namespace cuprum::emulator::passes {

namespace {

using OperandKind = ptx::Operand::Kind;

/// The components by position; each also has the name of a colour.
constexpr std::string_view COMPONENTS = "xyzw";
constexpr std::string_view COLOURS = "rgba";

/// A special register that is a vector, with its components. The fourth reads as zero.
struct SpecialVector {
    std::string_view name;
    std::array<std::string_view, 4> components;
};

constexpr std::array SPECIAL_VECTORS{
    SpecialVector{"%tid", {"%tid.x", "%tid.y", "%tid.z", "%tid.w"}},
    SpecialVector{"%ntid", {"%ntid.x", "%ntid.y", "%ntid.z", "%ntid.w"}},
    SpecialVector{"%ctaid", {"%ctaid.x", "%ctaid.y", "%ctaid.z", "%ctaid.w"}},
    SpecialVector{"%nctaid", {"%nctaid.x", "%nctaid.y", "%nctaid.z", "%nctaid.w"}},
    SpecialVector{"%clusterid", {"%clusterid.x", "%clusterid.y", "%clusterid.z", "%clusterid.w"}},
    SpecialVector{"%nclusterid",
                  {"%nclusterid.x", "%nclusterid.y", "%nclusterid.z", "%nclusterid.w"}},
    SpecialVector{"%cluster_ctaid",
                  {"%cluster_ctaid.x", "%cluster_ctaid.y", "%cluster_ctaid.z", "%cluster_ctaid.w"}},
    SpecialVector{
        "%cluster_nctaid",
        {"%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_nctaid.z", "%cluster_nctaid.w"}},
};

/// Returns whether an instruction moves whole vectors, so that it may name a special one.
bool moves_vector(const ptx::Instruction& instruction) {
    return instruction.opcode == "mov" && !instruction.modifiers.empty() &&
           (instruction.modifiers.front() == "v4" || instruction.modifiers.front() == "v2");
}

/// Turns an operand into a list of names in braces.
template <typename Names>
void list_components(ptx::Operand& operand, const Names& names) {
    operand.kind = OperandKind::Vector;
    operand.text = {};
    for (const std::string_view name : names) {
        ptx::Operand part;
        part.text = name;
        part.location = operand.location;
        operand.parts.push_back(std::move(part));
    }
}

} // namespace

Symbol FunctionLowering::make_vector(std::string_view name, ptx::Type type, std::uint32_t width) {
    auto vector = std::make_shared<VectorRegister>();
    for (std::uint32_t i = 0; i < width; ++i) {
        vector->names.push_back(std::string(name) + "." + COMPONENTS[i]);
        vector->components.push_back(make_register(type));
    }
    Symbol symbol;
    symbol.kind = Symbol::Kind::Vector;
    symbol.type = type;
    symbol.vector = std::move(vector);
    return symbol;
}

/// Returns the meaning of `%v.x` or `%v.r`, or nullptr if it is not a component of a register.
const Symbol* FunctionLowering::find_component(std::string_view name) {
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos || dot + 2 != name.size()) {
        return nullptr;
    }
    const std::size_t index = std::min(COMPONENTS.find(name.back()), COLOURS.find(name.back()));
    const Symbol* const symbol = find(name.substr(0, dot));
    if (symbol == nullptr || symbol->kind != Symbol::Kind::Vector ||
        index >= symbol->vector->components.size()) {
        return nullptr;
    }
    return &symbol->vector->components[index];
}

/// Replaces a whole vector register by its components. Returns false for other operands.
bool FunctionLowering::take_apart(ptx::Operand& operand) {
    const Symbol* const symbol = find(operand.text);
    if (symbol == nullptr || symbol->kind != Symbol::Kind::Vector) {
        return false;
    }
    list_components(operand, symbol->vector->names);
    return true;
}

/// Returns the instruction with scalars only: the original, or a copy valid until the next call.
const ptx::Instruction& FunctionLowering::without_vectors(const ptx::Instruction& instruction) {
    const bool is_vector_move = moves_vector(instruction);
    if ((!has_vectors_ && !is_vector_move) || instruction.opcode == "call") {
        return instruction;
    }
    ptx::Instruction apart = instruction;
    bool has_changed = false;
    for (ptx::Operand& operand : apart.operands) {
        if (operand.kind != OperandKind::Name) {
            continue;
        }
        if (take_apart(operand)) {
            has_changed = true;
            continue;
        }
        const auto* const special = std::find_if(
            SPECIAL_VECTORS.begin(), SPECIAL_VECTORS.end(),
            [&](const SpecialVector& each) { return is_vector_move && each.name == operand.text; });
        if (special != SPECIAL_VECTORS.end()) {
            list_components(operand, special->components);
            has_changed = true;
        }
    }
    if (!has_changed) {
        return instruction;
    }
    apart_ = std::move(apart);
    return apart_;
}

} // namespace cuprum::emulator::passes
