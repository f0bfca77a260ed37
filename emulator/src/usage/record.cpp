// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "usage/record.hpp"

#include <algorithm>

namespace cuprum::emulator::usage {

void History::add(std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
    if (end_ns <= begin_ns) {
        return;
    }
    const std::uint64_t last = end_ns >> SLOT_SHIFT;
    const std::uint64_t oldest = last >= SLOT_COUNT ? last - SLOT_COUNT + 1 : 0;
    for (std::uint64_t period = std::max(begin_ns >> SLOT_SHIFT, oldest); period <= last;
         ++period) {
        const std::uint64_t from = std::max(begin_ns, period << SLOT_SHIFT);
        const std::uint64_t to = std::min(end_ns, (period + 1) << SLOT_SHIFT);
        const std::uint64_t units = (to - from + BUSY_UNIT_NS / 2) / BUSY_UNIT_NS;
        const std::uint64_t tag = period << 32;
        Counter& slot = slots[period % SLOT_COUNT];
        std::uint64_t before = slot.load(std::memory_order_relaxed);
        std::uint64_t after = 0;
        do {
            after = (before ^ tag) >> 32 == 0 ? before + units : tag | units;
        } while (!slot.compare_exchange_weak(before, after, std::memory_order_relaxed));
    }
}

} // namespace cuprum::emulator::usage
