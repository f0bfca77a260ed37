// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/process/thread_state.hpp"

#include "objects/process/driver.hpp"
#include "objects/process/error.hpp"

#include <algorithm>

namespace cuprum::emulator {

namespace {

// A plain pointer, which can be read at any time. The reaper below has a destructor and clears it.
// A later caller, such as a static destructor, gets a new state that is never freed.
thread_local constinit ThreadState* state_here = nullptr;

struct Reaper {
    bool is_armed = false;

    ~Reaper() {
        if (Driver::instance().is_forked()) {
            return; // what goes with the last reference may need a lock that nobody releases here
        }
        if (state_here != nullptr) {
            // No code can use these streams any more. Their contexts drop them when they are idle.
            for (const auto& [key, stream] : state_here->default_streams) {
                stream->retire();
            }
        }
        delete state_here;
        state_here = nullptr;
    }
};

thread_local Reaper reaper;
thread_local constinit bool was_reaper_used = false;

} // namespace

ThreadState& thread_state() {
    if (state_here == nullptr) [[unlikely]] {
        state_here = new ThreadState;
        if (!was_reaper_used) {
            was_reaper_used = true;
            reaper.is_armed = true; // the first access registers its destructor
        }
    }
    return *state_here;
}

std::shared_ptr<Context> current_context_or_null() {
    const ThreadState& state = thread_state();
    return state.contexts.empty() ? nullptr : state.contexts.back().context;
}

const std::shared_ptr<Context>& current_context() {
    const ThreadState& state = thread_state();
    if (state.contexts.empty()) {
        fail(CUDA_ERROR_INVALID_CONTEXT, "the thread has no current context");
    }
    const CurrentContext& current = state.contexts.back();
    if (current.green != nullptr) [[unlikely]] {
        current.green->check_usable();
    } else {
        current.context->check_usable();
    }
    return current.context;
}

std::shared_ptr<GreenContext> current_green() {
    const ThreadState& state = thread_state();
    return state.contexts.empty() ? nullptr : state.contexts.back().green;
}

CUcontext CurrentContext::handle() const {
    return green != nullptr ? green->as_context() : context->handle<CUcontext>();
}

void set_current_context(CurrentContext context) {
    auto& contexts = thread_state().contexts;
    if (!contexts.empty()) {
        contexts.pop_back();
    }
    if (context.context != nullptr) {
        contexts.push_back(std::move(context));
    }
}

std::shared_ptr<Stream> per_thread_stream(Context& context) {
    // Each activation of a primary context has another id, so a reset also forgets its streams.
    auto& streams = thread_state().default_streams;
    const std::uint64_t key = context.id() << 32 | context.life();
    const auto found =
        std::ranges::find_if(streams, [&](const auto& entry) { return entry.first == key; });
    if (found != streams.end()) {
        return found->second;
    }
    std::erase_if(streams, [](const auto& entry) { return !entry.second->context().is_active(); });
    streams.emplace_back(key, context.create_per_thread_stream());
    return streams.back().second;
}

} // namespace cuprum::emulator
