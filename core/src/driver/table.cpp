// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/table.hpp"

namespace cuprum::driver {

namespace {

// Ready before any constructor runs, so that static objects of users may reach the driver.
constinit Table library_table;

} // namespace

namespace detail {
constinit ProcessFlags process_flags{&library_table};
constinit std::atomic<const Table*> initialised_table{nullptr};
} // namespace detail

Table* exchange_table(Table* replacement) noexcept {
    Table* previous = detail::process_flags.table.exchange(replacement, std::memory_order_acq_rel);
    detail::initialised_table.store(nullptr, std::memory_order_release);
    return previous;
}

} // namespace cuprum::driver
