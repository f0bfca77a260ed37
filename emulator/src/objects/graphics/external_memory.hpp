// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Memory of other programs and interfaces, imported by a file descriptor.
//
// The emulated device can import what a CPU can map: memory of emulated devices that
// cuMemExportToShareableHandle exported, anonymous files (memfd_create), memory of Mesa's lavapipe
// (Vulkan on the CPU), and DMA-BUFs whose exporter allows mapping. Each mapped buffer maps its part
// of the file, so that all see the same bytes.

#pragma once

#include "objects/devices/context.hpp"
#include "objects/memory/allocations.hpp"
#include "objects/process/handle_table.hpp"

#include <cuda.h>

#include <cstdint>
#include <memory>

namespace cuprum::emulator {

/// Imported memory. Buffers that were mapped from it stay until they are freed.
class ExternalMemory final : public Object {
public:
    /// Imports memory and takes over its descriptor.
    ///
    /// @throws DriverError INVALID_VALUE, NOT_SUPPORTED; the caller then keeps the descriptor.
    ExternalMemory(std::shared_ptr<Context> context,
                   const CUDA_EXTERNAL_MEMORY_HANDLE_DESC& description);
    ~ExternalMemory() override;

    /// Maps a part as device memory, which cuMemFree frees.
    ///
    /// @throws DriverError INVALID_VALUE if the part is empty or not inside the memory.
    [[nodiscard]] std::shared_ptr<Allocation> map(std::uint64_t offset, std::uint64_t bytes) const;

    [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

private:
    std::shared_ptr<Context> context_;
    int descriptor_ = -1;
    std::uint64_t begin_ = 0; // of the memory in the file
    std::uint64_t bytes_ = 0;
};

/// Unmaps a buffer of external memory. For the table of allocations.
void unmap_external(const Allocation& allocation) noexcept;

} // namespace cuprum::emulator
