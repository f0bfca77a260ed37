// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Compares trees, ignoring the positions in their text.

#pragma once

#include "ptx/tree.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace cuprum::emulator::ptx::testing {

template <typename T>
bool are_same(const T& a, const T& b)
    requires(std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_same_v<T, std::string_view>)
{
    return a == b;
}

template <typename T>
bool are_same(const std::optional<T>& a, const std::optional<T>& b);
template <typename T>
bool are_same(const std::vector<T>& a, const std::vector<T>& b);

inline bool are_same(const Guard& a, const Guard& b) {
    return a.predicate == b.predicate && a.is_negated == b.is_negated;
}

inline bool are_same(const Operand& a, const Operand& b) {
    return a.kind == b.kind && a.is_negated == b.is_negated && a.is_minus == b.is_minus &&
           a.is_unified == b.is_unified && a.text == b.text && a.bits == b.bits &&
           a.offset == b.offset && are_same(a.parts, b.parts);
}

inline bool are_same(const Instruction& a, const Instruction& b) {
    return are_same(a.guard, b.guard) && a.opcode == b.opcode && a.modifiers == b.modifiers &&
           are_same(a.operands, b.operands) && a.source_line == b.source_line &&
           a.source_file == b.source_file;
}

inline bool are_same(const Initializer& a, const Initializer& b) {
    return a.kind == b.kind && a.bits == b.bits && a.symbol == b.symbol && a.word == b.word &&
           a.is_generic == b.is_generic && a.mask == b.mask && are_same(a.items, b.items);
}

inline bool are_same(const Variable& a, const Variable& b) {
    return a.name == b.name && a.space == b.space && a.type == b.type &&
           a.vector_width == b.vector_width && a.alignment == b.alignment &&
           a.dimensions == b.dimensions && a.register_count == b.register_count &&
           a.linkage == b.linkage && a.is_managed == b.is_managed && a.is_pointer == b.is_pointer &&
           a.pointer_space == b.pointer_space && a.pointer_alignment == b.pointer_alignment &&
           are_same(a.initializer, b.initializer);
}

inline bool are_same(const CallPrototype& a, const CallPrototype& b) {
    return a.name == b.name && a.is_noreturn == b.is_noreturn && are_same(a.returns, b.returns) &&
           are_same(a.parameters, b.parameters);
}

inline bool are_same(const TargetList& a, const TargetList& b) {
    return a.name == b.name && a.is_call == b.is_call && a.targets == b.targets;
}

template <typename T>
bool are_same(const Rare<T>& a, const Rare<T>& b) {
    return a.has_value() == b.has_value() && (!a.has_value() || are_same(*a, *b));
}

inline bool are_same(const Statement& a, const Statement& b) {
    return a.kind == b.kind && a.label == b.label && are_same(a.instruction, b.instruction) &&
           are_same(a.variable, b.variable) && are_same(a.block, b.block) &&
           are_same(a.prototype, b.prototype) && are_same(a.targets, b.targets);
}

inline bool are_same(const KernelDirectives& a, const KernelDirectives& b) {
    return std::equal(a.max_threads, a.max_threads + 3, b.max_threads) &&
           std::equal(a.required_threads, a.required_threads + 3, b.required_threads) &&
           std::equal(a.required_cluster, a.required_cluster + 3, b.required_cluster) &&
           a.min_blocks_per_sm == b.min_blocks_per_sm && a.max_registers == b.max_registers &&
           a.max_cluster_rank == b.max_cluster_rank &&
           a.is_explicit_cluster == b.is_explicit_cluster && a.is_noreturn == b.is_noreturn;
}

inline bool are_same(const Function& a, const Function& b) {
    return a.name == b.name && a.is_entry == b.is_entry && a.is_declaration == b.is_declaration &&
           a.linkage == b.linkage && are_same(a.returns, b.returns) &&
           are_same(a.parameters, b.parameters) && are_same(a.directives, b.directives) &&
           are_same(a.body, b.body);
}

inline bool are_same(const Alias& a, const Alias& b) {
    return a.name == b.name && a.target == b.target;
}

/// Returns whether two modules are equal. Ignores how declarations and definitions of functions are
/// interleaved, which the printer does not preserve.
inline bool are_same(const Module& a, const Module& b) {
    const auto select = [](const Module& module, bool is_declaration) {
        std::vector<const Function*> functions;
        for (const Function& function : module.functions) {
            if (function.is_declaration == is_declaration) {
                functions.push_back(&function);
            }
        }
        return functions;
    };
    const auto are_equal = [&](bool is_declaration) {
        return std::ranges::equal(
            select(a, is_declaration), select(b, is_declaration),
            [](const Function* x, const Function* y) { return are_same(*x, *y); });
    };
    return a.version_major == b.version_major && a.version_minor == b.version_minor &&
           a.target == b.target && a.address_size == b.address_size &&
           are_same(a.variables, b.variables) && are_equal(true) && are_equal(false) &&
           are_same(a.aliases, b.aliases) && a.files == b.files;
}

template <typename T>
bool are_same(const std::optional<T>& a, const std::optional<T>& b) {
    return a.has_value() == b.has_value() && (!a || are_same(*a, *b));
}

template <typename T>
bool are_same(const std::vector<T>& a, const std::vector<T>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const T& x, const T& y) { return are_same(x, y); });
}

} // namespace cuprum::emulator::ptx::testing
