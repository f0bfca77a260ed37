// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Operations on heads of linear registers: one operation on base and steps instead of one per lane.
// linear.cpp uses them for a warp, lockstep.cpp for all warps of a block.

#pragma once

#include "interp/handlers/linear.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

/// Arithmetic on heads. An operation returns false if its result is not linear.
///
/// `Scope` says which threads share a head. It has
/// - STEPS: the places of the head that hold steps, as bits;
/// - places(base, step): a head with these numbers, where all steps from warp to warp or from block
///   to block together, if there are any, reach no further than one step of a lane.
template <typename Scope>
struct HeadArithmetic {
    using U = std::uint32_t;
    using UL = std::uint64_t;

    /// Returns whether all threads have the same value.
    [[gnu::always_inline]] static bool is_same(Head value) {
        return (nonzero_places(value) & Scope::STEPS) == 0;
    }

    [[gnu::always_inline]] static bool multiply(Head a, Head b, Head& result) {
        if (is_same(b)) {
            result = a * b[0];
            return true;
        }
        if (is_same(a)) {
            result = b * a[0];
            return true;
        }
        return false;
    }

    /// Extends a 32-bit value to 64 bits. Returns false if some thread's value might wrap at 32.
    template <bool IS_SIGNED>
    [[gnu::always_inline]] static bool widen(Head value, Head& result) {
        if (is_same(value)) {
            const auto base = static_cast<U>(value[0]);
            result = Head{IS_SIGNED ? static_cast<UL>(static_cast<std::int32_t>(base)) : base};
            return true;
        }
        // Steps below this cannot carry the sum out of 32 bits, whatever their signs.
        constexpr UL step = UL{1} << 27;
        constexpr UL base = UL{1} << (IS_SIGNED ? 30 : 31);
        const Head numbers = sign_extended(value);
        const Head below = IS_SIGNED ? Scope::places(base, step) : Head{};
        const Head limit =
            IS_SIGNED ? Scope::places(2 * base, 2 * step) : Scope::places(base, step);
        if ((places_at_least(numbers + below, limit) & (Scope::STEPS | 1)) != 0) {
            return false;
        }
        result = numbers;
        return true;
    }

    struct Add {
        [[gnu::always_inline]] static bool apply(Head a, Head b, Head, Head& result) {
            result = a + b;
            return true;
        }
    };

    struct Sub {
        [[gnu::always_inline]] static bool apply(Head a, Head b, Head, Head& result) {
            result = a - b;
            return true;
        }
    };

    struct Mul {
        [[gnu::always_inline]] static bool apply(Head a, Head b, Head, Head& result) {
            return multiply(a, b, result);
        }
    };

    struct Mad {
        [[gnu::always_inline]] static bool apply(Head a, Head b, Head c, Head& result) {
            const bool is_done = multiply(a, b, result);
            result += c;
            return is_done;
        }
    };

    template <bool IS_SIGNED>
    struct MulWide {
        [[gnu::always_inline]] static bool apply(Head a, Head b, Head, Head& result) {
            return widen<IS_SIGNED>(a, a) && widen<IS_SIGNED>(b, b) && multiply(a, b, result);
        }
    };

    template <bool IS_SIGNED>
    struct MadWide {
        [[gnu::always_inline]] static bool apply(Head a, Head b, Head c, Head& result) {
            const bool is_done =
                widen<IS_SIGNED>(a, a) && widen<IS_SIGNED>(b, b) && multiply(a, b, result);
            result += c;
            return is_done;
        }
    };

    template <bool IS_SIGNED>
    struct Widen {
        [[gnu::always_inline]] static bool apply(Head a, Head, Head, Head& result) {
            return widen<IS_SIGNED>(a, result);
        }
    };

    struct Copy {
        [[gnu::always_inline]] static bool apply(Head a, Head, Head, Head& result) {
            result = a;
            return true;
        }
    };

    template <unsigned BITS>
    struct ShiftLeft {
        [[gnu::always_inline]] static bool apply(Head a, Head b, Head, Head& result) {
            const auto amount = static_cast<U>(b[0]);
            result = amount < BITS ? a << UL{amount} : Head{};
            return is_same(b);
        }
    };

    /// An operation that is done once if all threads have the same sources.
    template <typename Scalar>
    struct Uniform {
        [[gnu::always_inline]] static bool apply(Head a, Head b, Head, Head& result) {
            result = Head{Scalar::apply(a[0], b[0])};
            return is_same(a | b);
        }
    };

    struct And {
        static UL apply(UL a, UL b) { return a & b; }
    };

    struct Or {
        static UL apply(UL a, UL b) { return a | b; }
    };

    struct Xor {
        static UL apply(UL a, UL b) { return a ^ b; }
    };

    template <typename T>
    struct ShiftRight {
        static UL apply(UL a, UL b) {
            constexpr U bits = sizeof(T) * 8;
            constexpr bool is_signed = T(-1) < T(0);
            const auto amount = static_cast<U>(b);
            const T value = static_cast<T>(a);
            if (amount >= bits) {
                return is_signed && value < 0 ? ~UL{0} : 0;
            }
            return static_cast<UL>(value >> amount);
        }
    };
};

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
