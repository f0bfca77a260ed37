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

template <Compare OP, typename T, typename Prepare>
Handler choose(const CompareForm& form) {
    return form.result == CompareResult::Predicate ? set_predicate<OP, T, Prepare>
                                                   : set_value<OP, T, Prepare>;
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

template <typename T, typename Prepare>
Handler select_float_compare(const CompareForm& form) {
    switch (form.compare) {
    case Compare::Eq:
        return choose<Compare::Eq, T, Prepare>(form);
    case Compare::Ne:
        return choose<Compare::Ne, T, Prepare>(form);
    case Compare::Lt:
        return choose<Compare::Lt, T, Prepare>(form);
    case Compare::Le:
        return choose<Compare::Le, T, Prepare>(form);
    case Compare::Gt:
        return choose<Compare::Gt, T, Prepare>(form);
    case Compare::Ge:
        return choose<Compare::Ge, T, Prepare>(form);
    case Compare::Equ:
        return choose<Compare::Equ, T, Prepare>(form);
    case Compare::Neu:
        return choose<Compare::Neu, T, Prepare>(form);
    case Compare::Ltu:
        return choose<Compare::Ltu, T, Prepare>(form);
    case Compare::Leu:
        return choose<Compare::Leu, T, Prepare>(form);
    case Compare::Gtu:
        return choose<Compare::Gtu, T, Prepare>(form);
    case Compare::Geu:
        return choose<Compare::Geu, T, Prepare>(form);
    case Compare::Num:
        return choose<Compare::Num, T, Prepare>(form);
    case Compare::Nan:
        return choose<Compare::Nan, T, Prepare>(form);
    default:
        return nullptr;
    }
}

} // namespace

Handler select_compare(const CompareForm& form) {
    switch (form.type) {
    case ptx::Type::F32:
        return form.flushes ? select_float_compare<float, Flushed>(form)
                            : select_float_compare<float, Unchanged>(form);
    case ptx::Type::F64:
        return select_float_compare<double, Unchanged>(form);
    case ptx::Type::F16:
    case ptx::Type::F16x2:
    case ptx::Type::BF16:
    case ptx::Type::BF16x2:
        return select_half_compare(form);
    default:
        return RowHandlers<rows::COMPARE_ROWS, Choose>::find(form);
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
