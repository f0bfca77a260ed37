// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/devices/context.hpp"
#include "objects/process/handle_table.hpp"

namespace cuprum::emulator {

/// Waits for all enqueued work of all contexts. Device memory has the same address in every
/// context, so work of any of them may use memory that is about to go.
inline void drain_contexts() {
    for (const auto& object : HandleTable::instance().all(HandleKind::Context)) {
        auto& context = static_cast<Context&>(*object);
        if (context.is_active()) {
            context.drain();
        }
    }
}

} // namespace cuprum::emulator
