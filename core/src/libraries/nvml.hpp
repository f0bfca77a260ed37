// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The table of NVML's functions: the only way to the management library.

#pragma once

#include "libraries/loader.hpp"
#include "nvml/nvml.hpp"

#include <atomic>
#include <string>
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
#include "libraries/nvml.def"
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

namespace cuprum::nvml {

// Checked calls of NVML. The first call in a process initialises NVML; nobody shuts it down, as it
// costs nothing while idle and other libraries may use it.

/// What is known about NVML in this process.
enum class State : int { Uninitialized = 0, Initialized = 1, Busy = 2 };

/// The state. A fork resets it in the child, which must initialise NVML itself.
extern std::atomic<State> state;

/// Initialises NVML. Any number of threads may call it at once.
/// @throws LibraryNotFoundError, NVMLError.
void initialize();

/// Returns the name of a result code, such as "NVML_ERROR_NOT_SUPPORTED".
[[nodiscard]] std::string name_of(nvml_abi::nvmlReturn_t status);

/// Throws NVMLError. `advice` says what to do if more is known than the code says.
[[noreturn, gnu::cold]] void raise(nvml_abi::nvmlReturn_t status, const char* function,
                                   std::string_view advice = {});

/// Calls a function and returns its code. Initialises NVML before, and again if another library
/// shut it down.
template <typename... Params, typename... Args>
[[nodiscard]] nvml_abi::nvmlReturn_t
try_call(const libraries::Entry<nvml_abi::nvmlReturn_t(Params...)>& entry, Args... args) {
    if (state.load(std::memory_order_acquire) != State::Initialized) [[unlikely]] {
        initialize();
    }
    nvml_abi::nvmlReturn_t status = entry(args...);
    if (status == nvml_abi::NVML_ERROR_UNINITIALIZED) [[unlikely]] {
        State expected = State::Initialized;
        state.compare_exchange_strong(expected, State::Uninitialized);
        initialize();
        status = entry(args...);
    }
    return status;
}

/// Calls a function and throws NVMLError, naming it, unless it succeeds.
template <typename... Params, typename... Args>
void call(const libraries::Entry<nvml_abi::nvmlReturn_t(Params...)>& entry, Args... args) {
    if (const nvml_abi::nvmlReturn_t status = try_call(entry, args...);
        status != nvml_abi::NVML_SUCCESS) [[unlikely]] {
        raise(status, entry.name);
    }
}

} // namespace cuprum::nvml
