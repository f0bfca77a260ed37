// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Rows of the driver API. A row is one function: its exported name, the CUDA version that added it,
// and a body whose parameters say how the arguments are checked.
//
//     ROW_PTSZ(cuStreamGetPriority, 5050, Stream& stream, int& priority) {
//         priority = stream.priority();
//     }
//
// A parameter takes the next argument of the C function:
//
//     T& from a pointer        refused if it is NULL
//     const std::string&       a text that must not be NULL
//     Flags<KNOWN...>          refused if other bits are set; Flags<> must be 0
//     Stream& from CUstream    the object of the handle; also std::shared_ptr<Stream>
//     Device& from CUdevice    the device
//     anything else            the argument itself
//
// or it stands for no argument:
//
//     Early                    the function may be called before cuInit
//     UnsafeCall               refused while a capture forbids unsafe calls
//     InContext                refused without a usable current context
//     GraphLocked              graph definitions are locked during the call
//
// Two passes check from left to right: first what needs no lookup (pointers, flags, UnsafeCall),
// then the others. A body returns nothing; that of an ANSWER returns a code that is not a failure.

#pragma once

#include "api/cuda_abi.hpp"
#include "api/handles.hpp"
#include "api/row.hpp"
#include "objects/process/call_gate.hpp"
#include "objects/process/driver.hpp"
#include "objects/process/origin.hpp"
#include "objects/process/thread_state.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

namespace cuprum::emulator {

// ---- parameters of bodies
// ------------------------------------------------------------------------

struct Early {};

struct UnsafeCall {};

struct InContext {};

struct GraphLocked {};

/// Whether a parameter stands for no argument.
template <typename T>
constexpr bool STANDS_ALONE = std::is_same_v<T, Early> || std::is_same_v<T, UnsafeCall> ||
                              std::is_same_v<T, InContext> || std::is_same_v<T, GraphLocked>;

/// Bits of which only known ones are set.
template <auto... Known>
class Flags {
public:
    static constexpr unsigned long long KNOWN = (0ULL | ... | static_cast<unsigned>(Known));

    explicit Flags(unsigned long long bits) : bits_(static_cast<unsigned>(bits)) {}

    operator unsigned() const { return bits_; } // NOLINT(google-explicit-constructor)

private:
    unsigned bits_;
};

// ---- how an argument becomes a parameter
// -----------------------------------------------------------

/// Throws INVALID_VALUE for the parameter of a body with this index.
[[noreturn]] void refuse_null(const Row& row, std::size_t parameter);
[[noreturn]] void refuse_flags(const Row& row, std::size_t parameter, unsigned long long known);

/// Throws if the current thread, or a capture of another, forbids unsafe calls.
void refuse_unsafe_call();

/// A parameter that is the argument itself. `check` is the first pass, the constructor the second.
template <typename Wanted, typename Given>
struct Argument {
    Given given;

    static void check(const Row& /*row*/, std::size_t /*parameter*/, const Given& /*given*/) {}

    [[nodiscard]] Wanted get() { return static_cast<Wanted>(given); }
};

template <typename T, typename U>
    requires std::is_same_v<const T, const U>
struct Argument<T&, U*> {
    U* given;

    static void check(const Row& row, std::size_t parameter, U* given) {
        if (given == nullptr) [[unlikely]] {
            refuse_null(row, parameter);
        }
    }

    [[nodiscard]] T& get() { return *given; }
};

template <>
struct Argument<const std::string&, const char*> {
    std::string text;

    explicit Argument(const char* given) : text(given) {}

    static void check(const Row& row, std::size_t parameter, const char* given) {
        if (given == nullptr) [[unlikely]] {
            refuse_null(row, parameter);
        }
    }

    [[nodiscard]] const std::string& get() const { return text; }
};

template <auto... Known, typename Given>
struct Argument<Flags<Known...>, Given> {
    Given given;

    static void check(const Row& row, std::size_t parameter, Given given) {
        if ((given & ~Flags<Known...>::KNOWN) != 0) [[unlikely]] {
            refuse_flags(row, parameter, Flags<Known...>::KNOWN);
        }
    }

    [[nodiscard]] Flags<Known...> get() const { return Flags<Known...>(given); }
};

template <typename T, typename Handle>
concept IsObjectOf =
    std::is_same_v<typename decltype(HandleRows::of(Handle{}))::Object, std::remove_const_t<T>>;

/// A parameter that is the object of a handle.
template <typename T, typename Handle>
    requires IsObjectOf<T, Handle*>
struct Argument<T&, Handle*> {
    std::shared_ptr<T> object;

    explicit Argument(Handle* handle) : object(object_of(handle)) {}

    static void check(const Row& /*row*/, std::size_t /*parameter*/, Handle* /*handle*/) {}

    [[nodiscard]] T& get() { return *object; }
};

template <typename T, typename Handle>
    requires IsObjectOf<T, Handle*>
struct Argument<std::shared_ptr<T>, Handle*> : Argument<T&, Handle*> {
    using Argument<T&, Handle*>::Argument;

