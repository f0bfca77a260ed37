// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// First step of a launch: arguments are checked against the kernel's plan and become addresses.

#pragma once

#include "program/kernel_state.hpp"

#include <cuprum/detail/argument_type.hpp>
#include <cuprum/launch.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

namespace cuprum::detail {

/// Returns the kinds of arguments that a parameter does not take as they are, as bits of
/// ArgumentType::Kind.
[[nodiscard]] constexpr unsigned refused_kinds(ParameterKind kind) noexcept {
    constexpr unsigned bits =
        unsigned{ArgumentType::Floating} << 4U * static_cast<unsigned>(ParameterKind::Integer) |
        unsigned{ArgumentType::Integer} << 4U * static_cast<unsigned>(ParameterKind::Float) |
        unsigned{ArgumentType::Floating} << 4U * static_cast<unsigned>(ParameterKind::Pointer);
    return bits >> 4U * static_cast<unsigned>(kind) & 0xfU;
}

/// Returns whether a parameter takes an argument as it is.
[[nodiscard]] constexpr bool is_taken(const ArgumentType& argument,
                                      const ParameterInfo& parameter) noexcept {
    return argument.size == parameter.size && (argument.kind & refused_kinds(parameter.kind)) == 0;
}

/// Returns whether a kernel takes all arguments as they are, or nothing is known about it.
[[nodiscard]] inline bool are_taken(const KernelState& kernel,
                                    std::span<const ArgumentType> types) noexcept {
    if (!kernel.plan->has_value()) [[unlikely]] {
        return true;
    }
    const std::vector<ParameterInfo>& plan = **kernel.plan;
    if (types.size() != plan.size()) [[unlikely]] {
        return false;
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
        if (!is_taken(types[i], plan[i])) [[unlikely]] {
            return false;
        }
    }
    return true;
}

/// The arguments of one launch as the driver takes them: the address of each value.
///
/// It refers to the caller's values, so that it lives no longer than they do. It allocates nothing,
/// unless there are very many arguments or some have to be converted.
class PackedArguments {
public:
    /// Takes values whose types the compiler knows. Integers for floating-point parameters are
    /// converted.
    /// @throws std::invalid_argument if count, size or kind of the arguments is not the kernel's.
    [[nodiscard]] PackedArguments(const KernelState& kernel, const void* const* addresses,
                                  std::span<const ArgumentType> types);

    /// Takes values of which only the sizes are known.
    /// @throws std::invalid_argument if count or size of the arguments is not the kernel's.
    [[nodiscard]] PackedArguments(const KernelState& kernel,
                                  std::span<const KernelArgument> arguments);

    PackedArguments(const PackedArguments&) = delete;
    PackedArguments& operator=(const PackedArguments&) = delete;

    /// Returns one address for each argument.
    [[nodiscard]] void** addresses() const noexcept { return addresses_; }

private:
    static constexpr std::size_t MAX_ON_STACK = 64;

    [[gnu::cold]] void convert(const KernelState& kernel, const void* const* addresses,
                               std::span<const ArgumentType> types);
    [[noreturn, gnu::cold]] static void refuse_count(const KernelState& kernel, std::size_t count);
    void make_room(std::size_t count);

    void* on_stack_[MAX_ON_STACK]; // NOTE: left uninitialised, this is the fast path
    std::unique_ptr<void*[]> on_heap_;
    std::unique_ptr<double[]> converted_; // large enough for a float, too
    void** addresses_ = on_stack_;
};

/// Packed arguments that own a copy of their values, for work that outlives the call that makes it,
/// such as nodes of graphs.
class OwnedArguments {
public:
    /// Copies the values at `addresses`, which are as many and as large as the plan says.
    [[nodiscard]] OwnedArguments(std::span<const ParameterInfo> plan, void* const* addresses);

    OwnedArguments(const OwnedArguments& other);
    OwnedArguments(OwnedArguments&&) noexcept = default;
    OwnedArguments& operator=(const OwnedArguments& other);
    OwnedArguments& operator=(OwnedArguments&&) noexcept = default;
    ~OwnedArguments() = default;

    /// Returns one address for each argument, valid as long as this object.
    [[nodiscard]] void** addresses() noexcept { return addresses_.data(); }

private:
    std::vector<std::byte> values_;
    std::vector<void*> addresses_; // into the values, which moving does not move
};

// Inline: it is part of every launch.
inline PackedArguments::PackedArguments( // NOLINT(*-member-init)
    const KernelState& kernel, const void* const* addresses, std::span<const ArgumentType> types)
    : addresses_(const_cast<void**>(addresses)) { // the driver only reads
    if (!are_taken(kernel, types)) [[unlikely]] {
        convert(kernel, addresses, types);
    }
}

} // namespace cuprum::detail
