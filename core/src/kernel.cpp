// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/kernel.hpp>

#include "driver/current.hpp"
#include "state/handle.hpp"
#include "state/kernel_state.hpp"

#include <cuprum/context.hpp>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include <optional>
#include <stdexcept>
#include <utility>

namespace cuprum {

namespace {

/// Sees to it that some context is current for a scope: the one that is, or else the primary
/// context of the device that `Device()` names.
class AnyContext {
public:
    [[nodiscard]] AnyContext();

private:
    std::optional<Context> context_;
    std::optional<driver::Current> current_;
};

} // namespace

CUkernel Kernel::handle() const {
    return detail::open(state_, "Kernel").handle;
}

const std::string& Kernel::name() const {
    return detail::open(state_, "Kernel").name;
}

bool Kernel::is_plan_known() const {
    return detail::open(state_, "Kernel").plan->has_value();
}

std::span<const ParameterInfo> Kernel::parameters() const {
    const detail::KernelState& kernel = detail::open(state_, "Kernel");
    if (!kernel.plan->has_value()) {
        int version = 0;
        driver::call(driver::table().cuDriverGetVersion, &version);
        const auto& entry = driver::table().cuKernelGetParamInfo;
        throw NotSupportedError(entry.name, entry.version, version);
    }
    return **kernel.plan;
}

KernelAttributes Kernel::attributes(const Device& device) const {
    const CUkernel kernel = handle();
    const auto get = [&](CUfunction_attribute attribute) {
        int value = 0;
        driver::call(driver::table().cuKernelGetAttribute, &value, attribute, kernel,
                     CUdevice{device.ordinal()});
        return value;
    };
    return {
        .max_threads_per_block = get(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
        .shared_size_bytes = get(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES),
        .const_size_bytes = get(CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES),
        .local_size_bytes = get(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES),
        .num_regs = get(CU_FUNC_ATTRIBUTE_NUM_REGS),
        .ptx_version = get(CU_FUNC_ATTRIBUTE_PTX_VERSION),
        .binary_version = get(CU_FUNC_ATTRIBUTE_BINARY_VERSION),
        .max_dynamic_shared_size_bytes = get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES),
    };
}

void Kernel::set_max_dynamic_shared_size_bytes(const Device& device, int bytes) const {
    const auto& set = driver::table().cuKernelSetAttribute;
    const CUresult status = set(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes, handle(),
                                CUdevice{device.ordinal()});
    if (status == CUDA_ERROR_INVALID_VALUE) {
        const int limit = device.properties().max_shared_memory_per_block_optin();
        throw std::invalid_argument(
            "bytes is " + std::to_string(bytes) + "; expected 0 to " +
            std::to_string(limit - attributes(device).shared_size_bytes) + " for kernel \"" +
            name() + "\": what a block may have on device " + std::to_string(device.ordinal()) +
            ", " + std::to_string(limit) + ", less what the kernel declares");
    }
    if (status != CUDA_SUCCESS) {
        driver::raise(status, set.name);
    }
}

int Kernel::max_active_blocks_per_multiprocessor(int block_size,
                                                 std::size_t dynamic_shared_bytes) const {
    const CUkernel kernel = handle();
    if (block_size < 1) {
        throw std::invalid_argument("block_size is " + std::to_string(block_size) +
                                    "; expected at least 1");
    }
    const AnyContext context;
    int blocks = 0;
    driver::call(driver::table().cuOccupancyMaxActiveBlocksPerMultiprocessor, &blocks,
                 reinterpret_cast<CUfunction>(kernel), block_size, dynamic_shared_bytes);
    return blocks;
}

void Kernel::check_signature(std::span<const std::size_t> sizes) const {
    const detail::KernelState& kernel = detail::open(state_, "Kernel");
    if (!kernel.plan->has_value()) {
        return;
    }
    const std::vector<ParameterInfo>& plan = **kernel.plan;
    if (sizes.size() != plan.size()) {
        throw std::invalid_argument("the signature has " + std::to_string(sizes.size()) +
                                    " parameters, but kernel \"" + kernel.name + "\" takes " +
                                    std::to_string(plan.size()));
    }
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] != plan[i].size) {
            throw std::invalid_argument("parameter " + std::to_string(i) +
                                        " of the signature has " + std::to_string(sizes[i]) +
                                        " bytes, but kernel \"" + kernel.name + "\" takes " +
                                        std::to_string(plan[i].size) + " there");
        }
    }
}

bool operator==(const Kernel& left, const Kernel& right) noexcept {
    if (left.state_ == nullptr || right.state_ == nullptr) {
        return left.state_ == right.state_;
    }
    return left.state_->handle == right.state_->handle;
}

namespace detail {

LaunchPlan read_plan(CUkernel kernel) {
    static constexpr std::size_t MAX_PARAMETER_BYTES = 32764; // of one kernel, on any device
    const AnyContext context;
    const auto& get = driver::table().cuKernelGetParamInfo;
    std::vector<ParameterInfo> plan;
    try {
        for (std::size_t i = 0; i <= MAX_PARAMETER_BYTES; ++i) {
            ParameterInfo parameter;
            const CUresult status = get(kernel, i, &parameter.offset, &parameter.size);
            if (status == CUDA_ERROR_INVALID_VALUE) {
                return plan; // there is no parameter i: the documented end
            }
            if (status != CUDA_SUCCESS) {
                driver::raise(status, get.name);
            }
            plan.push_back(parameter);
        }
    } catch (const NotSupportedError&) {
        return std::nullopt;
    }
    throw CUDAError(CUDA_ERROR_UNKNOWN, get.name, "the driver reports parameters without end");
}

} // namespace detail

// ---- helpers -----------------------------------------------------------------------------------

namespace {

AnyContext::AnyContext() {
    CUcontext current = nullptr;
    driver::call(driver::table().cuCtxGetCurrent, &current);
    if (current == nullptr) {
        context_ = Device().primary_context();
        current_.emplace(context_->handle());
    }
}

} // namespace

} // namespace cuprum
