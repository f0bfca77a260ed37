// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Rows of NVML: one for each function, with the parameters that abi/nvml gives it.
//
//     ROW(nvmlDeviceGetNumFans, const State& state, Index index, unsigned int& num_fans) {
//         num_fans = state.sensors.fan_count[index];
//     }
//
// A body gets the state if it asks for it first. Its other parameters take the arguments:
//
//     Index from nvmlDevice_t   the number of the device
//     T& from a pointer         refused if it is null
//     anything else             the argument itself
//
// All that is wrong with arguments is INVALID_ARGUMENT. A body returns nothing and may throw
// Failure.

#pragma once

#include "library.hpp"

#include <type_traits>

namespace cuprum::nvml {

/// The number of a device.
struct Index {
    unsigned int number;

    operator unsigned int() const { return number; } // NOLINT(google-explicit-constructor)
};

/// What a test needs to know about an exported function.
struct Row {
    const char* name;
    bool is_of_device; // its first argument is a device
    bool is_refused;
};

template <typename Function>
constexpr bool IS_OF_DEVICE = false;
template <typename... Rest>
constexpr bool IS_OF_DEVICE<nvmlReturn_t(nvmlDevice_t, Rest...)> = true;

template <typename Wanted, typename Given>
Wanted converted(const State& state, Given given) {
    if constexpr (std::is_same_v<Wanted, Index>) {
        return Index{index_of(state, given)};
    } else if constexpr (std::is_reference_v<Wanted>) {
        require(given);
        return *given;
    } else {
        return given;
    }
}

template <typename... Wanted, typename... Given>
nvmlReturn_t enter(void (*body)(const State&, Wanted...), Given... given) noexcept {
    return entry([&](const State& state) { body(state, converted<Wanted>(state, given)...); });
}

template <typename... Wanted, typename... Given>
nvmlReturn_t enter(void (*body)(Wanted...), Given... given) noexcept {
    return entry([&](const State& state) { body(converted<Wanted>(state, given)...); });
}

/// The body of a function of a device that always returns the same.
template <auto Value, typename T>
nvmlReturn_t constant(nvmlDevice_t device, T* value) noexcept {
    return value_entry(device, value, [](const State&, unsigned int) { return Value; });
}

} // namespace cuprum::nvml

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are names and parameters.

/// Lists a function: the linker joins all parts of this section.
#define CUPRUM_LIST_ROW(function, is_of_device, is_refused)                                        \
    static constexpr cuprum::nvml::Row function##_row{#function, is_of_device, is_refused};        \
    [[gnu::section("cuprum_rows"),                                                                 \
      gnu::used]] static const cuprum::nvml::Row* const function##_listed = &function##_row

/// Defines and lists a function. Only a friend of a template that deduces the parameters need not
/// repeat them.
#define CUPRUM_DEFINE(function, ...)                                                               \
    extern "C" [[gnu::visibility("default")]] nvml_abi::functions::function function;              \
    template <typename Type>                                                                       \
    struct function##_definition;                                                                  \
    template <typename... Given>                                                                   \
    struct function##_definition<nvml_abi::nvmlReturn_t(Given...)> {                               \
        friend nvml_abi::nvmlReturn_t function(Given... given) {                                   \
            return __VA_ARGS__;                                                                    \
        }                                                                                          \
    };                                                                                             \
    template struct function##_definition<nvml_abi::functions::function>;                          \
    [[gnu::used]] static constexpr auto function##_address = &function;                            \
    CUPRUM_LIST_ROW(function, cuprum::nvml::IS_OF_DEVICE<nvml_abi::functions::function>, false)

/// ROW(function of NVML, parameters...) { body }
#define ROW(function, ...)                                                                         \
    static void function##_body(__VA_ARGS__);                                                      \
    CUPRUM_DEFINE(function, cuprum::nvml::enter(function##_body, given...));                       \
    static void function##_body(__VA_ARGS__)

/// A function that calls another one with the same arguments, and with those that follow.
#define ALIAS(function, other, ...)                                                                \
    CUPRUM_DEFINE(function, other(given... __VA_OPT__(, ) __VA_ARGS__))

// NOLINTEND(bugprone-macro-parentheses)
