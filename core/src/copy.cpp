// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/copy.hpp>

#include "driver/current.hpp"
#include "state/handle.hpp"
#include "state/location.hpp"
#include "state/stream_state.hpp"

#include <cuprum/error.hpp>
#include <cuprum/version.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace cuprum {

namespace {

using driver::call;
using driver::table;

constexpr int BATCH_VERSION = 13000;

/// The copies of a batch, as the driver takes them.
struct Batch {
    std::vector<CUdeviceptr> destinations;
    std::vector<CUdeviceptr> sources;
    std::vector<std::size_t> sizes;
    std::vector<CUmemcpyAttributes> attributes;
    std::vector<std::size_t> starts; // the first copy that each attribute is for
};

Batch collect(std::span<const Buffer> sources, std::span<const Buffer> destinations);
void add_attributes(Batch& batch, std::span<const CopyOptions> options, std::size_t copies);
CUmemcpyAttributes attributes_of(const CopyOptions& options);
void check_pair(const Buffer& source, const Buffer& destination, std::size_t index);
void check_plain(const CopyOptions& options, int driver);

} // namespace

void copy_batch(const Stream& stream, std::span<const Buffer> sources,
                std::span<const Buffer> destinations, std::span<const CopyOptions> options) {
    const detail::StreamState& queue = detail::open(stream.state(), "Stream");
    if (const std::string reason = why_no_copy_options(stream); !reason.empty()) {
        throw std::invalid_argument(reason);
    }
    if (!options.empty() && options.size() != 1 && options.size() != sources.size()) {
        throw std::invalid_argument("options length (" + std::to_string(options.size()) +
                                    ") does not match the " + std::to_string(sources.size()) +
                                    " copies; pass one for all, or one for each");
    }
    Batch batch = collect(sources, destinations);
    if (batch.sizes.empty()) {
        return; // all are of 0 bytes
    }
    const driver::Current current(detail::context_of(queue));
    if (const int driver = driver_version(); driver < BATCH_VERSION) {
        for (const CopyOptions& each : options) {
            check_plain(each, driver);
        }
        for (std::size_t i = 0; i < batch.sizes.size(); ++i) {
            call(table().cuMemcpyAsync, batch.destinations[i], batch.sources[i], batch.sizes[i],
                 queue.handle);
        }
        return;
    }
    std::vector<CopyOptions> each;
    if (options.size() > 1) { // copies of 0 bytes were left out
        for (std::size_t i = 0; i < sources.size(); ++i) {
            if (sources[i].size() != 0) {
                each.push_back(options[i]);
            }
        }
        options = each;
    }
    add_attributes(batch, options, batch.sizes.size());
    call(table().cuMemcpyBatchAsync, batch.destinations.data(), batch.sources.data(),
         batch.sizes.data(), batch.sizes.size(), batch.attributes.data(), batch.starts.data(),
         batch.attributes.size(), queue.handle);
}

void copy_with_options(const Stream& stream, const Buffer& source, const Buffer& destination,
                       const CopyOptions& options) {
    copy_batch(stream, std::span(&source, 1), std::span(&destination, 1), std::span(&options, 1));
}

std::string why_no_copy_options(const Stream& stream) {
    const CUstream queue = detail::handle_of(stream);
    if (queue == nullptr || queue == CU_STREAM_LEGACY) {
        return "stream is LEGACY_DEFAULT_STREAM, on which the driver takes neither batches nor "
               "options; use a stream of your own or the per-thread default stream";
    }
    CUstreamCaptureStatus capture = CU_STREAM_CAPTURE_STATUS_NONE;
    call(table().cuStreamIsCapturing, queue, &capture);
    if (capture != CU_STREAM_CAPTURE_STATUS_NONE) {
        return "stream is in graph capture, which takes neither batches of copies nor copies with "
               "options; copy one by one, without options";
    }
    return {};
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

Batch collect(std::span<const Buffer> sources, std::span<const Buffer> destinations) {
    if (sources.empty() || destinations.empty()) {
        throw std::invalid_argument("empty buffers sequence, expected at least one copy");
    }
    if (sources.size() != destinations.size()) {
        throw std::invalid_argument("srcs length (" + std::to_string(sources.size()) +
                                    ") does not match dsts length (" +
                                    std::to_string(destinations.size()) + ")");
    }
    Batch batch;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        check_pair(sources[i], destinations[i], i);
        if (sources[i].size() != 0) {
            batch.sources.push_back(sources[i].handle());
            batch.destinations.push_back(destinations[i].handle());
            batch.sizes.push_back(sources[i].size());
        }
    }
    return batch;
}

void check_pair(const Buffer& source, const Buffer& destination, std::size_t index) {
    const std::string place = " at index " + std::to_string(index);
    if (source.size() != destination.size()) {
        throw std::invalid_argument("size mismatch" + place + ": the source has " +
                                    std::to_string(source.size()) + " bytes and the destination " +
                                    std::to_string(destination.size()));
    }
    const CUdeviceptr from = source.handle();
    const CUdeviceptr to = destination.handle();
    const std::size_t bytes = source.size();
    if (from < to + bytes && to < from + bytes) {
        throw std::invalid_argument("source and destination overlap" + place +
                                    ", so the result would depend on chance");
    }
}

/// Equal neighbours share one attribute.
void add_attributes(Batch& batch, std::span<const CopyOptions> options, std::size_t copies) {
    static constexpr CopyOptions DEFAULTS{};
    if (options.empty()) {
        options = std::span(&DEFAULTS, 1);
    }
    for (std::size_t i = 0; i < (options.size() == 1 ? 1 : copies); ++i) {
        if (i == 0 || options[i] != options[i - 1]) {
            batch.attributes.push_back(attributes_of(options[i]));
            batch.starts.push_back(i);
        }
    }
}

CUmemcpyAttributes attributes_of(const CopyOptions& options) {
    CUmemcpyAttributes attributes{};
    switch (options.src_access_order) {
    case SourceAccessOrder::Stream:
        attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
        break;
    case SourceAccessOrder::DuringAPICall:
        attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL;
        break;
    case SourceAccessOrder::Any:
        attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY;
        break;
    }
    if (options.src_location_hint) {
        attributes.srcLocHint = detail::driver_location(*options.src_location_hint);
    }
    if (options.dst_location_hint) {
        attributes.dstLocHint = detail::driver_location(*options.dst_location_hint);
    }
    attributes.flags = options.overlap_mode == CopyOverlap::PreferOverlapWithCompute
                           ? CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE
                           : CU_MEMCPY_FLAG_DEFAULT;
    return attributes;
}

/// Refuses what a plain copy cannot honour. It reads in the stream's order, which satisfies "any".
void check_plain(const CopyOptions& options, int driver) {
    if (options.src_access_order == SourceAccessOrder::DuringAPICall) {
        throw NotSupportedError("src_access_order=DURING_API_CALL", BATCH_VERSION, driver);
    }
    if (options.src_location_hint) {
        throw NotSupportedError("src_location_hint", BATCH_VERSION, driver);
    }
    if (options.dst_location_hint) {
        throw NotSupportedError("dst_location_hint", BATCH_VERSION, driver);
    }
    if (options.overlap_mode != CopyOverlap::Default) {
        throw NotSupportedError("overlap_mode=PREFER_OVERLAP_WITH_COMPUTE", BATCH_VERSION, driver);
    }
}

} // namespace

} // namespace cuprum
