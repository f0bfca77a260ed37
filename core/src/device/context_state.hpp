// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/call.hpp"
#include "driver/capture.hpp"
#include "driver/current.hpp"
#include "driver/deferred_release.hpp"
#include "driver/handle.hpp"

#include <cuprum/context.hpp>
#include <cuprum/context_settings.hpp>
#include <cuprum/detail/access.hpp>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

namespace cuprum::detail {

struct DeviceState;

/// A context's handle. A reset of a primary context may change it while other threads read it. They
/// then see the old or the new handle. Reading it costs the same as reading a plain pointer.
class ContextHandle {
public:
    ContextHandle() = default;

    explicit ContextHandle(CUcontext context) noexcept : value_(context) {}

    ContextHandle(const ContextHandle&) = delete;
    ~ContextHandle() = default;

    ContextHandle& operator=(const ContextHandle&) = delete;

    ContextHandle& operator=(CUcontext context) noexcept {
        value_.store(context, std::memory_order_relaxed);
        return *this;
    }

    [[nodiscard]] CUcontext get() const noexcept { return value_.load(std::memory_order_relaxed); }

    operator CUcontext() const noexcept { return get(); } // NOLINT(google-explicit-constructor)

private:
    std::atomic<CUcontext> value_{nullptr};
};

/// A context: a device's primary one, one that we made, or somebody else's that we only name.
/// Destroying the state destroys the context if we made it.
struct ContextState {
    ContextHandle handle;
    DeviceState* device = nullptr;
    bool is_primary = false;
    bool is_owned = false;
    CUgreenCtx green = nullptr; // of a green context that we made
    std::atomic<unsigned> reset_count =
        0; // odd during a reset; objects with another count are lost

    ContextState() = default;

    ContextState(CUcontext context, DeviceState* home) : handle(context), device(home) {}

    ~ContextState();
    ContextState(const ContextState&) = delete;
    ContextState& operator=(const ContextState&) = delete;
};

/// Returns whether an object of a context still exists, because it was made after the last reset of
/// the context. Objects of no known context count as existing.
[[nodiscard]] inline bool is_intact(const std::shared_ptr<ContextState>& context,
                                    unsigned made_at) noexcept {
    return context == nullptr || context->reset_count.load(std::memory_order_relaxed) == made_at;
}

/// Where the driver can release an object of a context.
enum class ReleaseIn : std::uint8_t {
    AnyContext, // streams and events; also beside stream captures
    ItsContext, // with its context current; without it if that cannot be made current
    /// Never without it. Handles of textures are small numbers that every context has: with another
    /// context current, the call could destroy another texture.
    ItsContextOnly,
};

/// Releases an object of a context, unless a reset destroyed it first. Reports what `release`
/// throws. For destructors, through release_in().
template <ReleaseIn Place, typename Release>
void release_in_now(const std::shared_ptr<ContextState>& context, unsigned made_at,
                    const char* what, const Release& release) noexcept {
    if (!is_intact(context, made_at) || driver::is_leaving()) {
        return;
    }
    if constexpr (Place == ReleaseIn::AnyContext) {
        release();
    } else {
        const driver::RelaxedCapture relaxed;
        std::optional<driver::Current> current;
        for (int attempts = 2; attempts > 0 && !current.has_value(); --attempts) {
            try {
                current.emplace(context->handle);
            } catch (...) {
                driver::report_release_failure(what);
            }
        }
        if (Place == ReleaseIn::ItsContextOnly && !current.has_value()) {
            return;
        }
        try {
            release();
        } catch (const CUDAError& error) {
            if (error.code() != CUDA_ERROR_DEINITIALIZED) { // the driver is gone, and the object
                driver::report_release_failure(what);
            }
        } catch (...) {
            driver::report_release_failure(what);
        }
    }
}

/// Releases an object of a context in a destructor: now, or later if the calling thread runs a host
/// function. Never ends a stream capture.
template <ReleaseIn Place, typename Release>
void release_in(const std::shared_ptr<ContextState>& context, unsigned made_at, const char* what,
                const Release& release) noexcept {
    if (!runs_host_function()) [[likely]] {
        release_in_now<Place>(context, made_at, what, release);
        return;
    }
    try {
        defer_release(std::shared_ptr<void>(nullptr, [context, made_at, what, release](void*) {
            release_in_now<Place>(context, made_at, what, release);
        }));
    } catch (...) {
        driver::report_release_failure(what);
    }
}

/// The same for an object that one entry of the driver releases.
template <ReleaseIn Place, typename Handle>
void release_in(const std::shared_ptr<ContextState>& context, unsigned made_at, const char* what,
                const driver::Entry<CUresult(Handle)>& entry, Handle handle) noexcept {
    release_in<Place>(context, made_at, what,
                      [what, &entry, handle] { driver::release_now(what, entry, handle); });
}

/// An object of a context, which exists until a reset of its device destroys it.
struct OfContext {
    std::shared_ptr<ContextState> context; // null if none is known: the object counts as existing
    unsigned made_at = 0;                  // the context's count of resets when the object was made

