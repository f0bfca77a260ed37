// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The driver says "invalid value" for nearly everything that can be wrong with a launch. The limits
// are looked up here, after the failure, so that a launch that succeeds pays nothing for them.

#include "launch/launch_failure.hpp"

#include "driver/current.hpp"
#include "driver/explanations.hpp"
#include "support/readable_name.hpp"

#include <cuprum/context.hpp>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>
#include <cuprum/stream.hpp>

#include <cstdint>
#include <utility>

namespace cuprum::detail {

namespace {

std::string name_of(const Kernel& kernel) {
    return readable_name(kernel.name());
}

std::string describe(const LaunchConfig& config, const Kernel& kernel) {
    std::string text = "kernel \"" + name_of(kernel) + "\" was launched with grid " +
                       to_text(config.grid) + ", block " + to_text(config.block);
    if (config.cluster.has_value()) {
        text += ", cluster " + to_text(*config.cluster);
    }
    text += " and " + std::to_string(config.shmem_size) + " bytes of dynamic shared memory";
    return config.is_cooperative ? text + ", cooperatively" : text;
}

bool is_about_limits(CUresult status) {
    switch (status) {
    case CUDA_ERROR_INVALID_VALUE:
    case CUDA_ERROR_NOT_SUPPORTED:
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES:
    case CUDA_ERROR_INVALID_CLUSTER_SIZE:
    case CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE:
        return true;
    default:
        return false;
    }
}

/// Collects what is compared, so that each limit is one line.
class Limits {
public:
    /// Notes that `what` is `value` if that is more than `limit`, which is `whose`.
    void at_most(const std::string& what, std::uint64_t value, int limit,
                 const std::string& whose) {
        if (broken.empty() && value > static_cast<std::uint64_t>(limit)) {
            broken = what + " is " + std::to_string(value) + ", but " + whose + " at most " +
                     std::to_string(limit);
        }
    }

