// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "device/context_state.hpp"
#include "driver/handle.hpp"
#include "graphics/release.hpp"

#include <cuprum/graphics/external_memory.hpp>

#include <cstddef>
#include <memory>

namespace cuprum::detail {

/// Imported memory. Destroying the state ends the import; what is mapped from it holds the state.
struct ExternalMemoryState {
    CUexternalMemory handle = nullptr;
    std::shared_ptr<ContextState> context;
    unsigned made_at = 0; // the context's count of resets when it was imported
    std::size_t size = 0;
    ExternalMemoryType type = ExternalMemoryType::OpaqueFd;

    explicit ExternalMemoryState(std::shared_ptr<ContextState> home) noexcept
        : context(std::move(home)), made_at(context->reset_count.load(std::memory_order_relaxed)) {}

    ~ExternalMemoryState();
    ExternalMemoryState(const ExternalMemoryState&) = delete;
    ExternalMemoryState& operator=(const ExternalMemoryState&) = delete;

    [[nodiscard]] bool is_lost() const noexcept { return !is_intact(context, made_at); }
};

} // namespace cuprum::detail
