// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/copy.hpp>

#include "driver/capture.hpp"
#include "driver/current.hpp"
#include "driver/default_stream.hpp"
#include "driver/handle.hpp"
#include "memory/location.hpp"
#include "memory/peer_copy.hpp"
#include "stream/stream_state.hpp"

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
    std::vector<std::size_t> indices; // in what the caller gave

    void add(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes, std::size_t index);
};

Batch collect(std::span<const Buffer> sources, std::span<const Buffer> destinations);
[[nodiscard]] CUresult enqueue(Batch& batch, std::span<const CopyOptions> options, CUstream stream);
void enqueue_apart(const Batch& batch, std::span<const CopyOptions> options, CUstream stream);
void copy_one(const Batch& batch, std::size_t at, CUstream stream);
const CopyOptions& options_for(std::span<const CopyOptions> options, std::size_t index);
CUmemcpyAttributes attributes_of(const CopyOptions& options);
void check_pair(const Buffer& source, const Buffer& destination, std::size_t index);
std::string what_is_not_plain(const CopyOptions& options);

} // namespace

void copy_batch(const Stream& stream, std::span<const Buffer> sources,
                std::span<const Buffer> destinations, std::span<const CopyOptions> options) {
    const detail::StreamState& queue = detail::open(stream);
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
            if (const std::string option = what_is_not_plain(each); !option.empty()) {
                throw NotSupportedError(option, BATCH_VERSION, driver);
            }
        }
        for (std::size_t i = 0; i < batch.sizes.size(); ++i) {
            copy_one(batch, i, queue.handle);
        }
        return;
    }
    const CUresult status = enqueue(batch, options, queue.handle);
    if (status == CUDA_ERROR_INVALID_VALUE) {
        enqueue_apart(batch, options, queue.handle);
    } else if (status != CUDA_SUCCESS) {
        driver::raise(status, table().cuMemcpyBatchAsync.name);
    }
}

void copy_with_options(const Stream& stream, const Buffer& source, const Buffer& destination,
                       const CopyOptions& options) {
    copy_batch(stream, std::span(&source, 1), std::span(&destination, 1), std::span(&options, 1));
}

std::string why_no_copy_options(const Stream& stream) {
    const CUstream queue = detail::handle_of(stream);
    if (driver::is_legacy_default_stream(queue)) {
        return "the legacy default stream supports neither batches of copies nor copy options; "
               "create a stream, or use the per-thread default stream";
    }
    if (driver::capture_status(queue) != CU_STREAM_CAPTURE_STATUS_NONE) {
        return "stream is in graph capture, which supports neither batches of copies nor copy "
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
        throw std::invalid_argument("there are " + std::to_string(sources.size()) +
                                    " sources, but " + std::to_string(destinations.size()) +
                                    " destinations; expected the same number");
    }
    Batch batch;
    for (std::size_t i = 0; i < sources.size(); ++i) {
        check_pair(sources[i], destinations[i], i);
        if (sources[i].size() != 0) {
            batch.add(destinations[i].handle(), sources[i].handle(), sources[i].size(), i);
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
                                    ", so the result would be undefined");
    }
}

void Batch::add(CUdeviceptr destination, CUdeviceptr source, std::size_t bytes, std::size_t index) {
    destinations.push_back(destination);
    sources.push_back(source);
    sizes.push_back(bytes);
    indices.push_back(index);
}

/// Makes the one driver call. Equal neighbours share one attribute.
CUresult enqueue(Batch& batch, std::span<const CopyOptions> options, CUstream stream) {
    std::vector<CUmemcpyAttributes> attributes;
    std::vector<std::size_t> starts; // the first copy that each attribute is for
    const CopyOptions* last = nullptr;
    for (std::size_t i = 0; i < (options.size() > 1 ? batch.sizes.size() : 1); ++i) {
        const CopyOptions& each = options_for(options, batch.indices[i]);
        if (last == nullptr || each != *last) {
            attributes.push_back(attributes_of(each));
            starts.push_back(i);
            last = &each;
        }
    }
    return table().cuMemcpyBatchAsync(batch.destinations.data(), batch.sources.data(),
                                      batch.sizes.data(), batch.sizes.size(), attributes.data(),
                                      starts.data(), attributes.size(), stream);
}

/// Copies what the driver refused as one batch. It refuses a batch if a pool denies the stream's
/// device access. Copies that name both devices do not need that access, so they are made one by
/// one. The others stay a batch and go first: if they are refused too, there is another reason.
void enqueue_apart(const Batch& batch, std::span<const CopyOptions> options, CUstream stream) {
    const auto& entry = table().cuMemcpyBatchAsync;
    Batch within;
    std::vector<std::size_t> between;
    for (std::size_t i = 0; i < batch.sizes.size(); ++i) {
        const auto devices = detail::devices_between(batch.destinations[i], batch.sources[i]);
        if (!devices) {
            within.add(batch.destinations[i], batch.sources[i], batch.sizes[i], batch.indices[i]);
            continue;
        }
        const std::size_t index = batch.indices[i];
        if (const auto option = what_is_not_plain(options_for(options, index)); !option.empty()) {
            throw CUDAError(CUDA_ERROR_INVALID_VALUE, entry.name,
                            "the copy at index " + std::to_string(index) + " goes from device " +
                                std::to_string(devices->from) + " to device " +
                                std::to_string(devices->to) +
                                ", and the stream's device has no access to both; set "
                                "peer_accessible_by of their memory resources, or leave out " +
                                option + ": a plain copy needs no access");
        }
        between.push_back(i);
    }
    CUresult status = CUDA_ERROR_INVALID_VALUE;
    if (!between.empty()) {
        status = within.sizes.empty() ? CUDA_SUCCESS : enqueue(within, options, stream);
    }
    if (status != CUDA_SUCCESS) {
        driver::raise(status, entry.name);
    }
    for (const std::size_t i : between) {
        copy_one(batch, i, stream);
    }
}

/// Makes one plain copy, between devices if need be.
void copy_one(const Batch& batch, std::size_t at, CUstream stream) {
    const CUdeviceptr to = batch.destinations[at];
    const CUdeviceptr from = batch.sources[at];
    const auto& entry = table().cuMemcpyAsync;
    const CUresult status = entry(to, from, batch.sizes[at], stream);
    if (status != CUDA_SUCCESS &&
        (status != CUDA_ERROR_INVALID_VALUE ||
         !detail::copy_between_devices({.address = to}, {.address = from},
                                       {.width = batch.sizes[at]}, stream))) {
        driver::raise(status, entry.name);
    }
}

/// Returns the options of one of the copies that the caller gave.
const CopyOptions& options_for(std::span<const CopyOptions> options, std::size_t index) {
    static constexpr CopyOptions DEFAULTS{};
    return options.empty() ? DEFAULTS : options[options.size() == 1 ? 0 : index];
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

/// Names what a plain copy cannot honour, if there is such an option. It reads in the stream's
/// order, which satisfies "any".
std::string what_is_not_plain(const CopyOptions& options) {
    if (options.src_access_order == SourceAccessOrder::DuringAPICall) {
        return "src_access_order=DURING_API_CALL";
    }
    if (options.src_location_hint) {
        return "src_location_hint";
    }
    if (options.dst_location_hint) {
        return "dst_location_hint";
    }
    if (options.overlap_mode != CopyOverlap::Default) {
        return "overlap_mode=PREFER_OVERLAP_WITH_COMPUTE";
    }
    return {};
}

} // namespace

} // namespace cuprum
