// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// One function of a compiler library, found when it is first called. The tables of NVRTC and
// nvJitLink are made of these, as the driver's table is made of driver::Entry.

#pragma once

#include <atomic>

namespace cuprum::nvrtc {

template <typename Signature>
struct Entry;

/// A library function: its name and its address.
template <typename Result, typename... Params>
// NOLINTNEXTLINE(*-special-member-functions): to move it is to copy it.
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

    /// Calls the function and returns what it returns.
    Result operator()(Params... args) const {
        return address.load(std::memory_order_relaxed)(args...);
    }
};

/// What an entry of `TableType` points at until it is first called: finds the function, remembers
/// it and calls it. `find` throws if there is none.
template <typename TableType, auto Member, void* (*Find)(const char*),
          TableType& (*Active)() noexcept>
struct Stub;

template <typename TableType, typename Result, typename... Params,
          Entry<Result(Params...)> TableType::* Member, void* (*Find)(const char*),
          TableType& (*Active)() noexcept>
struct Stub<TableType, Member, Find, Active> {
    static Result call(Params... args) {
        auto& entry = Active().*Member;
        const auto function = reinterpret_cast<Result (*)(Params...)>(Find(entry.name));
        entry.address.store(function, std::memory_order_relaxed);
        return function(args...);
    }
};

} // namespace cuprum::nvrtc
