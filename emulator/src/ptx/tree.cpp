// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "ptx/tree.hpp"

#include <array>
#include <limits>

namespace cuprum::emulator::ptx {

namespace {

/// The name and size of a fundamental type.
struct TypeInfo {
    std::string_view name;
    std::size_t size_bytes;
};

// In the order of the enumeration.
constexpr std::array TYPES{
    TypeInfo{"", 0},     TypeInfo{"b8", 1},     TypeInfo{"b16", 2},        TypeInfo{"b32", 4},
    TypeInfo{"b64", 8},  TypeInfo{"b128", 16},  TypeInfo{"u8", 1},         TypeInfo{"u16", 2},
    TypeInfo{"u32", 4},  TypeInfo{"u64", 8},    TypeInfo{"s8", 1},         TypeInfo{"s16", 2},
    TypeInfo{"s32", 4},  TypeInfo{"s64", 8},    TypeInfo{"f16", 2},        TypeInfo{"f16x2", 4},
    TypeInfo{"bf16", 2}, TypeInfo{"bf16x2", 4}, TypeInfo{"f32", 4},        TypeInfo{"f64", 8},
    TypeInfo{"pred", 1}, TypeInfo{"texref", 8}, TypeInfo{"samplerref", 8}, TypeInfo{"surfref", 8},
};
static_assert(TYPES.size() == static_cast<std::size_t>(Type::SurfRef) + 1);

/// Multiplies and saturates, because sizes come from untrusted text.
std::size_t multiply_saturated(std::size_t a, std::size_t b) noexcept {
    std::size_t product = 0;
    return __builtin_mul_overflow(a, b, &product) ? std::numeric_limits<std::size_t>::max()
                                                  : product;
}

} // namespace

std::size_t size_of(Type type) noexcept {
    return TYPES[static_cast<std::size_t>(type)].size_bytes;
}

Type type_from(std::string_view suffix) noexcept {
    if (!suffix.empty() && suffix.front() == '.') {
        suffix.remove_prefix(1);
    }
    for (std::size_t i = 1; i < TYPES.size(); ++i) {
        if (TYPES[i].name == suffix) {
            return static_cast<Type>(i);
        }
    }
    return Type::None;
}

std::string_view to_string(Type type) noexcept {
    return TYPES[static_cast<std::size_t>(type)].name;
}

std::size_t Variable::size_bytes() const noexcept {
    std::size_t size = multiply_saturated(size_of(type), vector_width);
    for (const std::uint64_t dimension : dimensions) {
        size = multiply_saturated(size, dimension);
    }
    return size;
}

std::size_t Variable::effective_alignment() const noexcept {
    return alignment != 0 ? alignment : multiply_saturated(size_of(type), vector_width);
}

std::uint32_t Module::target_sm() const noexcept {
    constexpr std::string_view PREFIX = "sm_";
    // No architecture has more digits; more could overflow.
    constexpr std::size_t MAX_DIGITS = 5;
    for (const std::string_view name : target) {
        if (name.substr(0, PREFIX.size()) != PREFIX) {
            continue;
        }
        std::uint32_t number = 0;
        for (const char c : name.substr(PREFIX.size(), MAX_DIGITS)) {
            if (c < '0' || c > '9') {
                break;
            }
            number = number * 10 + static_cast<std::uint32_t>(c - '0');
        }
        return number;
    }
    return 0;
}

} // namespace cuprum::emulator::ptx
