// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Fills.

#include "api/entry.hpp"
#include "objects/memory/copy.hpp"

using namespace cuprum::emulator;

namespace {

/// Fills on a stream, or on the default stream and waits.
template <typename... At>
void enqueue(const Fill& fill, At&... stream) {
    if constexpr (sizeof...(stream) == 0) {
        enqueue_fill(*default_stream(), fill, CopyMode::Sync);
    } else {
        enqueue_fill(stream..., fill, CopyMode::Async);
    }
}

template <typename Value, typename... At>
void fill(CUdeviceptr address, Value value, std::size_t count, At&... stream) {
    enqueue({address, 0, value, sizeof value, count, 1}, stream...);
}

template <typename Value, typename... At>
void fill_2d(CUdeviceptr address, std::size_t pitch, Value value, std::size_t width,
             std::size_t height, At&... stream) {
    enqueue({address, pitch, value, sizeof value, width, height}, stream...);
}

} // namespace

USE_PTDS(cuMemsetD8_v2, 3020, fill<unsigned char>);
USE_PTDS(cuMemsetD16_v2, 3020, fill<unsigned short>);
USE_PTDS(cuMemsetD32_v2, 3020, fill<unsigned int>);
USE_PTSZ(cuMemsetD8Async, 3020, fill<unsigned char, Stream>);
USE_PTSZ(cuMemsetD16Async, 3020, fill<unsigned short, Stream>);
USE_PTSZ(cuMemsetD32Async, 3020, fill<unsigned int, Stream>);
USE_PTDS(cuMemsetD2D8_v2, 3020, fill_2d<unsigned char>);
USE_PTDS(cuMemsetD2D16_v2, 3020, fill_2d<unsigned short>);
USE_PTDS(cuMemsetD2D32_v2, 3020, fill_2d<unsigned int>);
USE_PTSZ(cuMemsetD2D8Async, 3020, fill_2d<unsigned char, Stream>);
USE_PTSZ(cuMemsetD2D16Async, 3020, fill_2d<unsigned short, Stream>);
USE_PTSZ(cuMemsetD2D32Async, 3020, fill_2d<unsigned int, Stream>);
