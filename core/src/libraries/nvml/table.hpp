// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The table of NVML's functions: the only way to the management library.

#pragma once

#include "libraries/loader.hpp"
#include "nvml/nvml.hpp"

#include <string_view>

namespace cuprum::nvml {

struct Table;
using Library = libraries::Loader<Table>;

/// The address of an entry until its first call, as libraries::Stub. A function that the library
/// lacks answers NVML_ERROR_FUNCTION_NOT_FOUND, so that callers can fall back to an older one.
template <typename Table, auto Member>
struct Stub;

template <typename Table, typename... Params,
          libraries::Entry<nvml_abi::nvmlReturn_t(Params...)> Table::* Member>
struct Stub<Table, Member> {
    static nvml_abi::nvmlReturn_t call(Params... args) {
        auto& entry = libraries::Loader<Table>::table().*Member;
        const auto function = reinterpret_cast<nvml_abi::nvmlReturn_t (*)(Params...)>(
            libraries::Loader<Table>::loaded().file.find(entry.name));
        entry.address.store(function == nullptr ? &missing : function, std::memory_order_relaxed);
        return entry(args...);
    }

    static nvml_abi::nvmlReturn_t missing(Params... /*args*/) {
        return nvml_abi::NVML_ERROR_FUNCTION_NOT_FOUND;
    }
};

/// Every NVML function that Cuprum uses.
struct Table {
// NOLINTBEGIN(bugprone-macro-parentheses): it is the name of a member
#define CUPRUM_NVML_FUNCTION(function, driver)                                                     \
    libraries::Entry<nvml_abi::functions::function> function{&Stub<Table, &Table::function>::call, \
                                                             #function};
#include "libraries/nvml/symbols.def"
#undef CUPRUM_NVML_FUNCTION
    // NOLINTEND(bugprone-macro-parentheses)
};

/// Returns the active table.
[[nodiscard]] inline Table& table() noexcept {
    return Library::table();
}

/// Returns the first driver that has a function, 0 for a name that the table lacks.
[[nodiscard]] int driver_with(std::string_view function) noexcept;

} // namespace cuprum::nvml

template <>
const cuprum::libraries::LibraryDescription
    cuprum::libraries::Loader<cuprum::nvml::Table>::DESCRIPTION;

extern template class cuprum::libraries::Loader<cuprum::nvml::Table>;
