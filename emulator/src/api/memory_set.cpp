// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Fills.

#include "api/entry.hpp"
#include "api/handles.hpp"
#include "objects/memory/copy.hpp"

using namespace cuprum::emulator;

namespace {

void fill(CUdeviceptr address, std::uint32_t value, std::uint32_t element_bytes, std::size_t count,
          CUstream stream, CopyMode mode = CopyMode::Async) {
    enqueue_fill(*stream_from(stream), {address, 0, value, element_bytes, count, 1}, mode);
}

void fill_2d(CUdeviceptr address, std::size_t pitch, std::uint32_t value,
             std::uint32_t element_bytes, std::size_t width, std::size_t height, CUstream stream,
             CopyMode mode = CopyMode::Async) {
    enqueue_fill(*stream_from(stream), {address, pitch, value, element_bytes, width, height}, mode);
}

} // namespace

extern "C" {

CUresult CUDAAPI cuMemsetD8_v2(CUdeviceptr dstDevice, unsigned char uc, size_t N) {
    return entry("cuMemsetD8", [&] { fill(dstDevice, uc, 1, N, nullptr, CopyMode::Sync); });
}

CUresult CUDAAPI cuMemsetD16_v2(CUdeviceptr dstDevice, unsigned short us, size_t N) {
    return entry("cuMemsetD16", [&] { fill(dstDevice, us, 2, N, nullptr, CopyMode::Sync); });
}

CUresult CUDAAPI cuMemsetD32_v2(CUdeviceptr dstDevice, unsigned int ui, size_t N) {
    return entry("cuMemsetD32", [&] { fill(dstDevice, ui, 4, N, nullptr, CopyMode::Sync); });
}

CUresult CUDAAPI cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N,
                                 CUstream hStream) {
    return entry("cuMemsetD8Async", [&] { fill(dstDevice, uc, 1, N, hStream); });
}

CUresult CUDAAPI cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N,
                                  CUstream hStream) {
    return entry("cuMemsetD16Async", [&] { fill(dstDevice, us, 2, N, hStream); });
}

CUresult CUDAAPI cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N,
                                  CUstream hStream) {
    return entry("cuMemsetD32Async", [&] { fill(dstDevice, ui, 4, N, hStream); });
}

CUresult CUDAAPI cuMemsetD2D8_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
                                 size_t Width, size_t Height) {
    return entry("cuMemsetD2D8", [&] {
        fill_2d(dstDevice, dstPitch, uc, 1, Width, Height, nullptr, CopyMode::Sync);
    });
}

CUresult CUDAAPI cuMemsetD2D16_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
                                  size_t Width, size_t Height) {
    return entry("cuMemsetD2D16", [&] {
        fill_2d(dstDevice, dstPitch, us, 2, Width, Height, nullptr, CopyMode::Sync);
    });
}

CUresult CUDAAPI cuMemsetD2D32_v2(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
                                  size_t Width, size_t Height) {
    return entry("cuMemsetD2D32", [&] {
        fill_2d(dstDevice, dstPitch, ui, 4, Width, Height, nullptr, CopyMode::Sync);
    });
}

CUresult CUDAAPI cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
                                   size_t Width, size_t Height, CUstream hStream) {
    return entry("cuMemsetD2D8Async",
                 [&] { fill_2d(dstDevice, dstPitch, uc, 1, Width, Height, hStream); });
}

CUresult CUDAAPI cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
                                    size_t Width, size_t Height, CUstream hStream) {
    return entry("cuMemsetD2D16Async",
                 [&] { fill_2d(dstDevice, dstPitch, us, 2, Width, Height, hStream); });
}

CUresult CUDAAPI cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
                                    size_t Width, size_t Height, CUstream hStream) {
    return entry("cuMemsetD2D32Async",
                 [&] { fill_2d(dstDevice, dstPitch, ui, 4, Width, Height, hStream); });
}

} // extern "C"
