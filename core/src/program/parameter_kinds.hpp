// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The driver reports sizes of parameters, but not whether four bytes are a float or an int. Code
// often says it: PTX declares each parameter, and the mangled name of a C++ kernel lists its types.

#pragma once

#include <cuprum/kernel.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::detail {

/// What a declaration says about one parameter.
struct DeclaredParameter {
    ParameterKind kind = ParameterKind::Unknown;
    std::size_t size = 0; // bytes; 0 if the declaration does not say it

    friend bool operator==(const DeclaredParameter&, const DeclaredParameter&) = default;
};

/// Reads the parameters of a kernel from its declaration in PTX; nothing if it has none there, or
/// one that is not understood.
[[nodiscard]] std::optional<std::vector<DeclaredParameter>>
parameters_in_ptx(std::string_view ptx, std::string_view kernel);

/// Returns the declarations of all kernels in PTX, without their bodies. parameters_in_ptx() reads
/// them as it reads the whole.
[[nodiscard]] std::string kernel_declarations(std::string_view ptx);

/// Returns PTX whose kernels have a limit of registers, unless they have one of their own.
[[nodiscard]] std::string with_register_limit(std::string_view ptx, std::optional<int> limit);

/// Reads the parameters of a function from its mangled name (Itanium C++ ABI); nothing if the name
/// is not mangled, or uses what is not understood.
[[nodiscard]] std::optional<std::vector<DeclaredParameter>>
parameters_in_name(std::string_view mangled);

/// Fills in the kinds of a kernel's parameters as far as its PTX, which may be empty, or its name
/// says them. Declarations that disagree with the driver's sizes are ignored.
void note_kinds(std::span<ParameterInfo> parameters, std::string_view kernel, std::string_view ptx);

} // namespace cuprum::detail
