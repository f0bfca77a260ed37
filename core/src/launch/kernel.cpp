// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/kernel.hpp>

#include "device/context_state.hpp"
#include "device/device_state.hpp"
#include "driver/call.hpp"
#include "driver/handle.hpp"
#include "launch/packed_arguments.hpp"
#include "program/kernel_state.hpp"
#include "program/parameter_kinds.hpp"
#include "support/readable_name.hpp"
#include "support/text.hpp"
#include "support/warn.hpp"

#include <cuprum/detail/leave_loaded.hpp>
#include <cuprum/error.hpp>
#include <cuprum/object_code.hpp>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

std::string driver_name(CUkernel kernel) {
    const char* name = nullptr; // drivers before 12.3 do not report it
    return driver::call_if_supported(driver::table().cuKernelGetName, &name, kernel) ? name : "?";
}

/// Returns the library that a kernel belongs to, null if the driver cannot tell.
CUlibrary library_of(CUkernel kernel) {
    CUlibrary library = nullptr; // drivers before 12.5 do not report it
    return driver::call_if_supported(driver::table().cuKernelGetLibrary, &library, kernel)
               ? library
               : nullptr;
}

std::shared_ptr<detail::KernelState> wrap(CUkernel handle, const ObjectCode* owner) {
    if (handle == nullptr) {
        throw std::invalid_argument("handle is null, expected a kernel");
    }
    driver::initialise();
    auto state = std::make_shared<detail::KernelState>();
    state->handle = handle;
    state->name = driver_name(handle);
    state->label = detail::LaunchName(state->name);
    const CUlibrary home = library_of(handle);
    state->library = home == nullptr ? nullptr : detail::find_library(home);
    state->home = state->library.get();
    if (owner != nullptr) {
        state->owner = detail::Access::state(*owner);
        if (home != nullptr && owner->handle() != home) {
            detail::warn(WarningKind::Degraded, "kernel \"" + state->name +
                                                    "\" does not match the code given as its "
                                                    "owner; the code of both is kept alive");
        }
    }
    if (state->library != nullptr) {
        state->plan = &state->library->plan_of(handle, state->name);
    } else {
        state->own_plan = detail::read_plan(handle, state->name, {});
        state->plan = &state->own_plan;
    }
    return state;
}

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

[[gnu::hot]] const std::vector<ParameterInfo>* Kernel::plan() const {
    const detail::LaunchPlan& plan = *detail::open(state_, "Kernel").plan;
    return plan.has_value() ? &*plan : nullptr;
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

void detail::leave_loaded(const Kernel& kernel) {
    if (LibraryState* const library = open(kernel).home) {
        library->leave_loaded();
    }
}

Kernel Kernel::from_handle(CUkernel handle) {
    return Kernel(wrap(handle, nullptr));
}

Kernel Kernel::from_handle(CUkernel handle, const ObjectCode& owner) {
    return Kernel(wrap(handle, &owner));
}

KernelOccupancy Kernel::occupancy() const {
    [[maybe_unused]] const auto& checked = detail::open(state_, "Kernel");
    return KernelOccupancy(*this);
}

void Kernel::check_signature(std::span<const detail::ArgumentType> types) const {
    const detail::KernelState& kernel = detail::open(state_, "Kernel");
    if (!kernel.plan->has_value()) {
        return;
    }
    const std::vector<ParameterInfo>& plan = **kernel.plan;
    if (types.size() != plan.size()) {
        throw std::invalid_argument(
            "the signature has " + std::to_string(types.size()) + " parameters, but kernel \"" +
            detail::readable_name(kernel.name) + "\" takes " + std::to_string(plan.size()));
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
        const std::string parameter = "parameter " + std::to_string(i) + " of the signature ";
        if (types[i].size != plan[i].size) {
            throw std::invalid_argument(parameter + "has " + std::to_string(types[i].size) +
                                        " bytes, but kernel \"" +
                                        detail::readable_name(kernel.name) + "\" takes " +
                                        std::to_string(plan[i].size) + " there");
        }
        if (!detail::is_taken(types[i], plan[i])) {
            const bool is_integer = types[i].kind == detail::ArgumentType::Integer;
            throw std::invalid_argument(
                parameter + "is " + (is_integer ? "an integer" : "a floating-point number") +
                ", but kernel \"" + detail::readable_name(kernel.name) + "\" takes " +
                (plan[i].kind == ParameterKind::Float     ? "a floating-point number"
                 : plan[i].kind == ParameterKind::Pointer ? "a pointer"
                                                          : "an integer") +
                " there");
        }
    }
}

bool operator==(const Kernel& left, const Kernel& right) noexcept {
    if (left.state_ == nullptr || right.state_ == nullptr) {
        return left.state_ == right.state_;
    }
    return left.state_->handle == right.state_->handle;
}

std::string to_string(const Kernel& kernel) {
    if (kernel.is_closed()) {
        return "<Kernel closed>";
    }
    const detail::KernelState& state = *detail::Access::state(kernel);
    return "<Kernel " + detail::readable_name(state.name) +
           " handle=" + detail::hexadecimal(state.handle) + ">";
}

} // namespace cuprum

std::size_t std::hash<cuprum::Kernel>::operator()(const cuprum::Kernel& kernel) const noexcept {
    return std::hash<const void*>()(cuprum::detail::handle_or_null(kernel));
}

