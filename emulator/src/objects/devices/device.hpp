// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "objects/devices/identity.hpp"
#include "objects/process/settings.hpp"

#include <cuda.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace cuprum::emulator {

class Context;
class Pool;

/// One emulated device.
class Device {
public:
    Device(int ordinal, const Settings& settings);
    ~Device();

    [[nodiscard]] int ordinal() const noexcept { return ordinal_; }

    [[nodiscard]] std::uint32_t major() const noexcept { return settings_.major; }

    [[nodiscard]] std::uint32_t minor() const noexcept { return settings_.minor; }

    /// Returns the compute capability as in PTX targets: 80 for 8.0.
    [[nodiscard]] std::uint32_t sm() const noexcept {
        return settings_.major * 10 + settings_.minor;
    }

    /// Returns the name for cuDeviceGetName. Programs can recognise the emulated device by it.
    [[nodiscard]] std::string name() const { return DEVICE_NAME; }

    [[nodiscard]] CUuuid uuid() const noexcept { return uuid_of(unit_); }

    /// Returns the UUID of one of the machine's devices.
    [[nodiscard]] CUuuid uuid_of(int unit) const noexcept;

    /// Returns "0000:bb:00.0"; device n of the machine has bus n + 1.
    [[nodiscard]] std::string pci_bus_id() const;

    /// Returns which of the machine's devices this is: CUDA_VISIBLE_DEVICES chooses it, and the
    /// restoring of a checkpoint can change it. UUID and PCI address go with it.
    [[nodiscard]] int unit() const noexcept { return unit_; }

    /// Makes this another of the machine's devices. Only while all calls are held back.
    void move_to(int unit) noexcept;

    /// Returns the value of an attribute. Throws INVALID_VALUE if the attribute is unknown.
    [[nodiscard]] int attribute(CUdevice_attribute attribute) const;

    [[nodiscard]] std::uint32_t sm_count() const noexcept { return settings_.multiprocessor_count; }

    // ---- memory ----

    [[nodiscard]] std::uint64_t total_bytes() const noexcept { return settings_.memory_bytes; }

    [[nodiscard]] std::uint64_t free_bytes() const noexcept {
        const std::uint64_t used = used_bytes_.load(std::memory_order_relaxed);
        return used < total_bytes() ? total_bytes() - used : 0;
    }

    /// Returns how much can be allocated now. In a container it may be less than free_bytes().
    [[nodiscard]] std::uint64_t available_bytes() const;

    /// Charges bytes to the device's memory. Throws OUT_OF_MEMORY and shows how much is left.
    void charge(std::uint64_t bytes);

    /// Returns bytes that were charged.
    void refund(std::uint64_t bytes) noexcept;

    /// Gives back all memory that is charged, and the contexts that NVML shows, until take_back().
    /// Only while all calls are held back.
    void give_up() noexcept;

    /// Charges again what give_up() gave back; after move_to().
    void take_back() noexcept;

    [[nodiscard]] const std::shared_ptr<Pool>& default_pool() const noexcept {
        return default_pool_;
    }

    [[nodiscard]] std::shared_ptr<Pool> current_pool() const;

    void set_current_pool(std::shared_ptr<Pool> pool);

    /// Registers a pool so that synchronisation trims it.
    void track_pool(const std::shared_ptr<Pool>& pool);

    /// Releases the memory that pools hold above their release threshold. Every synchronisation
    /// does this.
    void release_unused_pool_memory();

    // ---- the primary context ----

    /// Takes a share of the primary context. The first share activates it.
    [[nodiscard]] std::shared_ptr<Context> retain_primary();

    /// Gives a share back. The last one tears the context down. Throws INVALID_CONTEXT if there is
    /// no share.
    void release_primary();

    /// Tears the primary context down even if it is retained.
    void reset_primary();

    void set_primary_flags(unsigned flags);

    [[nodiscard]] unsigned primary_flags() const;

    [[nodiscard]] bool is_primary_active() const;

private:
    void drain_primary(std::uint32_t most_shares);
    void trim_pools();

    int ordinal_;
    int unit_;
    Settings settings_;
    std::array<int, CU_DEVICE_ATTRIBUTE_MAX> attributes_{};
    std::atomic<std::uint64_t> used_bytes_{0};
    std::uint64_t given_up_bytes_ = 0; // while the process is checkpointed
    std::uint64_t given_up_contexts_ = 0;

    mutable std::mutex pool_mutex_;
    std::shared_ptr<Pool> default_pool_;
    std::shared_ptr<Pool> current_pool_;
    std::vector<std::weak_ptr<Pool>> pools_;
    std::size_t next_sweep_ = 0; // how many there are when those that are gone are dropped

    mutable std::mutex primary_mutex_;
    std::shared_ptr<Context> primary_;
    std::uint32_t primary_shares_ = 0;
    unsigned primary_flags_ = 0;
};

/// Fills in the table behind Device::attribute().
void describe_device(int ordinal, const Settings& settings,
                     std::array<int, CU_DEVICE_ATTRIBUTE_MAX>& attributes);

} // namespace cuprum::emulator
