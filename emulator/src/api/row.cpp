// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "api/row.hpp"

#include <algorithm>
#include <tuple>

using cuprum::emulator::Row;

extern "C" {

// Made by the linker: the two ends of the section that CUPRUM_LIST_ROW adds to.
[[gnu::visibility("hidden")]] extern const Row* const
    __start_cuprum_rows[]; // NOLINT(bugprone-reserved-identifier)
[[gnu::visibility("hidden")]] extern const Row* const
    __stop_cuprum_rows[]; // NOLINT(bugprone-reserved-identifier)

} // extern "C"

namespace cuprum::emulator {

const std::vector<const Row*>& rows() {
    static const auto* const sorted = [] {
        auto* const all = new std::vector<const Row*>(__start_cuprum_rows, __stop_cuprum_rows);
        std::ranges::sort(*all, {}, [](const Row* row) {
            return std::tuple(std::string_view(row->name), row->is_per_thread, row->version);
        });
        return all;
    }();
    return *sorted;
}

} // namespace cuprum::emulator
