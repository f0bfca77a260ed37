// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "stream/active_captures.hpp"

#include "driver/call.hpp"
#include "memory/buffer_state.hpp"
#include "stream/stream_state.hpp"
#include "support/fork.hpp"
#include "support/never_destroyed.hpp"

#include <cuprum/graph_memory_resource.hpp>

#include <algorithm>
#include <optional>
#include <thread>

namespace cuprum::detail {

constinit std::atomic<unsigned> active_captures{0};

namespace {

/// A stream on the list. The token of the per-thread default stream means another one in each
/// thread.
struct CapturedStream {
    CUstream stream = nullptr;
    std::thread::id thread;
    std::shared_ptr<CaptureRecord> record;
    std::shared_ptr<StreamState> share; // the stream exists as long as it is on the list

    [[nodiscard]] bool is(CUstream other) const noexcept {
        return stream == other &&
               (stream != CU_STREAM_PER_THREAD || thread == std::this_thread::get_id());
    }
};

struct CapturedStreams {
    std::mutex mutex; // also of what the records keep
    std::vector<CapturedStream> all;

    [[nodiscard]] const CapturedStream* find(CUstream stream) const noexcept {
        const auto place = std::ranges::find_if(
            all, [&](const CapturedStream& known) { return known.is(stream); });
        return place != all.end() ? &*place : nullptr;
    }
};

CapturedStreams& captured_streams() {
    static NeverDestroyed<CapturedStreams> streams;
    [[maybe_unused]] static const bool is_kept =
        keep_unlocked_in_children<[]() -> std::mutex& { return captured_streams().mutex; }>();
    return *streams;
}

/// Returns the number of the capture that a stream is part of, if it is.
std::optional<cuuint64_t> capture_number(CUstream stream) {
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t number = 0;
    if (driver::table().cuStreamGetCaptureInfo(stream, &status, &number, nullptr, nullptr, nullptr,
                                               nullptr) != CUDA_SUCCESS ||
        status != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
        return std::nullopt;
    }
    return number;
}

/// Returns the capture that a stream joined when it waited for an event of another one; null if it
/// joined none.
std::shared_ptr<CaptureRecord> joined_capture(const StreamState& stream,
                                              const std::vector<CapturedStream>& others) {
    const std::optional<cuuint64_t> number = stream.may_capture.load(std::memory_order_relaxed)
                                                 ? capture_number(stream.handle)
                                                 : std::nullopt;
    if (number.has_value()) {
        for (const CapturedStream& other : others) {
            if (other.stream != CU_STREAM_PER_THREAD && capture_number(other.stream) == number) {
                return other.record;
            }
        }
    }
    return nullptr;
}

} // namespace

void enlist_capture(const Stream& stream, std::shared_ptr<CaptureRecord> record) {
    CapturedStreams& streams = captured_streams();
    const std::lock_guard lock(streams.mutex);
    streams.all.push_back(
        {handle_of(stream), std::this_thread::get_id(), std::move(record), Access::state(stream)});
    active_captures.fetch_add(1, std::memory_order_relaxed);
}

void delist_capture(CUstream stream, const CaptureRecord& record) noexcept {
    CapturedStreams& streams = captured_streams();
    CapturedStream removed; // destroyed without the lock: that can destroy the stream
    const std::lock_guard lock(streams.mutex);
    const auto place = std::ranges::find_if(streams.all, [&](const CapturedStream& known) {
        return known.stream == stream && known.record.get() == &record;
    });
    if (place != streams.all.end()) {
        removed = std::move(*place);
        streams.all.erase(place);
        active_captures.fetch_sub(1, std::memory_order_relaxed);
    }
}

void CaptureRecord::retain(std::shared_ptr<void> object) {
    const std::lock_guard lock(captured_streams().mutex);
    retained_.push_back(std::move(object));
}

std::vector<std::shared_ptr<void>> CaptureRecord::take() noexcept {
    const std::lock_guard lock(captured_streams().mutex);
    return std::exchange(retained_, {});
}

std::vector<std::shared_ptr<CaptureRecord>> listed_captures() {
    std::vector<std::shared_ptr<CaptureRecord>> found;
    CapturedStreams& streams = captured_streams();
    const std::lock_guard lock(streams.mutex);
    for (const CapturedStream& each : streams.all) { // forks have the record of their capture
        if (std::ranges::find(found, each.record) == found.end()) {
            found.push_back(each.record);
        }
    }
    std::ranges::reverse(found);
    return found;
}

std::shared_ptr<CaptureRecord> find_capture(const StreamState& stream) {
    std::vector<CapturedStream> others;
    {
        CapturedStreams& streams = captured_streams();
        const std::lock_guard lock(streams.mutex);
        if (const CapturedStream* const known = streams.find(stream.handle)) {
            return known->record;
        }
        others = streams.all;
    }
    return joined_capture(stream, others);
}

FoundCapture::FoundCapture(const StreamState& stream) : lock_(captured_streams().mutex) {
    CapturedStreams& streams = captured_streams();
    if (const CapturedStream* const known = streams.find(stream.handle)) {
        record_ = known->record.get();
    } else if (stream.may_capture.load(std::memory_order_relaxed)) {
        const std::vector<CapturedStream> others = streams.all;
        lock_.unlock(); // for the driver
        joined_ = joined_capture(stream, others);
        record_ = joined_.get();
        lock_.lock();
    }
}

void retain_buffers(const Stream& stream, std::span<const Buffer* const> buffers) {
    FoundCapture capture(open(stream));
    if (!capture) {
        return;
    }
    for (const Buffer* const buffer : buffers) {
        if (buffer == nullptr || buffer->is_closed()) {
            continue;
        }
        const MemoryResource* const resource =
            static_cast<BufferState&>(*Access::state(*buffer)).whole_state().resource.get();
        // NOTE: graph memory is freed by a node of its graph, when its last share goes. Memory that
        // must not be freed later is kept by the binding that made it.
        if (resource == nullptr ||
            (resource->may_free_later() &&
             dynamic_cast<const GraphMemoryResource*>(resource) == nullptr)) {
            capture.retain(Access::state(*buffer));
        }
    }
}

void retain_object(const Stream& stream, std::shared_ptr<void> object) {
    if (has_active_captures()) {
        if (const auto record = find_capture(open(stream))) {
            record->retain(std::move(object));
        }
    }
}

} // namespace cuprum::detail
