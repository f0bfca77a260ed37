// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// One function of a library, found on its first call. The tables of all libraries but the driver
// are made of these.

#pragma once

#include <atomic>

namespace cuprum::libraries {

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
