// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "stream/active_captures.hpp"

#include "driver/call.hpp"
#include "stream/stream_state.hpp"
#include "support/locks.hpp"
#include "support/once.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <thread>
#include <unordered_map>
#include <utility>

namespace cuprum::detail {

constinit std::atomic<unsigned> active_captures{0};

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

/// The list. Nothing is released and no driver is called under its lock.
struct CapturedStreams {
    std::mutex mutex;
    std::unordered_multimap<CUstream, CapturedStream> all; // by handle
    std::unordered_map<std::uint64_t, std::weak_ptr<CaptureRecord>> by_number;

    void add(CapturedStream added) {
        CaptureRecord& record = *added.record;
        all.emplace(added.stream, std::move(added));
        ++record.streams_;
    }

    /// Removes a stream and returns what the list held of it.
    [[nodiscard]] CapturedStream take(CUstream stream, const CaptureRecord& record) noexcept {
        const auto [first, last] = all.equal_range(stream);
        const auto place = std::find_if(
            first, last, [&](const auto& known) { return known.second.record.get() == &record; });
        if (place == last) {
            return {};
        }
        CapturedStream taken = std::move(place->second);
        all.erase(place);
        if (--taken.record->streams_ == 0) {
            by_number.erase(taken.record->number_);
        }
        return taken;
    }

    [[nodiscard]] std::shared_ptr<CaptureRecord> find(CUstream stream) const {
        const auto [first, last] = all.equal_range(stream);
        const auto place =
            std::find_if(first, last, [&](const auto& known) { return known.second.is(stream); });
        return place != last ? place->second.record : nullptr;
    }

    [[nodiscard]] std::shared_ptr<CaptureRecord> find_number(std::uint64_t number) const {
        const auto place = by_number.find(number);
        return place != by_number.end() ? place->second.lock() : nullptr;
    }
};

namespace {

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

} // namespace

void enlist_capture(const Stream& stream, std::shared_ptr<CaptureRecord> record) {
    CapturedStreams& streams = captured_streams();
    const std::lock_guard lock(streams.mutex);
    streams.add(
        {handle_of(stream), std::this_thread::get_id(), std::move(record), Access::state(stream)});
    active_captures.fetch_add(1, std::memory_order_relaxed);
}

void number_capture(const std::shared_ptr<CaptureRecord>& record, std::uint64_t number) {
    CapturedStreams& streams = captured_streams();
    const std::lock_guard lock(streams.mutex);
    streams.by_number[number] = record;
    record->number_ = number;
}

void delist_capture(CUstream stream, const CaptureRecord& record) noexcept {
    CapturedStreams& streams = captured_streams();
    CapturedStream removed; // destroyed without the lock: that can destroy the stream
    const std::lock_guard lock(streams.mutex);
    removed = streams.take(stream, record);
    if (removed.record != nullptr) {
        active_captures.fetch_sub(1, std::memory_order_relaxed);
    }
}

void CaptureRecord::retain(std::shared_ptr<void> object) {
    constexpr std::size_t RECENT = 8;
    const std::lock_guard lock(mutex_); // `object` lives longer: it is the caller's
    const auto first =
        retained_.end() - static_cast<std::ptrdiff_t>(std::min(retained_.size(), RECENT));
    const bool is_recent = std::any_of(first, retained_.end(), [&](const auto& known) {
        return known == object && !known.owner_before(object) && !object.owner_before(known);
    });
    if (!is_recent) {
        retained_.push_back(std::move(object));
    }
}

std::vector<std::shared_ptr<void>> CaptureRecord::take() noexcept {
    const std::lock_guard lock(mutex_);
    return std::exchange(retained_, {});
}

std::vector<std::shared_ptr<CaptureRecord>> listed_captures() {
    std::vector<std::shared_ptr<CaptureRecord>> found;
    {
        CapturedStreams& streams = captured_streams();
        const std::lock_guard lock(streams.mutex);
        for (const auto& [stream, known] : streams.all) {
            found.push_back(known.record);
        }
    }
    // A body's builder is made later than that of its graph. Forks have the record of their
    // capture.
    std::ranges::sort(found, std::ranges::greater(), &CaptureRecord::builder);
    const auto repeated = std::ranges::unique(found);
    found.erase(repeated.begin(), repeated.end());
    return found;
}

std::shared_ptr<CaptureRecord> find_capture(const StreamState& stream) {
    CapturedStreams& streams = captured_streams();
    {
        const std::lock_guard lock(streams.mutex);
        if (auto known = streams.find(stream.handle)) {
            return known;
        }
    }
    // It may have joined a capture when it waited for an event.
    if (!stream.may_capture.load(std::memory_order_relaxed)) {
        return nullptr;
    }
    const std::optional<cuuint64_t> number = capture_number(stream.handle);
    const std::lock_guard lock(streams.mutex);
    return number.has_value() ? streams.find_number(*number) : nullptr;
}

void retain_object(const Stream& stream, std::shared_ptr<void> object) {
    if (has_active_captures()) {
        if (const auto record = find_capture(open(stream))) {
            record->retain(std::move(object));
        }
    }
}

} // namespace cuprum::detail
