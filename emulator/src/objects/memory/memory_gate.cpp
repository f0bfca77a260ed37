// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/memory/memory_gate.hpp"

#include "exec/engine.hpp"
#include "objects/process/error.hpp"

namespace cuprum::emulator {

namespace {

/// The scope in which the engine's workers stand still.
class HeldEngine {
public:
    explicit HeldEngine(std::chrono::milliseconds longest) {
        if (!exec::Engine::instance().hold(longest)) {
            fail(CUDA_ERROR_NOT_READY, "a kernel or a copy does not stop; try again");
        }
    }

    ~HeldEngine() { exec::Engine::instance().release(); }

    HeldEngine(const HeldEngine&) = delete;
    HeldEngine& operator=(const HeldEngine&) = delete;
};

} // namespace

MemoryGate& MemoryGate::instance() {
    static auto* gate = new MemoryGate;
    return *gate;
}

void MemoryGate::run_alone(const std::function<void()>& work, std::chrono::milliseconds longest) {
    const std::lock_guard closing(closing_mutex_);
    // First the workers: one that waits at the gate would not stand still.
    const HeldEngine held(longest);
    const std::unique_lock lock(mutex_);
    work();
}

} // namespace cuprum::emulator