    [[nodiscard]] std::shared_ptr<T> get() { return std::move(this->object); }
};

template <typename T>
    requires std::is_same_v<std::remove_const_t<T>, Device>
struct Argument<T&, CUdevice> {
    T& device;

    explicit Argument(CUdevice ordinal) : device(device_at(ordinal)) {}

    static void check(const Row& /*row*/, std::size_t /*parameter*/, CUdevice /*ordinal*/) {}

    [[nodiscard]] T& get() { return device; }
};

/// What a parameter takes that stands for no argument.
struct NoArgument {};

template <typename Alone>
    requires STANDS_ALONE<Alone>
struct Argument<Alone, NoArgument> {
    explicit Argument(NoArgument /*none*/) {
        if constexpr (std::is_same_v<Alone, InContext>) {
            (void)current_context();
        }
    }

    static void check(const Row& /*row*/, std::size_t /*parameter*/, NoArgument /*none*/) {
        if constexpr (std::is_same_v<Alone, UnsafeCall>) {
            refuse_unsafe_call();
        }
    }

    [[nodiscard]] Alone get() const { return {}; }
};

// ---- the call
// ------------------------------------------------------------------------------------

/// Converts the current exception to a result code and logs it with the function's name.
[[nodiscard]] CUresult result_of_exception(const char* name) noexcept;

/// Logs the call of a function, at debug level.
void log_call(const char* name) noexcept;

/// A converted argument. Its index keeps those of one type apart.
template <std::size_t Index, typename Wanted, typename Given>
struct Indexed {
    Argument<Wanted, Given> argument;
};

/// All converted arguments of a call: as bases, they are initialised from left to right.
template <typename... Arguments>
struct Converted : Arguments... {};

/// Returns for each parameter the index of its argument; the number of arguments if it takes none.
template <typename... Wanted>
consteval std::array<std::size_t, sizeof...(Wanted) + 1> places_of() {
    std::array<std::size_t, sizeof...(Wanted) + 1> places{};
    [[maybe_unused]] const std::size_t count = (std::size_t{0} + ... + !STANDS_ALONE<Wanted>);
    [[maybe_unused]] std::size_t parameter = 0;
    std::size_t next = 0;
    ((places[parameter++] = STANDS_ALONE<Wanted> ? count : next++), ...);
    places[sizeof...(Wanted)] = next;
    return places;
}

/// Checks and converts the arguments and runs the body. There is one for each parameter.
template <typename Result, typename... Wanted, std::size_t... Index, typename... Given>
CUresult run(const Row& row, Result (*body)(Wanted...),
             std::index_sequence<Index...> /*parameters*/, Given... given) {
    (Argument<Wanted, Given>::check(row, Index, given), ...);
    [[maybe_unused]] Converted<Indexed<Index, Wanted, Given>...> converted{
        {Argument<Wanted, Given>{given}}...};
    if constexpr (std::is_void_v<Result>) {
        body(static_cast<Indexed<Index, Wanted, Given>&>(converted).argument.get()...);
        return CUDA_SUCCESS;
    } else {
        return body(static_cast<Indexed<Index, Wanted, Given>&>(converted).argument.get()...);
    }
}

/// The same for parameters of which some stand for no argument.
template <typename Result, typename... Wanted, std::size_t... Index, typename... Given>
CUresult run_aligned(const Row& row, Result (*body)(Wanted...),
                     std::index_sequence<Index...> parameters, Given... given) {
    constexpr auto places = places_of<Wanted...>();
    static_assert(places.back() == sizeof...(Given), "a body takes all arguments");
    const std::tuple<Given..., NoArgument> all(given..., NoArgument{});
    return run(row, body, parameters, std::get<places[Index]>(all)...);
}

/// Calls the body of a row. No exception leaves it.
template <typename Result, typename... Wanted, typename... Given>
CUresult enter(const Row& row, Result (*body)(Wanted...), Given... given) noexcept {
    const CallScope scope(row.name);
    try {
        if (is_logged(LogLevel::Debug)) [[unlikely]] {
            log_call(row.name);
        }
        constexpr auto parameters = std::index_sequence_for<Wanted...>();
        if constexpr ((std::is_same_v<Wanted, Early> || ...)) {
            return run_aligned(row, body, parameters, given...);
        } else {
            const CallGate::Pass pass;
            Driver::instance().check_usable();
            if constexpr ((STANDS_ALONE<Wanted> || ...)) {
                return run_aligned(row, body, parameters, given...);
            } else {
                return run(row, body, parameters, given...);
            }
        }
    } catch (...) {
        return result_of_exception(row.name);
    }
}

/// Calls a function for which NULL is the calling thread's default stream.
template <typename... Given>
CUresult per_thread(CUresult(CUDAAPI* function)(Given...), Given... given) noexcept {
    struct Scope {
        bool& flag;
        bool before;

        ~Scope() { flag = before; }
    };

    bool& flag = thread_state().null_is_per_thread;
    const Scope scope{flag, flag};
    flag = true;
    return function(given...);
}

} // namespace cuprum::emulator

