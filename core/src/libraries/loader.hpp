// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Loads one of CUDA's libraries on first use and keeps its table of functions.
//
// To add a library: list its functions in <name>.def, make a Table of Entry members in
// <name>/table.hpp, and define Loader<Table>::DESCRIPTION in <name>/table.cpp. nvjitlink/ is the
// shortest example.

#pragma once

#include "libraries/search.hpp"
#include "support/once.hpp"

#include <atomic>
#include <string>
#include <string_view>

namespace cuprum::libraries {

/// Describes a library to its loader. Versions count as the driver does: 13000 for 13.0.
struct LibraryDescription {
    LibraryRequest request;
    int min_version;
    /// Returns the version of the loaded file; null if the library does not report CUDA's version.
    int (*version_of)(const detail::SharedLibrary& file) = nullptr;
    /// Returns the version that brought a function; null if all came with `min_version`.
    int (*version_of_function)(std::string_view function) = nullptr;
    /// Runs once after loading; may be null.
    void (*after_load)(const detail::SharedLibrary& file, int version) = nullptr;
    /// Finds and loads the file; null if load_library() does.
    detail::SharedLibrary (*load_file)(const LibraryRequest& request) = nullptr;
};

/// A library that was found and loaded.
struct LoadedLibrary {
    detail::SharedLibrary file;
    int version = 0;
    std::string build; // identifies this very build, see file_identity()
};

/// Finds and loads a library.
/// @throws LibraryNotFoundError if there is none, or only one older than `min_version`.
[[nodiscard]] LoadedLibrary load(const LibraryDescription& description);

/// Returns the address of a function.
/// @throws NotSupportedError with the version that has it.
[[nodiscard]] void* find_function(const LibraryDescription& description,
                                  const LoadedLibrary& library, const char* name);

/// The one way to a library: the table of its functions. A test can replace the table as a whole.
template <typename Table>
class Loader {
public:
    /// Returns the active table.
    [[nodiscard]] static Table& table() noexcept {
        return *active_table.load(std::memory_order_acquire);
    }

    /// Activates another table and returns the previous one. The caller keeps both alive.
    static Table* exchange_table(Table* replacement) noexcept {
        return active_table.exchange(replacement, std::memory_order_acq_rel);
    }

    /// Returns the library, loading it on the first call. The next caller retries after a failure.
    /// @throws LibraryNotFoundError if it cannot be found or is too old.
    [[nodiscard]] static const LoadedLibrary& loaded() {
        static detail::NeverDestroyed<LoadedLibrary> library(load(DESCRIPTION));
        return *library; // destructors of others may compile
    }

    /// Finds a function of the library, loading it on the first call.
    /// @throws LibraryNotFoundError as loaded() does, NotSupportedError if it lacks the function.
    [[nodiscard]] static void* resolve(const char* name) {
        return find_function(DESCRIPTION, loaded(), name);
    }

    /// Returns true while a test's table is active: what it calls lies in no library file.
    [[nodiscard]] static bool is_replaced() noexcept { return &table() != &library_table; }

private:
    static const LibraryDescription DESCRIPTION; // each library's table.cpp defines its own
    static Table library_table;
    static std::atomic<Table*> active_table;
};

// Ready before any constructor runs.
template <typename Table>
constinit Table Loader<Table>::library_table;

template <typename Table>
constinit std::atomic<Table*> Loader<Table>::active_table{&library_table};

// One function of a library, found on its first call. The tables of all libraries but the driver
// are made of these.

template <typename Table>
class Loader;

template <typename Signature>
struct Entry;

/// A library function: its name and its address.
template <typename Result, typename... Params>
// NOLINTNEXTLINE(*-special-member-functions): moving an entry copies it.
struct Entry<Result(Params...)> {
    using Function = Result (*)(Params...);

    std::atomic<Function> address;
    const char* name;

    constexpr Entry(Function function, const char* entry_name)
        : address(function), name(entry_name) {}

    Entry(const Entry& other)
        : address(other.address.load(std::memory_order_relaxed)), name(other.name) {}

    Entry& operator=(Function function) {
        address.store(function, std::memory_order_relaxed);
        return *this;
    }

    Entry& operator=(const Entry&) = delete;
    ~Entry() = default;

    /// Calls the function and returns its result.
    Result operator()(Params... args) const {
        return address.load(std::memory_order_relaxed)(args...);
    }
};

/// The address of an entry until its first call: finds the function, stores it and calls it.
template <typename Table, auto Member>
struct Stub;

template <typename Table, typename Result, typename... Params,
          Entry<Result(Params...)> Table::* Member>
struct Stub<Table, Member> {
    static Result call(Params... args) {
        auto& entry = Loader<Table>::table().*Member;
        const auto function =
            reinterpret_cast<Result (*)(Params...)>(Loader<Table>::resolve(entry.name));
        entry.address.store(function, std::memory_order_relaxed);
        return function(args...);
    }
};

} // namespace cuprum::libraries
