// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

namespace cuprum::detail {

/// Makes room for one more element, so that adding it cannot fail. The capacity doubles: with
/// `reserve(size() + 1)`, every call would move all elements.
template <typename T>
void make_room_for_one(std::vector<T>& elements) {
    if (elements.size() == elements.capacity()) {
        elements.reserve(2 * elements.size() + 1);
    }
}

} // namespace cuprum::detail
