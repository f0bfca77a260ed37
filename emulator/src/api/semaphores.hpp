// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "api/handles.hpp"
#include "objects/process/error.hpp"
#include "objects/streams/external_semaphore.hpp"

#include <cstdint>
#include <memory>

namespace cuprum::emulator {

/// Returns signals or waits as a program passes them, checked.
template <typename Batch, typename Item>
[[nodiscard]] Batch semaphores_from(const CUexternalSemaphore* handles, const Item* items,
                                    unsigned count) {
    require(count == 0 || (handles != nullptr && items != nullptr),
            "the array of semaphores or of parameters is NULL");
    Batch batch;
    for (unsigned index = 0; index < count; ++index) {
        batch.semaphores.push_back(object_of(handles[index]));
        require(items[index].flags == 0, "the flags of these semaphores must be 0");
        require_zero(items[index].params.reserved);
        require_zero(items[index].reserved);
    }
    if (count != 0) {
        batch.handles.assign(handles, handles + count);
        batch.items.assign(items, items + count);
    }
    return batch;
}

} // namespace cuprum::emulator
