// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// What the stubs in python/cuprum/_cuprum say: the one description of each class and function.
//
// write_stub_table.py turns them into this table when the bindings are built.

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace cuprum::python {

/// A parameter of a function; the object of a method is none.
struct StubParameter {
    enum Kind : std::uint8_t { ANY, POSITIONAL_ONLY, KEYWORD_ONLY, REST, NAMED_REST };

    const char* name = "";
    const char* annotation = "";
    const char* fallback = nullptr; ///< The default in Python; null if the argument is required.
    Kind kind = ANY;
};

/// A class, method, property or function.
struct StubEntry {
    const char* name;      ///< As in "Stream.record".
    const char* text;      ///< What Python keeps as the documentation.
    const char* signature; ///< With annotations: "(self, event: Event | None=None) -> Event".
    const StubParameter* first_parameter;
    std::size_t parameter_count;

    [[nodiscard]] std::span<const StubParameter> parameters() const noexcept {
        return {first_parameter, parameter_count};
    }
};

/// All entries, sorted by name.
extern const std::span<const StubEntry> STUB_ENTRIES;

/// Returns the entry of a class or function, or of a member of a class.
/// @throws std::logic_error if no stub describes it.
[[nodiscard]] const StubEntry& stub_entry(std::string_view name, std::string_view member = {});

} // namespace cuprum::python