    std::string broken;
};

std::string broken_cluster_limit(const LaunchConfig& config, const Kernel& kernel,
                                 const KernelAttributes& attributes, const Device& device) {
    static constexpr int MAX_PORTABLE_BLOCKS = 8;
    static constexpr int MAX_BLOCKS = 16; // of the devices so far
    if (!config.cluster.has_value() && attributes.cluster_size_must_be_set) {
        return "kernel \"" + name_of(kernel) + "\" needs a cluster, and LaunchConfig has none";
    }
    if (!config.cluster.has_value()) {
        return {};
    }
    if (device.properties().get("cluster_launch", 0) == 0) {
        return "device " + std::to_string(device.ordinal()) + " is sm_" + device.arch() +
               " and has no clusters, which need compute capability 9.0";
    }
    const Dim3 required(static_cast<unsigned>(attributes.required_cluster_width),
                        static_cast<unsigned>(attributes.required_cluster_height),
                        static_cast<unsigned>(attributes.required_cluster_depth));
    if (required.x != 0 && required != *config.cluster) {
        return "LaunchConfig cluster is " + to_text(*config.cluster) + ", but kernel \"" +
               name_of(kernel) + "\" was made for " + to_text(required);
    }
    const std::uint64_t blocks =
        std::uint64_t{config.cluster->x} * config.cluster->y * config.cluster->z;
    Limits limits;
    limits.at_most("blocks per cluster", blocks, MAX_BLOCKS, "a device with clusters allows");
    if (limits.broken.empty() && !attributes.non_portable_cluster_size_allowed) {
        limits.at_most("blocks per cluster", blocks, MAX_PORTABLE_BLOCKS,
                       "every device with clusters allows");
        if (!limits.broken.empty()) {
            limits.broken += " unless the kernel's non_portable_cluster_size_allowed is set";
        }
    }
    return limits.broken;
}

std::string broken_cooperative_limit(const LaunchConfig& config, const Kernel& kernel,
                                     const Device& device) {
    if (!config.is_cooperative) {
        return {};
    }
    if (!device.properties().cooperative_launch()) {
        return "device " + std::to_string(device.ordinal()) + " has no cooperative launches";
    }
    const int threads = static_cast<int>(config.block.x * config.block.y * config.block.z);
    const int resident =
        kernel.occupancy().max_active_blocks_per_multiprocessor(threads, config.shmem_size);
    const int multiprocessors = device.properties().multiprocessor_count();
    const Dim3 cluster = config.cluster.value_or(Dim3()); // the grid counts clusters, if there are
    const std::uint64_t blocks = std::uint64_t{config.grid.x} * cluster.x * config.grid.y *
                                 cluster.y * config.grid.z * cluster.z;
    Limits limits;
    limits.at_most("the cooperative grid's number of blocks", blocks, resident * multiprocessors,
                   "all of them must be resident at once, " + std::to_string(resident) +
                       " on each of " + std::to_string(multiprocessors) + " multiprocessors:");
    return limits.broken;
}

/// Returns which limit was broken, with the numbers; empty if none is found.
std::string broken_limit(CUresult status, const LaunchConfig& config, const Kernel& kernel,
                         const Device& device) {
    const DeviceProperties properties = device.properties();
    const std::string on_device = "device " + std::to_string(device.ordinal()) + " allows";
    const std::string on_kernel = "kernel \"" + name_of(kernel) + "\" allows";
    const std::uint64_t threads = std::uint64_t{config.block.x} * config.block.y * config.block.z;
    const Dim3 cluster = config.cluster.value_or(Dim3());

    Limits limits;
    limits.at_most("block.x", config.block.x, properties.max_block_dim_x(), on_device);
    limits.at_most("block.y", config.block.y, properties.max_block_dim_y(), on_device);
    limits.at_most("block.z", config.block.z, properties.max_block_dim_z(), on_device);
    limits.at_most("threads per block", threads, properties.max_threads_per_block(), on_device);
    limits.at_most("grid.x in blocks", std::uint64_t{config.grid.x} * cluster.x,
                   properties.max_grid_dim_x(), on_device);
    limits.at_most("grid.y in blocks", std::uint64_t{config.grid.y} * cluster.y,
                   properties.max_grid_dim_y(), on_device);
    limits.at_most("grid.z in blocks", std::uint64_t{config.grid.z} * cluster.z,
                   properties.max_grid_dim_z(), on_device);
    if (!limits.broken.empty()) {
        return limits.broken;
    }

    const KernelAttributes attributes = kernel.attributes(device);
    limits.at_most("threads per block", threads, attributes.max_threads_per_block,
                   on_kernel + " (it uses " + std::to_string(attributes.num_regs) +
                       " registers per thread, or has launch bounds)");
    limits.at_most("shared memory per block, " + std::to_string(config.shmem_size) +
                       " bytes of LaunchConfig shmem_size and " +
                       std::to_string(attributes.shared_size_bytes) + " the kernel declares,",
                   config.shmem_size + static_cast<std::size_t>(attributes.shared_size_bytes),
                   properties.max_shared_memory_per_block_optin(), on_device);
    if (!limits.broken.empty()) {
        return limits.broken;
    }
    limits.at_most("LaunchConfig shmem_size", config.shmem_size,
                   attributes.max_dynamic_shared_size_bytes, on_kernel);
    if (!limits.broken.empty()) {
        return limits.broken;
    }
    if (std::string broken = broken_cluster_limit(config, kernel, attributes, device);
        !broken.empty()) {
        return broken;
    }
    if (std::string broken = broken_cooperative_limit(config, kernel, device); !broken.empty()) {
        return broken;
    }
    return status == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES
               ? "a block of " + std::to_string(threads) + " threads needs " +
                     std::to_string(attributes.num_regs * static_cast<std::int64_t>(threads)) +
                     " registers, of which " + on_device + " at most " +
                     std::to_string(properties.max_registers_per_block())
               : std::string();
}

template <typename ContextOf>
[[noreturn]] void raise_failure(CUresult status, const char* call, const LaunchConfig& config,
                                const Kernel& kernel, const ContextOf& context_of) {
    const std::string launched = describe(config, kernel);
    // Made first: looking for limits calls the driver, which then logs something else.
    const CUDAError failure(status, call, driver::explanation_of(status) + "; " + launched);
    std::string limit;
    if (is_about_limits(status)) {
        try {
            const Context context = context_of();
            const driver::Current current(context.handle());
            limit = broken_limit(status, config, kernel, context.device());
        } catch (const CUDAError&) {
            // NOTE: the launch's own failure is the one to report, even if less can be said of it.
            limit.clear();
        }
    }
    if (limit.empty()) {
        throw failure;
    }
    throw LaunchError(failure, std::move(limit), launched);
}

} // namespace

std::string to_text(const Dim3& extents) {
    return "(" + std::to_string(extents.x) + ", " + std::to_string(extents.y) + ", " +
           std::to_string(extents.z) + ")";
}

void raise_launch_failure(CUresult status, const LaunchConfig& config, const Kernel& kernel,
                          const Stream& stream) {
    raise_failure(status, "cuLaunchKernelEx", config, kernel, [&] { return stream.context(); });
}

void raise_launch_failure(CUresult status, const char* call, const LaunchConfig& config,
                          const Kernel& kernel, const Context& context) {
    raise_failure(status, call, config, kernel, [&] { return context; });
}

} // namespace cuprum::detail
