// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/launch.hpp>

#include "driver/current.hpp"
#include "launch_failure.hpp"
#include "state/handle.hpp"
#include "state/kernel_state.hpp"
#include "state/stream_state.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>

namespace cuprum {

namespace {

/// Addresses of the arguments, as the driver takes them; on the stack unless there are very many.
class PackedArguments {
public:
    [[nodiscard]] explicit PackedArguments(std::span<const KernelArgument> arguments);

    [[nodiscard]] void** data() noexcept { return data_; }

private:
    static constexpr std::size_t MAX_ON_STACK = 64;

    void* stack_[MAX_ON_STACK]; // NOTE: left uninitialised, this is the fast path
    std::unique_ptr<void*[]> heap_;
    void** data_ = stack_;
};

/// The attributes of one launch. Each launch has its own, so that a configuration can be shared.
struct LaunchAttributes {
    static constexpr unsigned MAX_COUNT = 3;

    CUlaunchAttribute list[MAX_COUNT]; // NOTE: uninitialised beyond `count`, as above
    unsigned count = 0;

    void add(CUlaunchAttributeID id, const auto& set_value) {
        CUlaunchAttribute& attribute = list[count++];
        attribute = CUlaunchAttribute{};
        attribute.id = id;
        set_value(attribute.value);
    }
};

void check_arguments(const detail::KernelState& kernel, std::span<const KernelArgument> arguments);
void check_config(const LaunchConfig& config);
[[nodiscard]] unsigned blocks(const char* axis, unsigned clusters, unsigned blocks_per_cluster);
[[noreturn]] void reject_count(const std::string& kernel, std::span<const ParameterInfo> plan,
                               std::size_t count);
[[noreturn]] void reject_argument(const std::string& kernel, std::size_t index,
                                  const KernelArgument& argument, std::size_t expected_bytes);

} // namespace

void launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
            std::span<const KernelArgument> arguments) {
    const detail::StreamState& stream_state = detail::open(stream.state(), "Stream");
    const detail::KernelState& kernel_state = detail::open(kernel.state(), "Kernel");
    check_config(config);
    check_arguments(kernel_state, arguments);

    CUlaunchConfig driver_config{};
    driver_config.gridDimX = config.grid.x;
    driver_config.gridDimY = config.grid.y;
    driver_config.gridDimZ = config.grid.z;
    driver_config.blockDimX = config.block.x;
    driver_config.blockDimY = config.block.y;
    driver_config.blockDimZ = config.block.z;
    driver_config.sharedMemBytes = static_cast<unsigned>(config.shmem_size);
    driver_config.hStream = stream_state.handle;

    LaunchAttributes attributes;
    if (config.cluster.has_value()) {
        const Dim3& cluster = *config.cluster;
        driver_config.gridDimX = blocks("x", config.grid.x, cluster.x);
        driver_config.gridDimY = blocks("y", config.grid.y, cluster.y);
        driver_config.gridDimZ = blocks("z", config.grid.z, cluster.z);
        attributes.add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, [&](CUlaunchAttributeValue& value) {
            value.clusterDim = {cluster.x, cluster.y, cluster.z};
        });
    }
    if (config.is_cooperative) {
        attributes.add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                       [](CUlaunchAttributeValue& value) { value.cooperative = 1; });
    }
    if (config.programmatic_stream_serialization) {
        attributes.add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                       [](CUlaunchAttributeValue& value) {
                           value.programmaticStreamSerializationAllowed = 1;
                       });
    }
    driver_config.attrs = attributes.count == 0 ? nullptr : attributes.list;
    driver_config.numAttrs = attributes.count;

    PackedArguments packed(arguments);
    const driver::Current current(detail::context_of(stream_state));
    // NOTE: the driver takes a kernel for a function here, and finds the one of this context.
    const CUresult status = driver::table().cuLaunchKernelEx(
        &driver_config, reinterpret_cast<CUfunction>(kernel_state.handle), packed.data(), nullptr);
    if (status != CUDA_SUCCESS) [[unlikely]] {
        detail::raise_launch_failure(status, config, kernel);
    }
    stream_state.last_launch.note(kernel_state.label);
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

PackedArguments::PackedArguments(std::span<const KernelArgument> arguments) {
    if (arguments.size() > MAX_ON_STACK) [[unlikely]] {
        heap_ = std::make_unique<void*[]>(arguments.size());
        data_ = heap_.get();
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        data_[i] = const_cast<void*>(arguments[i].data); // the driver only reads
    }
}

void check_arguments(const detail::KernelState& kernel, std::span<const KernelArgument> arguments) {
    if (!kernel.plan->has_value()) [[unlikely]] {
        return;
    }
    const std::vector<ParameterInfo>& plan = **kernel.plan;
    if (arguments.size() != plan.size()) [[unlikely]] {
        reject_count(kernel.name, plan, arguments.size());
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].size != plan[i].size || arguments[i].data == nullptr) [[unlikely]] {
            reject_argument(kernel.name, i, arguments[i], plan[i].size);
        }
    }
}

void check_extents(const char* field, const Dim3& extents) {
    if (extents.x == 0 || extents.y == 0 || extents.z == 0) [[unlikely]] {
        throw std::invalid_argument(std::string("LaunchConfig ") + field + " is " +
                                    detail::to_text(extents) +
                                    "; expected at least 1 in every dimension");
    }
}

void check_config(const LaunchConfig& config) {
    check_extents("grid", config.grid);
    check_extents("block", config.block);
    if (config.cluster.has_value()) {
        check_extents("cluster", *config.cluster);
    }
    if (config.shmem_size > std::numeric_limits<unsigned>::max()) [[unlikely]] {
        throw std::invalid_argument("LaunchConfig shmem_size is " +
                                    std::to_string(config.shmem_size) +
                                    " bytes; expected less than 4 GiB");
    }
}

unsigned blocks(const char* axis, unsigned clusters, unsigned blocks_per_cluster) {
    const std::uint64_t count = std::uint64_t{clusters} * blocks_per_cluster;
    if (count > std::numeric_limits<unsigned>::max()) [[unlikely]] {
        throw std::invalid_argument(std::string("LaunchConfig grid.") + axis + " is " +
                                    std::to_string(clusters) + " clusters of " +
                                    std::to_string(blocks_per_cluster) + " blocks, " +
                                    std::to_string(count) +
                                    " in all; a grid has less than 2^32 (with `cluster`, the grid "
                                    "counts clusters)");
    }
    return static_cast<unsigned>(count);
}

void reject_count(const std::string& kernel, std::span<const ParameterInfo> plan,
                  std::size_t count) {
    std::string text = "kernel \"" + kernel + "\" takes " + std::to_string(plan.size()) +
                       " arguments, " + std::to_string(count) + " were passed";
    if (!plan.empty()) {
        text += "; its parameters have these sizes in bytes:";
        for (const ParameterInfo& parameter : plan) {
            text += " " + std::to_string(parameter.size);
        }
    }
    throw std::invalid_argument(text);
}

void reject_argument(const std::string& kernel, std::size_t index, const KernelArgument& argument,
                     std::size_t expected_bytes) {
    const std::string which =
        "argument " + std::to_string(index) + " of kernel \"" + kernel + "\" ";
    if (argument.data == nullptr) {
        throw std::invalid_argument(which + "has a null address; expected that of its value");
    }
    throw std::invalid_argument(which + "has " + std::to_string(argument.size) +
                                " bytes; expected " + std::to_string(expected_bytes));
}

} // namespace

} // namespace cuprum
