// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the sources of this folder share: NVML's answers as values.

#pragma once

#include "libraries/nvml.hpp"

#include <cuprum/detail/nvml_types.hpp>

#include <array>
#include <bit>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace cuprum::system {

/// Returns a handle as the table takes it.
[[nodiscard]] inline nvml_abi::nvmlDevice_t native(::nvmlDevice_st* device) noexcept {
    return reinterpret_cast<nvml_abi::nvmlDevice_t>(device);
}

/// Returns a handle as the public headers have it.
[[nodiscard]] inline ::nvmlDevice_st* handle_of(nvml_abi::nvmlDevice_t device) noexcept {
    return reinterpret_cast<::nvmlDevice_st*>(device);
}

/// Calls a function whose last argument receives a T, and returns that.
template <typename T, typename Entry, typename... Args>
[[nodiscard]] T query(const Entry& entry, ::nvmlDevice_st* device, Args... args) {
    T value{};
    nvml::call(entry, native(device), args..., &value);
    return value;
}

/// The same for two values.
template <typename T, typename Entry, typename... Args>
[[nodiscard]] std::pair<T, T> query_two(const Entry& entry, ::nvmlDevice_st* device, Args... args) {
    T first{};
    T second{};
    nvml::call(entry, native(device), args..., &first, &second);
    return {first, second};
}

/// Returns whether a feature is enabled.
template <typename Entry, typename... Args>
[[nodiscard]] bool query_enabled(const Entry& entry, ::nvmlDevice_st* device, Args... args) {
    return query<nvml_abi::nvmlEnableState_t>(entry, device, args...) ==
           nvml_abi::NVML_FEATURE_ENABLED;
}

/// Calls a function that writes text of at most SIZE characters.
template <std::size_t SIZE, typename Entry, typename... Args>
[[nodiscard]] std::string query_text(const Entry& entry, Args... args) {
    std::array<char, SIZE> text; // not filled with zeros: this is the larger part of some queries
    text.front() = '\0';
    nvml::call(entry, args..., text.data(), static_cast<unsigned>(SIZE));
    text.back() = '\0';
    return text.data();
}

/// Calls a function that fills an array of T: asks how many there are until all fit.
/// `ask(count, values)` returns the code; `values` is null if `count` is 0. Some functions report
/// too small an array as an error, others as success with a larger count. `spare` is room for what
/// may come up between two calls; leave it 0 for functions that fill all of the array.
template <typename T, typename Ask>
[[nodiscard]] std::vector<T> query_list(const char* function, const Ask& ask, unsigned spare = 0) {
    std::vector<T> values;
    for (;;) {
        auto count = static_cast<unsigned>(values.size());
        const nvml_abi::nvmlReturn_t status = ask(&count, values.empty() ? nullptr : values.data());
        if (status == nvml_abi::NVML_SUCCESS && count <= values.size()) {
            values.resize(count);
            return values;
        }
        if (status != nvml_abi::NVML_SUCCESS && status != nvml_abi::NVML_ERROR_INSUFFICIENT_SIZE) {
            nvml::raise(status, function);
        }
        values.resize(count + spare);
    }
}

/// Returns the bits of a mask that are set, as an enumeration of bits.
template <typename Enum>
[[nodiscard]] std::vector<Enum> bits_of(unsigned long long mask) {
    std::vector<Enum> bits;
    bits.reserve(static_cast<std::size_t>(std::popcount(mask)));
    for (; mask != 0; mask &= mask - 1) {
        bits.push_back(static_cast<Enum>(mask & (~mask + 1))); // the lowest bit
    }
    return bits;
}

} // namespace cuprum::system
