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
    Any,           // at any time: the source does not change
};

/// Whether a copy should avoid the multiprocessors.
enum class CopyOverlap { Default, PreferOverlapWithCompute };

/// Options of a copy.
struct CopyOptions {
    SourceAccessOrder src_access_order = SourceAccessOrder::Stream; // when the source is read
    std::optional<Location> src_location_hint = {};                 // of managed memory
    std::optional<Location> dst_location_hint = {};                 // of managed memory
    CopyOverlap overlap_mode = CopyOverlap::Default; // whether the copy may run beside kernels

    friend bool operator==(const CopyOptions&, const CopyOptions&) = default;
};

/// Copies each source to the destination with the same index, ordered on `stream`. The copies of
/// one batch have no order among themselves. Returns at once.
///
/// Pass one set of options for all copies, one for each, or none. This takes one driver call. A
/// driver before CUDA 13.0 makes one plain copy each and refuses options that it cannot honour.
/// @throws std::invalid_argument if there is nothing to copy, the counts or sizes do not match, a
/// source and its destination overlap, or the stream is capturing or the legacy default stream.
/// @throws NotSupportedError if the driver is too old for an option, which the message names.
CUPRUM_API void copy_batch(const Stream& stream, std::span<const Buffer> sources,
                           std::span<const Buffer> destinations,
                           std::span<const CopyOptions> options = {});

/// Copies one buffer to another of the same size with options; see copy_batch.
CUPRUM_API void copy_with_options(const Stream& stream, const Buffer& source,
                                  const Buffer& destination, const CopyOptions& options);

/// Returns why a stream does not take copies with options, or an empty text if it does.
[[nodiscard]] CUPRUM_API std::string why_no_copy_options(const Stream& stream);

} // namespace cuprum
