// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the compiler knows about a declaration of NVML, as numbers and text that two headers with
// the same names can be compared by.

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

/// One declared name and what it means: a value, a size and offset, or a signature.
struct Fact {
    std::string name;
    std::string meaning;
};

/// Returns the facts of abi/nvml.
std::vector<Fact> our_facts();

/// Returns the facts of NVIDIA's nvml.h.
std::vector<Fact> nvidia_facts();

/// Describes a type as a caller passes it: its kind and its size.
template <typename Type>
std::string describe() {
    using Plain = std::remove_cv_t<Type>;
    if constexpr (std::is_pointer_v<Plain>) {
        using Target = std::remove_pointer_t<Plain>;
        const std::string target = [] {
            if constexpr (std::is_void_v<Target>) {
                return std::string("void");
            } else if constexpr (requires { sizeof(Target); }) {
                return describe<Target>();
            } else {
                return std::string("opaque");
            }
        }();
        return (std::is_const_v<Target> ? "pointer to const " : "pointer to ") + target;
    } else {
        const std::string size = std::to_string(sizeof(Plain));
        if constexpr (std::is_enum_v<Plain>) {
            return "enumeration of " + size;
        } else if constexpr (std::is_floating_point_v<Plain>) {
            return "float of " + size;
        } else if constexpr (std::is_integral_v<Plain>) {
            return (std::is_signed_v<Plain> ? "signed of " : "unsigned of ") + size;
        } else {
            return "structure of " + size;
        }
    }
}

template <typename Function>
struct Signature;

template <typename Result, typename... Params>
struct Signature<Result(Params...)> {
    static std::string text() {
        std::string text = describe<Result>() + " (";
        ((text += describe<Params>() + ", "), ...);
        return text + ")";
    }
};
