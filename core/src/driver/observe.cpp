// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The table whose entries report each call to the observers.

#include "driver/observe.hpp"

#include "driver/call.hpp"
#include "support/once.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <tuple>
#include <type_traits>

namespace cuprum::driver {

namespace {

constexpr std::size_t MAX_OBSERVERS = 8;

struct Observers {
    std::mutex changing;
    std::array<std::atomic<Observer*>, MAX_OBSERVERS> list{};
    std::atomic<Table*> below{nullptr}; // the table that was in use before the first observer
    Table* observed = nullptr;
};

Observers& observers() {
    static cuprum::detail::NeverDestroyed<Observers> only; // destructors may call the driver
    return *only;
}

Table* make_observed_table();

} // namespace

CUresult Observer::before(const Call& /*call*/) {
    return CUDA_SUCCESS;
}

CUresult Observer::after(const Call& /*call*/, CUresult status) {
    return status;
}

void add_observer(Observer& observer) {
    Observers& all = observers();
    const std::lock_guard lock(all.changing);
    std::atomic<Observer*>* free = nullptr;
    bool is_first = true;
    for (auto& place : all.list) {
        Observer* present = place.load(std::memory_order_relaxed);
        if (present == &observer) {
            return;
        }
        if (present != nullptr) {
            is_first = false;
        } else if (free == nullptr) {
            free = &place;
        }
    }
    free->store(&observer, std::memory_order_release);
    if (is_first) {
        if (all.observed == nullptr) {
            all.observed = make_observed_table();
        }
        all.below.store(&table(), std::memory_order_release);
        exchange_table(all.observed);
    }
}

void remove_observer(Observer& observer) {
    Observers& all = observers();
    const std::lock_guard lock(all.changing);
    bool is_last = true;
    bool is_there = false;
    for (auto& place : all.list) {
        Observer* present = place.load(std::memory_order_relaxed);
        if (present == &observer) {
            place.store(nullptr, std::memory_order_release);
            is_there = true;
        } else if (present != nullptr) {
            is_last = false;
        }
    }
    // A table that a test installed since then stays.
    if (is_there && is_last && &table() == all.observed) {
        exchange_table(all.below.load(std::memory_order_relaxed));
    }
}

Table& unobserved_table() noexcept {
    Table* below = observers().below.load(std::memory_order_acquire);
    return below == nullptr ? table() : *below;
}

void append_quoted(std::string& text, const char* words) {
    text += '"';
    for (; *words != '\0'; ++words) {
        const auto byte = static_cast<unsigned char>(*words);
        if (byte == '"' || byte == '\\') {
            text += '\\';
            text += *words;
        } else if (byte < 0x20 || byte == 0x7f) {
            char escaped[8];
            std::snprintf(escaped, sizeof escaped, "\\u%04x", byte);
            text += escaped;
        } else {
            text += *words;
        }
    }
    text += '"';
}

namespace detail {

CUresult observe(const Call& call, CUresult (*invoke)(const void* arguments)) {
    Observers& all = observers();
    std::array<Observer*, MAX_OBSERVERS> told{};
    std::size_t count = 0;
    CUresult status = CUDA_SUCCESS;
    for (const auto& place : all.list) {
        if (Observer* observer = place.load(std::memory_order_acquire)) {
            status = observer->before(call);
            if (status != CUDA_SUCCESS) {
                break;
            }
            told[count++] = observer;
        }
    }
    if (status == CUDA_SUCCESS) {
        status = invoke(call.arguments);
    }
    while (count > 0) {
        status = told[--count]->after(call, status);
    }
    return status;
}

const char* parameter_names(const char* function) noexcept {
    struct Names {
        const char* function;
        const char* parameters;
    };

    static constexpr Names ALL[] = {
#define CUPRUM_DRIVER_PARAMETERS(function, names) {#function, names},
#include "driver/parameters.def"
#undef CUPRUM_DRIVER_PARAMETERS
    };
    const auto* found = std::lower_bound(std::begin(ALL), std::end(ALL), function,
                                         [](const Names& names, const char* wanted) {
                                             return std::strcmp(names.function, wanted) < 0;
                                         });
    return found != std::end(ALL) && std::strcmp(found->function, function) == 0 ? found->parameters
                                                                                 : "";
}

void append_name(std::string& text, const char*& names) {
    const char* end = std::strchr(names, ',');
    if (!text.empty() && text.back() != '{') {
        text += ", ";
    }
    text += '"';
    if (end == nullptr) {
        text += names;
        names += std::strlen(names);
    } else {
        text.append(names, end);
        names = end + 1;
    }
    text += "\": ";
}

void append_value(std::string& text, unsigned long long value, bool is_hexadecimal) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, is_hexadecimal ? "\"0x%llx\"" : "%llu", value);
    text += buffer;
}

