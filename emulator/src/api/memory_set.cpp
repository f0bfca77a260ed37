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
    enqueue_fill(*object_of(stream), {address, 0, value, element_bytes, count, 1}, mode);
}

void fill_2d(CUdeviceptr address, std::size_t pitch, std::uint32_t value,
             std::uint32_t element_bytes, std::size_t width, std::size_t height, CUstream stream,
             CopyMode mode = CopyMode::Async) {
    enqueue_fill(*object_of(stream), {address, pitch, value, element_bytes, width, height}, mode);
}

} // namespace

ROW_PTDS(cuMemsetD8_v2, 3020, CUdeviceptr dstDevice, unsigned char uc, size_t N) {
    fill(dstDevice, uc, 1, N, nullptr, CopyMode::Sync);
}

ROW_PTDS(cuMemsetD16_v2, 3020, CUdeviceptr dstDevice, unsigned short us, size_t N) {
    fill(dstDevice, us, 2, N, nullptr, CopyMode::Sync);
}

ROW_PTDS(cuMemsetD32_v2, 3020, CUdeviceptr dstDevice, unsigned int ui, size_t N) {
    fill(dstDevice, ui, 4, N, nullptr, CopyMode::Sync);
}

ROW_PTSZ(cuMemsetD8Async, 3020, CUdeviceptr dstDevice, unsigned char uc, size_t N,
         CUstream hStream) {
    fill(dstDevice, uc, 1, N, hStream);
}

ROW_PTSZ(cuMemsetD16Async, 3020, CUdeviceptr dstDevice, unsigned short us, size_t N,
         CUstream hStream) {
    fill(dstDevice, us, 2, N, hStream);
}

ROW_PTSZ(cuMemsetD32Async, 3020, CUdeviceptr dstDevice, unsigned int ui, size_t N,
         CUstream hStream) {
    fill(dstDevice, ui, 4, N, hStream);
}

ROW_PTDS(cuMemsetD2D8_v2, 3020, CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
         size_t Width, size_t Height) {
    fill_2d(dstDevice, dstPitch, uc, 1, Width, Height, nullptr, CopyMode::Sync);
}

ROW_PTDS(cuMemsetD2D16_v2, 3020, CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
         size_t Width, size_t Height) {
    fill_2d(dstDevice, dstPitch, us, 2, Width, Height, nullptr, CopyMode::Sync);
}

ROW_PTDS(cuMemsetD2D32_v2, 3020, CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
         size_t Width, size_t Height) {
    fill_2d(dstDevice, dstPitch, ui, 4, Width, Height, nullptr, CopyMode::Sync);
}

ROW_PTSZ(cuMemsetD2D8Async, 3020, CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc,
         size_t Width, size_t Height, CUstream hStream) {
    fill_2d(dstDevice, dstPitch, uc, 1, Width, Height, hStream);
}

ROW_PTSZ(cuMemsetD2D16Async, 3020, CUdeviceptr dstDevice, size_t dstPitch, unsigned short us,
         size_t Width, size_t Height, CUstream hStream) {
    fill_2d(dstDevice, dstPitch, us, 2, Width, Height, hStream);
}

ROW_PTSZ(cuMemsetD2D32Async, 3020, CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui,
         size_t Width, size_t Height, CUstream hStream) {
    fill_2d(dstDevice, dstPitch, ui, 4, Width, Height, hStream);
}
