// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/location.hpp>
#include <cuprum/stream.hpp>

#include <optional>
#include <span>
#include <string>

namespace cuprum {

/// When a copy may read its source.
enum class SourceAccessOrder {
    Stream,        // in the stream's order, as plain copies do
    DuringAPICall, // before the call returns: the source may be changed or freed after it
    Any,           // whenever it likes: the source does not change
};

/// Whether a copy should leave the multiprocessors alone.
enum class CopyOverlap { Default, PreferOverlapWithCompute };

/// How a copy is made.
struct CopyOptions {
    SourceAccessOrder src_access_order = SourceAccessOrder::Stream;
    std::optional<Location> src_location_hint = {}; // of managed memory
    std::optional<Location> dst_location_hint = {}; // of managed memory
    CopyOverlap overlap_mode = CopyOverlap::Default;

    friend bool operator==(const CopyOptions&, const CopyOptions&) = default;
};

/// Copies each source to the destination of the same index and size, in a stream's order; the
/// copies of one batch have no order among themselves. Returns at once.
///
/// `options` are one for all or one for each; none are the defaults. One driver call; with a driver
/// before CUDA 13.0 one plain copy each, and options that such a copy cannot honour are refused.
/// @throws std::invalid_argument if there is nothing to copy, the counts or sizes do not match, a
/// source and its destination overlap, or the stream is capturing or the legacy default stream.
/// @throws NotSupportedError, naming the option, if the driver is too old for it.
CUPRUM_API void copy_batch(const Stream& stream, std::span<const Buffer> sources,
                           std::span<const Buffer> destinations,
                           std::span<const CopyOptions> options = {});

/// Copies one buffer to another of the same size with options; see copy_batch.
CUPRUM_API void copy_with_options(const Stream& stream, const Buffer& source,
                                  const Buffer& destination, const CopyOptions& options);

/// Returns why copies with options cannot be enqueued on a stream, empty if they can.
[[nodiscard]] CUPRUM_API std::string why_no_copy_options(const Stream& stream);

} // namespace cuprum
