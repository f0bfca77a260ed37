// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/call.hpp"

#include <cuprum/memory_resource.hpp>

namespace cuprum::detail {

struct DeviceState;

/// A pool of device memory, as the resource that buffers share. Destroying it destroys the pool if
/// it is ours.
struct PoolState final : MemoryResource {
    CUmemoryPool handle = nullptr;
    DeviceState* device = nullptr;
    bool is_owned = false;
    std::size_t max_size = 0; // bytes; 0 is no limit of ours

    explicit PoolState(DeviceState& its_device) : device(&its_device) {}

    ~PoolState() override;
    PoolState(const PoolState&) = delete;
    PoolState& operator=(const PoolState&) = delete;

    CUdeviceptr allocate_bytes(std::size_t bytes, const Stream& stream) override;
    void deallocate_bytes(CUdeviceptr pointer, std::size_t bytes, const Stream& stream) override;

    bool is_device_accessible() const noexcept override { return true; }

    bool is_host_accessible() const noexcept override { return false; }

    int device_id() const noexcept override;
};

} // namespace cuprum::detail
