// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cvt.pack: two saturated integers, placed below the previously packed value.

#include "interp/handlers/select.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

template <unsigned BITS, bool SIGNED>
struct Pack {
    static std::uint32_t saturate(std::int32_t value) {
        constexpr std::int32_t most = (1 << (SIGNED ? BITS - 1 : BITS)) - 1;
        constexpr std::int32_t least = SIGNED ? -most - 1 : 0;
        const std::int32_t limited = value < least ? least : value > most ? most : value;
        return static_cast<std::uint32_t>(limited) & ((1u << BITS) - 1);
    }

    static std::uint32_t apply(std::int32_t a, std::int32_t b) {
        return saturate(a) << BITS | saturate(b);
    }

    static std::uint32_t apply(std::int32_t a, std::int32_t b, std::uint32_t before) {
        return before << (2 * BITS) | apply(a, b);
    }
};

template <unsigned BITS>
Handler select_sign(bool is_signed) {
    using U = std::uint32_t;
    using S = std::int32_t;
    if constexpr (BITS == 16) {
        return is_signed ? map_lanes<Pack<BITS, true>, U, S, S>
                         : map_lanes<Pack<BITS, false>, U, S, S>;
    } else {
        return is_signed ? map_lanes<Pack<BITS, true>, U, S, S, U>
                         : map_lanes<Pack<BITS, false>, U, S, S, U>;
    }
}

} // namespace

Handler select_pack(const PackForm& form) {
    switch (form.bits) {
    case 2:
        return select_sign<2>(form.is_signed);
    case 4:
        return select_sign<4>(form.is_signed);
    case 8:
        return select_sign<8>(form.is_signed);
    case 16:
        return select_sign<16>(form.is_signed);
    default:
        return nullptr;
    }
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
