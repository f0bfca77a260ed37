// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/process/handle_table.hpp"
#include "objects/streams/operation.hpp"

#include <cuda.h>

#include <cstdint>
#include <memory>
#include <mutex>

namespace cuprum::emulator {

class Capture;
class Context;
class GreenContext;

/// An ordered sequence of work in one context.
class Stream final : public Object, public std::enable_shared_from_this<Stream> {
public:
    /// How a stream relates to the legacy default stream.
    enum class Kind : std::uint8_t { Legacy, PerThread, Blocking, NonBlocking };

    static constexpr int LEAST_PRIORITY = 0;
    static constexpr int GREATEST_PRIORITY = -5;

    /// `green` is the green context that the stream belongs to, or nullptr.
    Stream(std::shared_ptr<Context> context, Kind kind, int priority,
           std::shared_ptr<GreenContext> green = nullptr);

    /// Adds work to the stream. The work starts at once if the stream is idle. Does not wait for
    /// it. Throws STREAM_CAPTURE_UNSUPPORTED if the stream is capturing: work that can be captured
    /// goes to Capture::take() first.
    void enqueue(const std::shared_ptr<Operation>& operation);

    /// Adds work to the stream and blocks until it is done. Runs it on the calling thread if
    /// possible.
    void enqueue_and_wait(const std::shared_ptr<Operation>& operation);

    /// Throws if enqueue() would be refused because of another capture. For callers that must do
    /// something else first.
    void check_open() const;

    /// Blocks until all work of the stream so far is done.
    void synchronize();

    /// Returns whether all work of the stream so far is done.
    [[nodiscard]] bool is_idle();

    /// Returns the last operation of the stream, or nullptr if there is none or it is done.
    [[nodiscard]] std::shared_ptr<Operation> pending_tail();

    [[nodiscard]] Context& context() const noexcept { return *context_; }

    [[nodiscard]] const void* belongs_to() const noexcept override { return context_.get(); }

    [[nodiscard]] const std::shared_ptr<Context>& shared_context() const noexcept {
        return context_;
    }

    [[nodiscard]] const std::shared_ptr<GreenContext>& green() const noexcept { return green_; }

    /// Returns how many multiprocessors its work can use.
    [[nodiscard]] std::uint32_t sm_count() const noexcept;

    [[nodiscard]] Kind kind() const noexcept { return kind_; }

    [[nodiscard]] int priority() const noexcept {
        return priority_.load(std::memory_order_relaxed);
    }

    /// Changes the priority of work that is enqueued from now on. Clamps it to the valid range.
    void set_priority(int priority) noexcept;

    /// Returns an attribute of the stream. Throws INVALID_VALUE if it is unknown.
    [[nodiscard]] CUstreamAttrValue attribute(CUstreamAttrID attribute);

    /// Changes an attribute of the stream. Throws INVALID_VALUE if it is unknown.
    void set_attribute(CUstreamAttrID attribute, const CUstreamAttrValue& value);

    /// Copies all attributes of another stream.
    void copy_attributes(Stream& other);

    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }

    /// Returns the flags that cuStreamGetFlags reports.
    [[nodiscard]] unsigned flags() const noexcept {
        return kind_ == Kind::NonBlocking ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
    }

    /// Returns whether the stream may be capturing. Cheap.
    [[nodiscard]] bool may_be_capturing() const noexcept {
        return is_capturing_.load(std::memory_order_relaxed);
    }

    /// Returns the capture that the stream is part of. The lock of captures must be held.
    [[nodiscard]] const std::shared_ptr<Capture>& capture() const noexcept { return capture_; }

    /// Adds the stream to a capture, or removes it. The lock of captures must be held.
    void set_capture(std::shared_ptr<Capture> capture) noexcept;

    /// Marks the stream as destroyed. Its context forgets it when it is idle.
    void retire() noexcept { is_retired_.store(true, std::memory_order_relaxed); }

    [[nodiscard]] bool is_retired() const noexcept {
        return is_retired_.load(std::memory_order_relaxed);
    }

private:
    void append(const std::shared_ptr<Operation>& operation);

    std::shared_ptr<Context> context_;
    std::shared_ptr<GreenContext> green_;
    Kind kind_;
    std::atomic<int> priority_;
    std::uint64_t id_;
    std::atomic<bool> is_retired_{false};
    std::atomic<bool> is_capturing_{false};
    std::shared_ptr<Capture> capture_;
    std::mutex mutex_;
    std::shared_ptr<Operation> tail_;
    // These attributes affect only the speed of a GPU. They are kept and reported, but have no
    // effect.
    CUaccessPolicyWindow access_policy_{};
    CUsynchronizationPolicy synchronization_policy_ = CU_SYNC_POLICY_AUTO;
    CUlaunchMemSyncDomainMap domain_map_{0, 1};
    CUlaunchMemSyncDomain domain_ = CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT;
};

} // namespace cuprum::emulator
