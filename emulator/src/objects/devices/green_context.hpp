// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/devices/context.hpp"
#include "objects/devices/device_resources.hpp"
#include "objects/process/handle_table.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace cuprum::emulator {

class Event;
class Stream;

/// A part of a device's multiprocessors, with streams of its own.
///
/// Everything else (memory, modules, events) belongs to the device's primary context. A green
/// context holds a share of it.
class GreenContext final : public Object, public std::enable_shared_from_this<GreenContext> {
public:
    /// Creates a green context and takes a share of the primary context.
    [[nodiscard]] static std::shared_ptr<GreenContext>
    create(const ResourceDescription& description);

    /// Waits for its work and gives the share of the primary context back.
    void destroy();

    /// Throws CONTEXT_IS_DESTROYED or the primary context's error if it cannot be used.
    void check_usable() const;

    [[nodiscard]] Context& primary() const noexcept { return *primary_; }

    [[nodiscard]] const std::shared_ptr<Context>& shared_primary() const noexcept {
        return primary_;
    }

    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }

    [[nodiscard]] const std::vector<SmRange>& ranges() const noexcept { return ranges_; }

    [[nodiscard]] const WorkqueueConfig& queues() const noexcept { return queues_; }

    [[nodiscard]] std::uint32_t sm_count() const noexcept;

    /// Returns the stream that NULL stands for while this context is current.
    [[nodiscard]] const std::shared_ptr<Stream>& default_stream() const noexcept {
        return default_stream_;
    }

    /// Returns its streams that can have work, without the default stream.
    [[nodiscard]] std::vector<std::shared_ptr<Stream>> streams() const;

    /// Waits for all its work. Ignores errors and stream captures.
    void drain();

    /// Waits for all its work, then throws the sticky error if there is one.
    void synchronize();

    /// Records an event after all its work so far.
    void record(Event& event);

    /// Makes all its later work wait for an event.
    void wait_for(const Event& event);

    /// Returns the CUcontext that represents it. It is made on first use.
    [[nodiscard]] CUcontext as_context();

private:
    GreenContext(std::shared_ptr<Context> primary, std::vector<SmRange> ranges);

    std::shared_ptr<Context> primary_;
    std::vector<SmRange> ranges_;
    WorkqueueConfig queues_;
    std::uint64_t id_;
    std::uint64_t life_; // of the primary context; a reset ends this context too
    std::atomic<bool> is_destroyed_{false};
    std::shared_ptr<Stream> default_stream_;
    std::mutex mutex_;
    std::shared_ptr<Object> view_;
};

/// The object behind a CUcontext that cuCtxFromGreenCtx returned.
class GreenContextView final : public Object {
public:
    explicit GreenContextView(std::weak_ptr<GreenContext> green) : green_(std::move(green)) {}

    /// Returns the green context, or nullptr if it has been destroyed.
    [[nodiscard]] std::shared_ptr<GreenContext> green() const { return green_.lock(); }

private:
    std::weak_ptr<GreenContext> green_;
};

} // namespace cuprum::emulator
