// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/code/function.hpp"

#include "bytecode/readable_name.hpp"
#include "objects/code/launch_attributes.hpp"
#include "objects/code/module.hpp"
#include "objects/devices/device.hpp"
#include "objects/process/error.hpp"

#include <string>

namespace cuprum::emulator {

namespace {

constexpr int NOT_SET = -2; // -1 is a carveout
constexpr int LARGEST_CLUSTER = 16;

int max_threads(const bytecode::Kernel& kernel, const Device& device) {
    const auto product = [](const std::uint32_t(&dimensions)[3]) {
        return static_cast<int>(dimensions[0] * (dimensions[1] == 0 ? 1 : dimensions[1]) *
                                (dimensions[2] == 0 ? 1 : dimensions[2]));
    };
    if (kernel.required_threads[0] != 0) {
        return product(kernel.required_threads);
    }
    if (kernel.max_threads[0] != 0) {
        return product(kernel.max_threads);
    }
    return device.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
}

} // namespace

void check_cache_config(CUfunc_cache config) {
    if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL) {
        fail(CUDA_ERROR_INVALID_VALUE,
             std::to_string(config) + " is no cache configuration: expected a CU_FUNC_CACHE_...");
    }
}

void check_shared_memory_config(CUsharedconfig config) {
    if (config < CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE ||
        config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE) {
        fail(CUDA_ERROR_INVALID_VALUE,
             std::to_string(config) +
                 " is no configuration of shared memory: expected a CU_SHARED_MEM_CONFIG_...");
    }
}

int largest_dynamic_shared_bytes(const bytecode::Kernel& kernel, const Device& device) {
    return device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) -
           static_cast<int>(kernel.static_shared_bytes);
}

FunctionAttributes::FunctionAttributes() {
    for (auto& value : set_) {
        value.store(NOT_SET, std::memory_order_relaxed);
    }
}

int FunctionAttributes::get(CUfunction_attribute attribute, const bytecode::Kernel& kernel,
                            const Device& device) const {
    if (attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX) {
        fail(CUDA_ERROR_INVALID_VALUE, "unknown function attribute " + std::to_string(attribute));
    }
    if (const int value = own(attribute); value != NOT_SET) {
        return value;
    }
    const FunctionAttributes* inherited = inherited_.load(std::memory_order_acquire);
    if (inherited != nullptr && inherited->own(attribute) != NOT_SET) {
        return inherited->own(attribute);
    }
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
        return max_threads(kernel, device);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        return static_cast<int>(kernel.static_shared_bytes);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        return static_cast<int>(kernel.constant_memory_bytes);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        return static_cast<int>(kernel.local_bytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
        return static_cast<int>(kernel.register_count);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
        return static_cast<int>(kernel.target_sm);
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
        return static_cast<int>(device.sm());
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        return device.attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) -
               static_cast<int>(kernel.static_shared_bytes);
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        return -1;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
        return static_cast<int>(kernel.required_cluster[0]);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
        return static_cast<int>(kernel.required_cluster[1]);
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        return static_cast<int>(kernel.required_cluster[2]);
    default:
        return 0;
    }
}

void FunctionAttributes::set(CUfunction_attribute attribute, int value,
                             const bytecode::Kernel& kernel, const Device& device) {
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES: {
        const int largest = largest_dynamic_shared_bytes(kernel, device);
        if (value < 0 || value > largest) {
            fail(CUDA_ERROR_INVALID_VALUE, std::to_string(value) +
                                               " bytes of dynamic shared memory: at most " +
                                               std::to_string(largest) + " are possible");
        }
        break;
    }
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        require(value >= -1 && value <= 100, "the carveout is a percentage, or -1");
        break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        require(value >= 0 && value <= LARGEST_CLUSTER, "the cluster is too large");
        if (kernel.required_cluster[0] != 0) {
            fail(CUDA_ERROR_NOT_PERMITTED, "the kernel was compiled with a cluster size");
        }
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        require(value >= 0, "the value must not be negative");
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        check_cluster_policy(static_cast<CUclusterSchedulingPolicy>(value));
        break;
    default:
        fail(CUDA_ERROR_INVALID_VALUE,
             "function attribute " + std::to_string(attribute) + " cannot be set");
    }
    set_[attribute].store(value, std::memory_order_relaxed);
}

void FunctionAttributes::inherit(std::shared_ptr<const FunctionAttributes> from) {
    const std::lock_guard lock(mutex_);
    if (from_ == nullptr) {
        from_ = std::move(from);
        inherited_.store(from_.get(), std::memory_order_release);
    }
}

int FunctionAttributes::own(CUfunction_attribute attribute) const noexcept {
    return set_[attribute].load(std::memory_order_relaxed);
}

std::shared_ptr<Module> Function::module() const {
    auto module = module_.lock();
    if (module == nullptr) {
        fail(CUDA_ERROR_INVALID_HANDLE, "the function's module has been unloaded");
    }
    return module;
}

void get_parameter_info(const bytecode::Kernel& kernel, std::size_t index, std::size_t* offset,
                        std::size_t* size) {
    require(offset != nullptr, "paramOffset must not be NULL");
    if (index >= kernel.parameters.size()) {
        fail(CUDA_ERROR_INVALID_VALUE, "kernel '" + bytecode::readable_name(kernel.name) +
                                           "' has " + std::to_string(kernel.parameters.size()) +
                                           " parameters");
    }
    *offset = kernel.parameters[index].offset;
    if (size != nullptr) {
        *size = kernel.parameters[index].size_bytes;
    }
}

} // namespace cuprum::emulator
