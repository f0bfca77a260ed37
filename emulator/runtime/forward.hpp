// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Functions that only call the driver, one line each.
//
//     FORWARD(cudaStreamQuery, cuStreamQuery, IN_CONTEXT);
//
// Both functions take the same arguments in the same order. The headers say which types they have,
// and every argument is converted from one to the other.

#pragma once

#include "runtime.hpp"

#include <bit>
#include <type_traits>

namespace cuprum::runtime {

using Prepare = cudaError_t (*)() noexcept;

/// What is done before the call of the driver.
inline constexpr Prepare IN_CONTEXT = enter;
inline constexpr Prepare WITHOUT_CONTEXT = start;

template <typename T>
concept IsComplete = requires { sizeof(T); };

/// Converts an argument to the type that the driver has for it. The values are the same.
template <typename Wanted, typename Given>
Wanted converted(Given given) noexcept {
    if constexpr (std::is_pointer_v<Given> && std::is_pointer_v<Wanted>) {
        using From = std::remove_pointer_t<Given>;
        using To = std::remove_pointer_t<Wanted>;
        if constexpr (IsComplete<From> && IsComplete<To>) {
            static_assert(sizeof(From) == sizeof(To) && alignof(From) == alignof(To));
            static_assert(std::is_const_v<To> || !std::is_const_v<From>);
        }
        return (Wanted)given; // also from a const handle, which the driver does not have
    } else if constexpr (std::is_pointer_v<Given>) {
        static_assert(std::is_same_v<Wanted, CUdeviceptr>);
        return address(given);
    } else if constexpr (std::is_class_v<Given>) {
        return std::bit_cast<Wanted>(given);
    } else {
        return static_cast<Wanted>(given);
    }
}

/// Calls a function of the driver.
template <typename... Wanted, typename... Given>
cudaError_t forward(Prepare prepare, CUresult (*driver)(Wanted...), Given... given) noexcept {
    return guarded(prepare, [&] { return driver(converted<Wanted>(given)...); });
}

/// Replaces the NULL stream by the thread's own stream. Other arguments stay.
template <typename Argument>
Argument with_own_stream(Argument argument) noexcept {
    if constexpr (std::is_same_v<Argument, cudaStream_t>) {
        return argument == nullptr ? cudaStreamPerThread : argument;
    } else {
        return argument;
    }
}

/// Waits for the work just enqueued on the thread's stream, unless enqueueing failed.
inline cudaError_t wait_after(cudaError_t status) noexcept {
    return status != cudaSuccess ? status : cudaStreamSynchronize(cudaStreamPerThread);
}

} // namespace cuprum::runtime

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are names.

/// Defines a function whose parameters a header declares. Only a friend of a template that deduces
/// them need not repeat them.
#define CUPRUM_DEFINE(function, ...)                                                               \
    template <typename Type>                                                                       \
    struct function##_definition;                                                                  \
    template <typename... Given>                                                                   \
    struct function##_definition<cudaError_t(Given...)> {                                          \
        friend cudaError_t function(Given... given) {                                              \
            return __VA_ARGS__;                                                                    \
        }                                                                                          \
    };                                                                                             \
    template struct function##_definition<decltype(function)>;                                     \
    [[gnu::used]] static constexpr auto function##_address = &function

/// FORWARD(function of the runtime API, function of the driver, what is done before)
#define FORWARD(function, driver, prepare)                                                         \
    CUPRUM_DEFINE(function, cuprum::runtime::forward(cuprum::runtime::prepare, driver, given...))

/// A function of this library that is called with the same arguments, and with those that follow.
#define CALL(function, body, prepare, ...)                                                         \
    CUPRUM_DEFINE(function, cuprum::runtime::guarded(cuprum::runtime::prepare, [&] {               \
                      return body(given... __VA_OPT__(, ) __VA_ARGS__);                            \
                  }))

/// A function that calls another one with the same arguments.
#define ALIAS(function, other) CUPRUM_DEFINE(function, other(given...))

/// The names of programs that are compiled with --default-stream per-thread: stream 0 is then the
/// calling thread's own. Those that block (_ptds) wait only for that stream.
#define PTSZ(function)                                                                             \
    extern "C" decltype(function) function##_ptsz;                                                 \
    CUPRUM_DEFINE(function##_ptsz, function(cuprum::runtime::with_own_stream(given)...))
#define PTDS(function)                                                                             \
    extern "C" decltype(function) function##_ptds;                                                 \
    CUPRUM_DEFINE(function##_ptds,                                                                 \
                  cuprum::runtime::wait_after(function##Async(given..., cudaStreamPerThread)))

// NOLINTEND(bugprone-macro-parentheses)