namespace cuprum {

namespace {

static_assert(static_cast<int>(KernelAttribute::ClusterSchedulingPolicyPreference) ==
              CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);

CUdevice handle_of(const Device& device) {
    return detail::devices()[static_cast<std::size_t>(device.ordinal())]->handle;
}

const char* name_of(KernelAttribute attribute) {
    switch (attribute) {
    case KernelAttribute::MaxDynamicSharedSizeBytes:
        return "max_dynamic_shared_size_bytes";
    case KernelAttribute::PreferredSharedMemoryCarveout:
        return "preferred_shared_memory_carveout";
    case KernelAttribute::RequiredClusterWidth:
        return "required_cluster_width";
    case KernelAttribute::RequiredClusterHeight:
        return "required_cluster_height";
    case KernelAttribute::RequiredClusterDepth:
        return "required_cluster_depth";
    case KernelAttribute::NonPortableClusterSizeAllowed:
        return "non_portable_cluster_size_allowed";
    case KernelAttribute::ClusterSchedulingPolicyPreference:
        return "cluster_scheduling_policy_preference";
    default:
        return "the attribute";
    }
}

/// Returns the values that an attribute can be set to, in words; empty if it cannot be set.
std::string settable_values(KernelAttribute attribute, const Kernel& kernel, const Device& device) {
    switch (attribute) {
    case KernelAttribute::MaxDynamicSharedSizeBytes: {
        const int limit = device.properties().max_shared_memory_per_block_optin();
        const int declared = kernel.attribute(KernelAttribute::SharedSizeBytes, device);
        return "0 to " + std::to_string(limit - declared) + ": what a block may have there, " +
               std::to_string(limit) + " bytes, less what the kernel declares";
    }
    case KernelAttribute::PreferredSharedMemoryCarveout:
        return "0 to 100 percent, or -1 for the driver's choice";
    case KernelAttribute::RequiredClusterWidth:
    case KernelAttribute::RequiredClusterHeight:
    case KernelAttribute::RequiredClusterDepth:
        return "at least 0, for a kernel that was compiled without a cluster size";
    case KernelAttribute::NonPortableClusterSizeAllowed:
        return "0 or 1";
    case KernelAttribute::ClusterSchedulingPolicyPreference:
        return "0 (default), 1 (spread) or 2 (load balancing)";
    default:
        return {};
    }
}

} // namespace

KernelAttributes Kernel::attributes(const Device& device) const {
    const auto get = [&](KernelAttribute name) { return attribute(name, device); };
    // Drivers before those with clusters do not know the attributes about them.
    const auto get_or = [&](KernelAttribute name, int fallback) {
        try {
            return attribute(name, device);
        } catch (const CUDAError& error) {
            if (error.code() != CUDA_ERROR_INVALID_VALUE) {
                throw;
            }
            return fallback;
        }
    };
    return {
        .max_threads_per_block = get(KernelAttribute::MaxThreadsPerBlock),
        .shared_size_bytes = get(KernelAttribute::SharedSizeBytes),
        .const_size_bytes = get(KernelAttribute::ConstSizeBytes),
        .local_size_bytes = get(KernelAttribute::LocalSizeBytes),
        .num_regs = get(KernelAttribute::NumRegs),
        .ptx_version = get(KernelAttribute::PtxVersion),
        .binary_version = get(KernelAttribute::BinaryVersion),
        .cache_mode_ca = get(KernelAttribute::CacheModeCa) != 0,
        .max_dynamic_shared_size_bytes = get(KernelAttribute::MaxDynamicSharedSizeBytes),
        .preferred_shared_memory_carveout = get(KernelAttribute::PreferredSharedMemoryCarveout),
        .cluster_size_must_be_set = get_or(KernelAttribute::ClusterSizeMustBeSet, 0) != 0,
        .required_cluster_width = get_or(KernelAttribute::RequiredClusterWidth, 0),
        .required_cluster_height = get_or(KernelAttribute::RequiredClusterHeight, 0),
        .required_cluster_depth = get_or(KernelAttribute::RequiredClusterDepth, 0),
        .non_portable_cluster_size_allowed =
            get_or(KernelAttribute::NonPortableClusterSizeAllowed, 0) != 0,
        .cluster_scheduling_policy_preference = static_cast<ClusterSchedulingPolicy>(
            get_or(KernelAttribute::ClusterSchedulingPolicyPreference, 0)),
    };
}

int Kernel::attribute(KernelAttribute attribute, const Device& device) const {
    int value = 0;
    driver::call(driver::table().cuKernelGetAttribute, &value,
                 static_cast<CUfunction_attribute>(attribute), handle(), handle_of(device));
    return value;
}

void Kernel::set_attribute(KernelAttribute attribute, int value, const Device& device) const {
    const detail::KernelState& kernel = detail::open(state_, "Kernel");
    const auto& set = driver::table().cuKernelSetAttribute;
    const CUresult status =
        set(static_cast<CUfunction_attribute>(attribute), value, kernel.handle, handle_of(device));
    kernel.forget_allowed();
    detail::forget_occupancy();
    if (status == CUDA_ERROR_INVALID_VALUE || status == CUDA_ERROR_NOT_SUPPORTED) {
        const std::string values = settable_values(attribute, *this, device);
        throw std::invalid_argument(
            std::string(name_of(attribute)) + " is " + std::to_string(value) + " for kernel \"" +
            name() + "\" on device " + std::to_string(device.ordinal()) +
            (values.empty() ? ", but it cannot be set" : "; expected " + values));
    }
    if (status != CUDA_SUCCESS) {
        driver::raise(status, set.name);
    }
}

void Kernel::set_max_dynamic_shared_size_bytes(const Device& device, int bytes) const {
    set_attribute(KernelAttribute::MaxDynamicSharedSizeBytes, bytes, device);
}

} // namespace cuprum
