// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The stream captures that graph builders run, and what their graphs keep alive.
//
// A launch, copy or fill on a stream does not know that it becomes a node of a graph. While a graph
// builder captures anywhere in the process, each of them looks its stream up here and adds what it
// uses to the record of the capture. When the capture ends, the graph takes over the record as one
// Payload. So a captured graph keeps its kernels, buffers and callbacks alive, as a graph does
// that is built node by node.
//
// Captures that others begin, for example PyTorch, are not in the list: their graphs are not ours.

#pragma once

#include "driver/table.hpp"

#include <cuprum/detail/active_captures.hpp>
#include <cuprum/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace cuprum::detail {

struct StreamState;

/// What the graph of one capture keeps alive. All streams of the capture share it.
class CaptureRecord {
public:
    explicit CaptureRecord(std::uint64_t graph_builder) noexcept : builder(graph_builder) {}

    virtual ~CaptureRecord() = default;
    CaptureRecord(const CaptureRecord&) = delete;
    CaptureRecord& operator=(const CaptureRecord&) = delete;

    /// Captures a function that every launch of the graph calls.
    virtual void capture_callback(const Stream& stream, std::function<void()> function) = 0;

    const std::uint64_t builder; // the GraphBuilder that began the capture

    /// Keeps an object alive, unless it was among the last ones. Thread-safe.
    void retain(std::shared_ptr<void> object);

    /// Returns all that was retained so far, and forgets it. Thread-safe.
    [[nodiscard]] std::vector<std::shared_ptr<void>> take() noexcept;

private:
    friend struct CapturedStreams;
    friend void number_capture(const std::shared_ptr<CaptureRecord>& record, std::uint64_t number);

    std::mutex mutex_;
    std::vector<std::shared_ptr<void>> retained_; // guarded by the mutex

    // Guarded by the lock of the list:
    std::uint64_t number_ = 0; // the driver's for the capture, once it has begun
    std::size_t streams_ = 0;  // of the capture on the list
};

/// Puts a stream that is captured from now on onto the list.
void enlist_capture(const Stream& stream, std::shared_ptr<CaptureRecord> record);

/// Notes the driver's number of a capture that has begun, by which streams that join it are found.
void number_capture(const std::shared_ptr<CaptureRecord>& record, std::uint64_t number);

/// Takes a stream off the list. Does nothing if it is not there.
void delist_capture(CUstream stream, const CaptureRecord& record) noexcept;

/// Returns the record of the capture that a stream is part of; null if no graph builder captures
/// it. Finds streams that joined the capture through an event, too.
[[nodiscard]] std::shared_ptr<CaptureRecord> find_capture(const StreamState& stream);

/// Returns all captures that graph builders run, those of bodies before that of their graph.
[[nodiscard]] std::vector<std::shared_ptr<CaptureRecord>> listed_captures();

/// Returns whether any graph builder captures. One load.
[[nodiscard]] inline bool has_active_captures() noexcept {
    return active_captures.load(std::memory_order_relaxed) != 0;
}

/// Lets the graph that a stream is captured into keep an object alive, a share of some state. Costs
/// one load while nothing is captured.
template <typename T>
inline void retain_if_captured(const StreamState& stream, const std::shared_ptr<T>& object) {
    if (has_active_captures()) [[unlikely]] {
        if (const auto record = find_capture(stream)) {
            record->retain(object);
        }
    }
}

} // namespace cuprum::detail
