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

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>
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

    /// Keeps an object alive. Thread-safe.
    void retain(std::shared_ptr<void> object);

    /// Returns all that was retained so far, and forgets it. Thread-safe.
    [[nodiscard]] std::vector<std::shared_ptr<void>> take() noexcept;

private:
    friend class FoundCapture;

    std::vector<std::shared_ptr<void>> retained_; // guarded by the lock of the list
};

/// Puts a stream that is captured from now on onto the list.
void enlist_capture(const Stream& stream, std::shared_ptr<CaptureRecord> record);

/// Takes a stream off the list. Does nothing if it is not there.
void delist_capture(CUstream stream, const CaptureRecord& record) noexcept;

/// Returns the record of the capture that a stream is part of; null if no graph builder captures
/// it. Finds streams that joined the capture through an event, too.
[[nodiscard]] std::shared_ptr<CaptureRecord> find_capture(const StreamState& stream);

/// Returns all captures that graph builders run, the latest first.
[[nodiscard]] std::vector<std::shared_ptr<CaptureRecord>> listed_captures();

/// Returns whether any graph builder captures. One load.
[[nodiscard]] inline bool has_active_captures() noexcept {
    return active_captures.load(std::memory_order_relaxed) != 0;
}

/// The record of the capture that a stream is part of, if a graph builder captures it. Holds the
/// lock of the list: it is looked up for each launch that is captured.
class FoundCapture {
public:
    [[nodiscard]] explicit FoundCapture(const StreamState& stream);
    FoundCapture(const FoundCapture&) = delete;
    FoundCapture& operator=(const FoundCapture&) = delete;
    ~FoundCapture() = default;

    explicit operator bool() const noexcept { return record_ != nullptr; }

    /// Keeps an object alive, unless it was among the last ones.
    template <typename T>
    void retain(const std::shared_ptr<T>& object) {
        auto& retained = record_->retained_;
        const std::size_t recent = std::min<std::size_t>(retained.size(), 8);
        for (std::size_t i = retained.size() - recent; i < retained.size(); ++i) {
            if (retained[i] == object) {
                return;
            }
        }
        retained.push_back(object);
    }

private:
    std::unique_lock<std::mutex> lock_;
    std::shared_ptr<CaptureRecord> joined_; // of a stream that is not on the list itself
    CaptureRecord* record_ = nullptr;
};

/// Lets the graph that a stream is captured into keep an object alive, a share of some state. Costs
/// one load while nothing is captured.
template <typename T>
inline void retain_if_captured(const StreamState& stream, const std::shared_ptr<T>& object) {
    if (has_active_captures()) [[unlikely]] {
        if (FoundCapture capture(stream); capture) {
            capture.retain(object);
        }
    }
}

} // namespace cuprum::detail
