// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// cvt.pack: two saturated integers, placed below the previously packed value.

#include "interp/handlers/rows.hpp"
#include "interp/handlers/select.hpp"
#include "operations/integer.hpp"
#include "rows/integer.hpp"

namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE {

namespace {

struct Choose {
    template <PackForm FORM>
    static constexpr Handler handler() {
        using U = std::uint32_t;
        using S = std::int32_t;
        if constexpr (FORM.bits == 16) {
            return map_lanes<operations::Pack<FORM>, U, S, S>;
        } else {
            return map_lanes<operations::Pack<FORM>, U, S, S, U>;
        }
    }
};

} // namespace

Handler select_pack(const PackForm& form) {
    return RowHandlers<rows::PACK_ROWS, Choose>::find(form);
}

} // namespace cuprum::emulator::CUPRUM_ISA_NAMESPACE