    OfContext() = default;

    explicit OfContext(std::shared_ptr<ContextState> home) noexcept
        : context(std::move(home)), made_at(context->reset_count.load(std::memory_order_relaxed)) {}

    /// Notes the context, in which the object is made now.
    void belong_to(std::shared_ptr<ContextState> home) noexcept {
        made_at = home->reset_count.load(std::memory_order_relaxed);
        context = std::move(home);
    }

    [[nodiscard]] bool is_lost() const noexcept { return !is_intact(context, made_at); }
};

/// A word as an argument of a template.
template <std::size_t SIZE>
struct Word {
    char text[SIZE];

    consteval Word(const char (&word)[SIZE]) { // NOLINT(google-explicit-constructor)
        std::copy_n(word, SIZE, text);
    }
};

/// A driver object of a context. Its destructor releases the object if it is ours: `ENTRY`, a
/// member of driver::Table, does, `PLACE` says where, and `WHAT` is what warnings call the object.
/// As a base of a state it comes last: the bases before it, such as what the object reads, outlive
/// the object, and the members of the state do not.
template <typename Handle, auto ENTRY, Word WHAT, ReleaseIn PLACE>
struct Owned : OfContext {
    Handle handle{};
    bool is_owned = false; // set it once there is a handle

    using OfContext::OfContext;

    ~Owned() {
        if (is_owned) {
            release_in<PLACE>(context, made_at, WHAT.text, driver::table().*ENTRY, handle);
        }
    }

    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
};

/// Returns the state of a context, to use it.
/// @throws ClosedError if the context is closed.
[[nodiscard]] inline ContextState& open(const Context& context) {
    return open(Access::state(context), "Context");
}

/// Makes a context that we own known by its handle, for context_state().
void note_context(const std::shared_ptr<ContextState>& context);

/// Returns the state for a driver context, the shared one if it is a device's primary context or
/// one that we made.
[[nodiscard]] std::shared_ptr<ContextState> context_state(CUcontext handle);

/// Returns the context that is current on the calling thread.
/// @throws CUDAError, saying that `what` needs one, if there is none.
[[nodiscard]] CUcontext current_context(const char* what);

/// Makes sure that some context is current for a scope: the current one or, if there is none, the
/// primary context of device 0. For calls that need a context but not a certain one.
class AnyContext {
public:
    [[nodiscard]] AnyContext() {
        CUcontext current = nullptr;
        driver::call(driver::table().cuCtxGetCurrent, &current);
        if (current == nullptr) {
            driver::call(driver::table().cuCtxPushCurrent, Device().primary_context().handle());
            is_pushed_ = true;
        }
    }

    ~AnyContext() {
        if (is_pushed_) {
            driver::pop_pushed();
        }
    }

    AnyContext(const AnyContext&) = delete;
    AnyContext& operator=(const AnyContext&) = delete;

private:
    bool is_pushed_ = false;
};

/// Returns the same context as a state that can be kept.
[[nodiscard]] inline std::shared_ptr<ContextState> any_context() {
    const auto current = Context::current();
    return Access::state(current ? *current : Device().primary_context());
}

/// Returns the flags as the driver's CUctx_flags.
[[nodiscard]] unsigned flag_bits(const ContextFlags& flags) noexcept;

/// Reads the driver's CUctx_flags.
[[nodiscard]] ContextFlags flags_from_bits(unsigned bits) noexcept;

/// Returns how often the library changed what occupancy depends on: attributes of any kernel,
/// settings of any context. Answers from before the last change are not used again.
[[nodiscard]] unsigned occupancy_changes() noexcept;
/// Counts one more change.
void forget_occupancy() noexcept;

} // namespace cuprum::detail
