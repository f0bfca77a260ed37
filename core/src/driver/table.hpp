// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The table of driver entry points: the only way to the driver.
//
// An entry starts out pointing at a stub that, on the first call, finds the real function with
// cuGetProcAddress, stores it and calls it: resolved on first use, no check on the calls after. If
// the driver lacks the function, the stub returns CUDA_ERROR_NOT_SUPPORTED. The table can be
// replaced as a whole, which is how calls are traced, made to fail, or answered by a fake driver in
// tests.

#pragma once

#include "driver/newer_headers.hpp"

#include <cuda.h>

#include <atomic>

namespace cuprum::driver {

struct Table;

template <typename Signature>
struct Entry;

/// One driver function: its name, the CUDA version that brought the variant we use, and its
/// address.
template <typename... Params>
// NOLINTNEXTLINE(*-special-member-functions): to move it is to copy it.
struct Entry<CUresult(Params...)> {
    using Function = CUresult (*)(Params...);

    std::atomic<Function> address;
    const char* name;
    int version;

    constexpr Entry(Function function, const char* entry_name, int cuda_version)
        : address(function), name(entry_name), version(cuda_version) {}

    Entry(const Entry& other)
        : address(other.address.load(std::memory_order_relaxed)), name(other.name),
          version(other.version) {}

    Entry& operator=(Function function) {
        address.store(function, std::memory_order_relaxed);
        return *this;
    }

    Entry& operator=(const Entry&) = delete;
    ~Entry() = default;

    /// Calls the function and returns its code. For codes that are answers; else use driver::call.
    CUresult operator()(Params... args) const {
        return address.load(std::memory_order_relaxed)(args...);
    }
};

/// Finds a driver function, loading the driver if need be. Returns null, and notes it as lack()
/// does, if there is no driver or it is too old.
[[nodiscard]] void* resolve(const char* name, int version) noexcept;

/// Notes for raise(), which the thread may call next, that the driver lacks a function. Versions
/// count as the driver does; `found` is 0 if there is no driver. Returns CUDA_ERROR_NOT_SUPPORTED.
CUresult lack(const char* name, int needed, int found) noexcept;

/// Returns the table that calls go through.
[[nodiscard]] Table& table() noexcept;

/// Returns the table below the observers: what they call themselves goes unobserved.
[[nodiscard]] Table& unobserved_table() noexcept;

/// Installs another table and returns the previous one. The caller keeps both alive.
Table* exchange_table(Table* replacement) noexcept;

namespace detail {

template <auto Member>
struct Stub;

template <typename... Params, Entry<CUresult(Params...)> Table::* Member>
struct Stub<Member> {
    static CUresult call(Params... args) {
        const auto& entry = table().*Member;
        const auto function =
            reinterpret_cast<CUresult (*)(Params...)>(resolve(entry.name, entry.version));
        if (function == nullptr) [[unlikely]] {
            return CUDA_ERROR_NOT_SUPPORTED;
        }
        // NOTE: with observers there are two tables. Both may hold this stub; an entry that
        // reports calls to observers must stay.
        enter(table(), function);
        enter(unobserved_table(), function);
        return function(args...);
    }

private:
    /// Replaces this stub in a table, if it is still there.
    static void enter(Table& where, CUresult (*function)(Params...)) {
        auto expected = &call;
        (where.*Member)
            .address.compare_exchange_strong(expected, function, std::memory_order_relaxed);
    }
};

} // namespace detail

/// Every driver function that the library uses. Copyable: a test copies it, replaces some entries
/// and installs the copy.
struct alignas(64) Table { // a line of the cache: the list begins with what belongs together
// NOLINTBEGIN(bugprone-macro-parentheses): it is the name of a member
#define CUPRUM_DRIVER_FUNCTION(function, cuda_version)                                             \
    Entry<decltype(::function)> function{&detail::Stub<&Table::function>::call, #function,         \
                                         cuda_version};
#include "driver/symbols.def"
#undef CUPRUM_DRIVER_FUNCTION
    // NOLINTEND(bugprone-macro-parentheses)
};

namespace detail {

/// The state of the process that nearly every call reads, in one cache line.
struct alignas(64) ProcessFlags {
    std::atomic<Table*> table;
    std::atomic<bool> is_leaving = false;     // see driver::is_leaving()
    std::atomic<bool> was_reset = false;      // a device was reset: check objects before use
    std::atomic<bool> has_one_device = false; // see detail::has_one_device()
    std::atomic<unsigned> host_functions = 0; // that run now; see detail::runs_host_function()
};

extern ProcessFlags process_flags;
extern std::atomic<const Table*> initialised_table; // the one that cuInit was called through

} // namespace detail

inline Table& table() noexcept {
    return *detail::process_flags.table.load(std::memory_order_acquire);
}

} // namespace cuprum::driver
