// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// setp and set.

#include "interp/handlers/compare_lanes.hpp"
#include "interp/handlers/float_common.hpp"
#include "interp/handlers/rows.hpp"
#include "interp/handlers/select.hpp"
#include "ptx/type_sizes.hpp"
#include "rows/integer.hpp"

#include <type_traits>

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

struct Unchanged {
    template <typename V>
    [[gnu::always_inline]] static V extend(V value) {
        return value;
    }
};

struct Flushed {
    template <typename V>
    [[gnu::always_inline]] static V extend(V value) {
        return flush(value);
    }
};

[[gnu::always_inline]] inline std::uint32_t combine(std::uint32_t result, std::uint32_t other,
                                                    Combine how) {
    switch (how) {
    case Combine::And:
        return result & other;
    case Combine::Or:
        return result | other;
    case Combine::Xor:
        return result ^ other;
    default:
        return result;
    }
}

template <Compare OP, typename T, typename Prepare>
[[gnu::always_inline]] inline std::uint32_t compare_lanes(const WarpContext& warp,
                                                          const Instruction* at) {
    const std::byte* const a = locate(warp, at->src[0]);
    const std::byte* const b = locate(warp, at->src[1]);
    std::uint32_t result = 0;
    for (unsigned chunk = 0; chunk < CHUNKS<T>; ++chunk) {
        result |= compare_bits<OP, T>(Prepare::extend(load<T>(a, chunk)),
                                      Prepare::extend(load<T>(b, chunk)))
                  << (chunk * LANES<T>);
    }
    return result;
}

/// Combines and writes the results of setp.
[[gnu::always_inline]] inline const Instruction*
write_results(WarpContext& warp, const Instruction* at, std::uint32_t mask, std::uint32_t result) {
    if (at->tag == 0 && at->dst_count == 1) [[likely]] {
        write_predicate(warp, at->dst[0], result, mask);
        return at + 1;
    }
    const auto how = static_cast<Combine>(at->tag & 3);
    std::uint32_t other = 0;
    if (how != Combine::None) {
        other =
            predicate_of(warp, at->src[2]) ^ (0u - static_cast<std::uint32_t>(at->tag >> 2 & 1));
    }
    write_predicate(warp, at->dst[0], combine(result, other, how), mask);
    if (at->dst_count == 2) {
        write_predicate(warp, at->dst[1], combine(~result, other, how), mask);
    }
    return at + 1;
}

template <Compare OP, typename T, typename Prepare>
const Instruction* set_predicate(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    return write_results(warp, at, mask, compare_lanes<OP, T, Prepare>(warp, at));
}

/// Performs set: writes `at->immediate` in lanes where the comparison holds, and 0 in the others.
template <Compare OP, typename T, typename Prepare>
const Instruction* set_value(WarpContext& warp, const Instruction* at, std::uint32_t mask) {
    std::uint32_t result = compare_lanes<OP, T, Prepare>(warp, at);
    if (const auto how = static_cast<Combine>(at->tag & 3); how != Combine::None) {
        const std::uint32_t other =
            predicate_of(warp, at->src[2]) ^ (0u - static_cast<std::uint32_t>(at->tag >> 2 & 1));
        result = combine(result, other, how);
    }
    using U = std::uint32_t;
    std::byte* const to = locate(warp, at->dst[0]);
    const Vector<U> value = broadcast<U>(static_cast<U>(at->immediate));
    for (unsigned chunk = 0; chunk < CHUNKS<U>; ++chunk) {
        store_masked<U>(to, chunk, expand<U>(result, chunk) ? value : Vector<U>{}, mask);
    }
    return at + 1;
}

/// The handlers of integers.
struct Choose {
    template <CompareForm FORM>
    static constexpr Handler handler() {
        constexpr bool is_equality = FORM.compare == Compare::Eq || FORM.compare == Compare::Ne;
        constexpr bool is_signed = ptx::is_signed(FORM.type) && !is_equality;
        constexpr unsigned bits = ptx::bits_of(FORM.type);
        if constexpr (bits == 64) {
            return of_lanes<FORM, std::conditional_t<is_signed, S64, U64>>();
        } else if constexpr (bits == 32) {
            return of_lanes<FORM, std::conditional_t<is_signed, S32, U32>>();
        } else {
            return of_lanes<FORM, std::conditional_t<is_signed, S16, U16>>();
        }
    }

    template <CompareForm FORM, typename I>
    static constexpr Handler of_lanes() {
        return FORM.result == CompareResult::Predicate
                   ? set_predicate<FORM.compare, typename I::Storage, I>
                   : set_value<FORM.compare, typename I::Storage, I>;
    }
};

/// The handlers of f32 and f64.
struct ChooseFloat {
    template <CompareForm FORM>
    static constexpr Handler handler() {
        using T = std::conditional_t<FORM.type == ptx::Type::F64, double, float>;
        using Prepare = std::conditional_t<FORM.flushes, Flushed, Unchanged>;
        return FORM.result == CompareResult::Predicate ? set_predicate<FORM.compare, T, Prepare>
                                                       : set_value<FORM.compare, T, Prepare>;
    }
};

} // namespace

Handler select_compare(const CompareForm& form) {
    if (const Handler handler = RowHandlers<rows::COMPARE_ROWS, Choose>::find(form)) {
        return handler;
    }
    const Handler floats = RowHandlers<rows::COMPARE_FLOAT_ROWS, ChooseFloat>::find(form);
    return floats != nullptr ? floats : select_half_compare(form);
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
