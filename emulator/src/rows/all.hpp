// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// All lists of rows. The decoder and the tests take them from here, so that none is forgotten.

#pragma once

#include "rows/convert.hpp"
#include "rows/float.hpp"
#include "rows/integer.hpp"
#include "rows/move.hpp"
#include "rows/warp.hpp"

namespace cuprum::emulator::rows {

/// Calls `body(list)` for each list.
template <typename Body>
void for_each_list(Body body) {
    body(INTEGER_ROWS);
    body(DOT_ROWS);
    body(CARRY_ROWS);
    body(BITS_ROWS);
    body(COMPARE_ROWS);
    body(COMPARE_FLOAT_ROWS);
    body(COMPARE_HALF_ROWS);
    body(PACK_ROWS);
    body(SELECT_ROWS);
    body(FLOAT_ROWS);
    body(FUNCTION_ROWS);
    body(HALF_ROWS);
    body(CONVERT_ROWS);
    body(WARP_ROWS);
    body(ACTIVE_MASK_ROWS);
}

} // namespace cuprum::emulator::rows