// NOLINTBEGIN(bugprone-macro-parentheses): the arguments are names and parameters.

/// Defines and lists an exported function. cuda.h declares its parameters: a friend of a template
/// that deduces them is the only definition that need not repeat them.
#define CUPRUM_DEFINE(symbol, version, parameters, ...)                                            \
    template <typename Type>                                                                       \
    struct symbol##_definition;                                                                    \
    template <typename... Given>                                                                   \
    struct symbol##_definition<CUresult(Given...)> {                                               \
        static constexpr auto NAME = cuprum::emulator::public_name(#symbol);                       \
        static const cuprum::emulator::Row ROW;                                                    \
        friend CUresult symbol(Given... given) {                                                   \
            return __VA_ARGS__;                                                                    \
        }                                                                                          \
    };                                                                                             \
    template <typename... Given>                                                                   \
    const cuprum::emulator::Row symbol##_definition<CUresult(Given...)>::ROW{                      \
        #symbol,                                                                                   \
        NAME.data(),                                                                               \
        version,                                                                                   \
        cuprum::emulator::is_per_thread(#symbol),                                                  \
        parameters,                                                                                \
        nullptr,                                                                                   \
        reinterpret_cast<void*>(&symbol)};                                                         \
    CUPRUM_LIST_ROW(symbol, symbol##_definition<decltype(symbol)>::ROW)

#define CUPRUM_BODY(symbol, version, result, ...)                                                  \
    static result symbol##_body(__VA_ARGS__);                                                      \
    CUPRUM_DEFINE(symbol, version, #__VA_ARGS__,                                                   \
                  cuprum::emulator::enter(ROW, symbol##_body, given...))

/// Adds the name for which NULL is the calling thread's default stream. Per-thread names came with
/// CUDA 7.
#define CUPRUM_TWIN(symbol, version, suffix)                                                       \
    extern "C" [[gnu::visibility("default")]] decltype(symbol) symbol##suffix;                     \
    CUPRUM_DEFINE(symbol##suffix, (version) < 7000 ? 7000 : (version), nullptr,                    \
                  cuprum::emulator::per_thread(symbol, given...));

/// A function of the driver API: ROW(exported name, CUDA version, parameters...) { body }
#define ROW(symbol, version, ...)                                                                  \
    CUPRUM_BODY(symbol, version, void, __VA_ARGS__);                                               \
    static void symbol##_body(__VA_ARGS__)

/// The same with a name for per-thread default streams, which ends in `_ptsz` if the function takes
/// a stream and in `_ptds` if not.
#define ROW_PTSZ(symbol, version, ...)                                                             \
    CUPRUM_TWIN(symbol, version, _ptsz)                                                            \
    ROW(symbol, version, __VA_ARGS__)
#define ROW_PTDS(symbol, version, ...)                                                             \
    CUPRUM_TWIN(symbol, version, _ptds)                                                            \
    ROW(symbol, version, __VA_ARGS__)

/// A function whose body returns a code that is an answer, not a failure (NOT_READY).
#define ANSWER(symbol, version, ...)                                                               \
    CUPRUM_BODY(symbol, version, CUresult, __VA_ARGS__);                                           \
    static CUresult symbol##_body(__VA_ARGS__)
#define ANSWER_PTSZ(symbol, version, ...)                                                          \
    CUPRUM_TWIN(symbol, version, _ptsz)                                                            \
    ANSWER(symbol, version, __VA_ARGS__)

/// A function whose body is an instance of a template, which several share.
#define USE(symbol, version, ...)                                                                  \
    CUPRUM_DEFINE(symbol, version, nullptr, cuprum::emulator::enter(ROW, __VA_ARGS__, given...))
#define USE_PTSZ(symbol, version, ...)                                                             \
    CUPRUM_TWIN(symbol, version, _ptsz)                                                            \
    USE(symbol, version, __VA_ARGS__)
#define USE_PTDS(symbol, version, ...)                                                             \
    CUPRUM_TWIN(symbol, version, _ptds)                                                            \
    USE(symbol, version, __VA_ARGS__)

/// A function that calls another one with the same arguments.
#define ALIAS(symbol, version, other) CUPRUM_DEFINE(symbol, version, nullptr, other(given...))
#define ALIAS_PTSZ(symbol, version, other)                                                         \
    CUPRUM_TWIN(symbol, version, _ptsz)                                                            \
    ALIAS(symbol, version, other)

/// A function that calls another one with other arguments. The parameters are those of cuda.h.
#define FORWARD(symbol, version, ...)                                                              \
    static CUresult symbol##_body(__VA_ARGS__);                                                    \
    CUPRUM_DEFINE(symbol, version, nullptr, symbol##_body(given...));                              \
    static CUresult symbol##_body(__VA_ARGS__)
#define FORWARD_PTSZ(symbol, version, ...)                                                         \
    CUPRUM_TWIN(symbol, version, _ptsz)                                                            \
    FORWARD(symbol, version, __VA_ARGS__)

// NOLINTEND(bugprone-macro-parentheses)
