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

/// An order of work on one context.
class Stream final : public Object, public std::enable_shared_from_this<Stream> {
public:
    /// How a stream stands to the legacy default stream.
    enum class Kind : std::uint8_t { Legacy, PerThread, Blocking, NonBlocking };

    static constexpr int LEAST_PRIORITY = 0;
    static constexpr int GREATEST_PRIORITY = -5;

    /// `green` is the green context that the stream belongs to, nullptr for none.
    Stream(std::shared_ptr<Context> context, Kind kind, int priority,
           std::shared_ptr<GreenContext> green = nullptr);

    /// Gives the stream more work, or the capture that it is part of. Starts it at once if nothing
    /// is before it; does not wait for it.
    void enqueue(const std::shared_ptr<Operation>& operation);

    /// Gives the stream work and blocks until it is done; runs it here where possible.
    void enqueue_and_wait(const std::shared_ptr<Operation>& operation);

    /// Throws what enqueue() would because of others' captures: for callers that do something else
    /// first.
    void check_open() const;

    /// Blocks until everything given to the stream so far is done.
    void synchronize();

    /// Returns whether everything given to the stream so far is done.
    [[nodiscard]] bool is_idle();

    /// Returns the last operation given to the stream, nullptr if there is none or it is done.
    [[nodiscard]] std::shared_ptr<Operation> pending_tail();

    [[nodiscard]] Context& context() const noexcept { return *context_; }

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

    /// Changes the priority of work given from now on, within the range there is.
    void set_priority(int priority) noexcept;

    /// Returns a setting of the stream; throws INVALID_VALUE for what is none.
    [[nodiscard]] CUstreamAttrValue attribute(CUstreamAttrID attribute);

    /// Changes a setting of the stream; throws INVALID_VALUE for what is none.
    void set_attribute(CUstreamAttrID attribute, const CUstreamAttrValue& value);

    /// Takes over all settings of another stream.
    void copy_attributes(Stream& other);

    [[nodiscard]] std::uint64_t id() const noexcept { return id_; }

    /// Returns the flags that cuStreamGetFlags reports.
    [[nodiscard]] unsigned flags() const noexcept {
        return kind_ == Kind::NonBlocking ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
    }

    /// Tells, cheaply, whether the stream may be capturing.
    [[nodiscard]] bool may_be_capturing() const noexcept {
        return is_capturing_.load(std::memory_order_relaxed);
    }

    /// Returns the capture that the stream is part of. Only under the lock of captures.
    [[nodiscard]] const std::shared_ptr<Capture>& capture() const noexcept { return capture_; }

    /// Makes the stream part of a capture, or of none. Only under the lock of captures.
    void set_capture(std::shared_ptr<Capture> capture) noexcept;

    /// Marks the stream as destroyed: its context forgets it once it is idle.
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
    // What only changes how fast a GPU is: kept, told, and otherwise ignored.
    CUaccessPolicyWindow access_policy_{};
    CUsynchronizationPolicy synchronization_policy_ = CU_SYNC_POLICY_AUTO;
    CUlaunchMemSyncDomainMap domain_map_{0, 1};
    CUlaunchMemSyncDomain domain_ = CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT;
};

} // namespace cuprum::emulator
