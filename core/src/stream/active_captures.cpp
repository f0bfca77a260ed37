// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "stream/active_captures.hpp"

#include "driver/call.hpp"
#include "memory/buffer_state.hpp"
#include "stream/stream_state.hpp"
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

    [[nodiscard]] bool is(CUstream other) const noexcept {
        return stream == other &&
               (stream != CU_STREAM_PER_THREAD || thread == std::this_thread::get_id());
    }
};

struct CapturedStreams {
    std::mutex mutex;
    std::vector<CapturedStream> all;
};

CapturedStreams& captured_streams() {
    static NeverDestroyed<CapturedStreams> streams;
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

} // namespace

void enlist_capture(CUstream stream, std::shared_ptr<CaptureRecord> record) {
    CapturedStreams& streams = captured_streams();
    const std::lock_guard lock(streams.mutex);
    streams.all.push_back({stream, std::this_thread::get_id(), std::move(record)});
    active_captures.fetch_add(1, std::memory_order_relaxed);
}

void delist_capture(CUstream stream, const CaptureRecord& record) noexcept {
    CapturedStreams& streams = captured_streams();
    const std::lock_guard lock(streams.mutex);
    const auto place = std::ranges::find_if(streams.all, [&](const CapturedStream& known) {
        return known.stream == stream && known.record.get() == &record;
    });
    if (place != streams.all.end()) {
        streams.all.erase(place);
        active_captures.fetch_sub(1, std::memory_order_relaxed);
    }
}

std::shared_ptr<CaptureRecord> find_capture(const StreamState& stream) {
    std::vector<CapturedStream> others;
    {
        CapturedStreams& streams = captured_streams();
        const std::lock_guard lock(streams.mutex);
        for (const CapturedStream& known : streams.all) {
            if (known.is(stream.handle)) {
                return known.record;
            }
        }
        if (!stream.may_capture.load(std::memory_order_relaxed)) {
            return nullptr;
        }
        others = streams.all;
    }
    // The stream may have joined a capture of the list when it waited for an event.
    const std::optional<cuuint64_t> number = capture_number(stream.handle);
    if (number.has_value()) {
        for (CapturedStream& other : others) {
            if (other.stream != CU_STREAM_PER_THREAD && capture_number(other.stream) == number) {
                return std::move(other.record);
            }
        }
    }
    return nullptr;
}

void retain_buffers(const Stream& stream, std::span<const Buffer* const> buffers) {
    std::shared_ptr<CaptureRecord> record;
    for (const Buffer* buffer : buffers) {
        if (buffer == nullptr || buffer->is_closed()) {
            continue;
        }
        const auto& state = static_cast<const BufferState&>(*Access::state(*buffer));
        // NOTE: graph memory is freed by a node of its graph, when its last share goes.
        if (dynamic_cast<const GraphMemoryResource*>(state.resource.get()) != nullptr) {
            continue;
        }
        if (record == nullptr) {
            record = find_capture(open(stream));
        }
        if (record == nullptr) {
            return;
        }
        record->retain(Access::state(*buffer));
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