void append_value(std::string& text, long long value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%lld", value);
    text += buffer;
}

void append_value(std::string& text, double value) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, "%.9g", value);
    // JSON has no word for the others.
    text += value - value == 0 ? std::string(buffer) : '"' + std::string(buffer) + '"';
}

/// Appends an argument: numbers as numbers, addresses and handles in hexadecimal, names as text.
template <typename T>
void append_argument(std::string& text, T value, bool has_results) {
    if constexpr (std::is_same_v<T, CUdeviceptr>) {
        append_value(text, static_cast<unsigned long long>(value), true);
    } else if constexpr (std::is_floating_point_v<T>) {
        append_value(text, static_cast<double>(value));
    } else if constexpr (std::is_enum_v<T> || (std::is_integral_v<T> && std::is_signed_v<T>)) {
        append_value(text, static_cast<long long>(value));
    } else if constexpr (std::is_integral_v<T>) {
        append_value(text, static_cast<unsigned long long>(value), false);
    } else if constexpr (std::is_same_v<T, const char*>) {
        append_quoted(text, value == nullptr ? "" : value);
    } else if constexpr (std::is_pointer_v<T>) {
        using Target = std::remove_pointer_t<T>;
        constexpr bool IS_RESULT =
            !std::is_const_v<Target> && !std::is_same_v<Target, char> &&
            (std::is_arithmetic_v<Target> || std::is_pointer_v<Target> || std::is_enum_v<Target>);
        if constexpr (IS_RESULT) {
            if (has_results && value != nullptr) {
                append_argument(text, *value, false);
                return;
            }
        }
        append_value(text, reinterpret_cast<unsigned long long>(value), true);
    } else {
        text += "\"...\""; // a structure by value
    }
}

} // namespace detail

template <typename... Params, Entry<CUresult(Params...)> Table::* Member>
struct Observed<Member> {
    using Arguments = std::tuple<Params...>;

    static CUresult call(Params... args) {
        const Arguments arguments(args...);
        Call call{name(), detail::parameter_names(name()), &describe, &arguments, {}};
        (note(call, args), ...);
        return detail::observe(call, &invoke);
    }

private:
    static const char* name() { return (unobserved_table().*Member).name; }

    static CUresult invoke(const void* arguments) {
        return std::apply(unobserved_table().*Member, *static_cast<const Arguments*>(arguments));
    }

    static void describe(const Call& call, bool has_results, std::string& text) {
        const char* names = call.parameters;
        std::apply(
            [&](const auto&... args) {
                ((detail::append_name(text, names),
                  detail::append_argument(text, args, has_results)),
                 ...);
            },
            *static_cast<const Arguments*>(call.arguments));
    }

    template <typename T>
    static void note(Call& call, const T& argument) {
        if constexpr (std::is_same_v<T, CUstream>) {
            call.stream = argument;
        } else if constexpr (std::is_same_v<T, const CUlaunchConfig*>) {
            if (argument != nullptr) {
                call.stream = argument->hStream;
            }
        } else if constexpr (std::is_same_v<T, CUfunction>) {
            call.kernel = argument;
        }
    }
};

namespace {

Table* make_observed_table() {
    auto* observed = new Table(table());
#define CUPRUM_DRIVER_FUNCTION(function, version)                                                  \
    observed->function = &Observed<&Table::function>::call;
#include "driver/symbols.def"
#undef CUPRUM_DRIVER_FUNCTION
    return observed;
}

} // namespace

} // namespace cuprum::driver
