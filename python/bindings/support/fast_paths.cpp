// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/fast_paths.hpp"

#include "bindings.hpp"
#include "support/class.hpp"
#include "support/hot_data.hpp"
#include "support/instances.hpp"
#include "support/python_int.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <string>
#include <string_view>

namespace cuprum::python {

namespace {

constexpr const char* VARIABLE = "CUPRUM_DISABLE_FAST_PATHS";
constexpr std::array<const char*, 5> NAMES{"instances", "ints", "numpy", "cupy", "torch"};

enum class State : std::uint8_t { Unchecked, On, Differs };

constinit std::array<std::atomic<State>, NAMES.size()> states{};

/// Calls a function with each name in the variable.
template <typename Function>
void for_each_disabled(const Function& function) {
    const char* const setting = ::secure_getenv(VARIABLE);
    std::string_view rest = setting == nullptr ? "" : setting;
    while (!rest.empty()) {
        const std::size_t comma = std::min(rest.find(','), rest.size());
        if (const std::string_view name = rest.substr(0, comma); !name.empty()) {
            function(name);
        }
        rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
}

[[nodiscard]] bool is_known(std::string_view name) noexcept {
    for (const char* known : NAMES) {
        if (name == known) {
            return true;
        }
    }
    return name == "all";
}

/// Warns of names that mean nothing, so that a misspelt one is noticed.
void check_setting() {
    for_each_disabled([](std::string_view name) {
        if (is_known(name)) {
            return;
        }
        const std::string text = std::string(VARIABLE) + " names '" + std::string(name) +
                                 "', expected 'all' or a list of instances, ints, numpy, cupy, "
                                 "torch";
        if (PyErr_WarnEx(PyExc_RuntimeWarning, text.c_str(), 1) != 0) {
            throw nb::python_error();
        }
    });
}

[[nodiscard]] const char* describe(FastPath path) noexcept {
    if (is_disabled(path)) {
        return "disabled";
    }
    switch (states[static_cast<std::size_t>(path)].load(std::memory_order_relaxed)) {
    case State::On:
        return "on";
    case State::Differs:
        return "off: the layout is not the expected one";
    case State::Unchecked:
        break;
    }
    return "not used yet";
}

} // namespace

bool is_disabled(FastPath path) noexcept {
    bool is_named = false;
    for_each_disabled([&](std::string_view name) {
        is_named = is_named || name == "all" || name == NAMES[static_cast<std::size_t>(path)];
    });
    return is_named;
}

bool note_fast_path(FastPath path, bool is_as_expected) noexcept {
    states[static_cast<std::size_t>(path)].store(is_as_expected ? State::On : State::Differs,
                                                 std::memory_order_relaxed);
    return is_as_expected && !is_disabled(path);
}

void check_fast_paths(nb::handle type) {
    check_setting();
    hot_data.reads_ints = true;
    hot_data.reads_ints = note_fast_path(FastPath::Ints, are_ints_as_expected());
    hot_data.reads_instances = true;
    hot_data.reads_instances = note_fast_path(FastPath::Instances, are_instances_as_expected(type));
}

void bind_fast_paths(nb::module_& module) {
    function(module, "fast_paths", [] {
        nb::dict result;
        for (std::size_t i = 0; i < NAMES.size(); ++i) {
            result[NAMES[i]] = describe(static_cast<FastPath>(i));
        }
        return result;
    });
}

} // namespace cuprum::python
