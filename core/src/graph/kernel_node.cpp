// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "driver/call.hpp"
#include "graph/graph_state.hpp"
#include "graph/node_parameters.hpp"
#include "launch/launch_failure.hpp"
#include "program/kernel_state.hpp"

#include <cuprum/context.hpp>
#include <cuprum/error.hpp>
#include <cuprum/graph/graph_node.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

namespace cuprum {

namespace {

using detail::Access;
using detail::GraphState;
using detail::NodeState;
using driver::table;

using Value = CUlaunchAttributeValue;

/// A launch attribute that nodes have.
struct NodeAttribute {
    CUlaunchAttributeID id;
    bool (*is_default)(const Value& value); // what a new node has
    void (*decode)(const Value& value, LaunchConfig& config);
    Value initial = {};
};

constexpr unsigned DEFAULT_CARVEOUT = 0xffffffff; // the driver's choice

bool has_no_cluster(const Value& value) {
    return value.clusterDim.x <= 1 && value.clusterDim.y <= 1 && value.clusterDim.z <= 1;
}

Dim3 cluster_of(const Value& value) {
    return {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
}

void decode_window(const Value& value, LaunchConfig& config) {
    const CUaccessPolicyWindow& window = value.accessPolicyWindow;
    config.access_policy_window.emplace();
    config.access_policy_window->base = reinterpret_cast<std::uintptr_t>(window.base_ptr);
    config.access_policy_window->bytes = window.num_bytes;
    config.access_policy_window->hit_ratio = window.hitRatio;
    config.access_policy_window->hit = static_cast<AccessProperty>(window.hitProp);
    config.access_policy_window->miss = static_cast<AccessProperty>(window.missProp);
}

/// All of them. A driver may not know the later ones.
constexpr NodeAttribute NODE_ATTRIBUTES[] = {
    {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
     [](const Value& value) { return value.accessPolicyWindow.num_bytes == 0; }, decode_window},
    {CU_LAUNCH_ATTRIBUTE_COOPERATIVE, [](const Value& value) { return value.cooperative == 0; },
     [](const Value&, LaunchConfig& config) { config.is_cooperative = true; }},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
     has_no_cluster,
     [](const Value& value, LaunchConfig& config) { config.cluster = cluster_of(value); },
     {.clusterDim = {1, 1, 1}}},
    {CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
     [](const Value& value) {
         return value.clusterSchedulingPolicyPreference == CU_CLUSTER_SCHEDULING_POLICY_DEFAULT;
     },
     [](const Value& value, LaunchConfig& config) {
         config.cluster_scheduling_policy =
             static_cast<ClusterSchedulingPolicy>(value.clusterSchedulingPolicyPreference);
     }},
    {CU_LAUNCH_ATTRIBUTE_PRIORITY, [](const Value& value) { return value.priority == 0; },
     [](const Value& value, LaunchConfig& config) { config.priority = value.priority; }},
    {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
     [](const Value& value) {
         return value.memSyncDomainMap.default_ == 0 && value.memSyncDomainMap.remote <= 1;
     },
     [](const Value& value, LaunchConfig& config) {
         config.memory_sync_domain_map.emplace();
         config.memory_sync_domain_map->default_domain = value.memSyncDomainMap.default_;
         config.memory_sync_domain_map->remote_domain = value.memSyncDomainMap.remote;
     },
     {.memSyncDomainMap = {0, 1}}},
    {CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN,
     [](const Value& value) { return value.memSyncDomain == CU_LAUNCH_MEM_SYNC_DOMAIN_DEFAULT; },
     [](const Value& value, LaunchConfig& config) {
         config.memory_sync_domain = static_cast<MemorySyncDomain>(value.memSyncDomain);
     }},
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
     has_no_cluster,
     [](const Value& value, LaunchConfig& config) { config.preferred_cluster = cluster_of(value); },
     {.clusterDim = {1, 1, 1}}},
    {CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
     [](const Value& value) {
         return value.sharedMemCarveout == DEFAULT_CARVEOUT || value.sharedMemCarveout == 0;
     },
     [](const Value& value, LaunchConfig& config) {
         config.shared_memory_carveout = value.sharedMemCarveout;
     },
     {.sharedMemCarveout = DEFAULT_CARVEOUT}},
    {CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING,
     [](const Value& value) { return value.nvlinkUtilCentricScheduling == 0; },
     [](const Value&, LaunchConfig& config) { config.nvlink_centric_scheduling = true; }},
};

CUDA_KERNEL_NODE_PARAMS read_kernel(const NodeState& node) {
    CUDA_KERNEL_NODE_PARAMS parameters{};
    driver::call(table().cuGraphKernelNodeGetParams, node.handle, &parameters);
    return parameters;
}

Kernel kernel_of(const NodeState& node, const CUDA_KERNEL_NODE_PARAMS& parameters) {
    // The driver takes a kernel for a function and may report it as one.
    const CUkernel handle =
        parameters.kern != nullptr ? parameters.kern : reinterpret_cast<CUkernel>(parameters.func);
    if (node.payload) {
        auto kept = std::static_pointer_cast<detail::KernelState>(node.payload->owners()[0]);
        if (parameters.kern == nullptr || kept->handle == handle) {
            return Access::make<Kernel>(std::move(kept));
        }
    }
    return Kernel::from_handle(handle);
}

/// An attribute of a node, with how it is read.
struct SetAttribute {
    const NodeAttribute* kind;
    Value value;
};

/// Returns the attributes of a node that differ from what a new node has.
std::vector<SetAttribute> set_attributes_of(CUgraphNode node) {
    std::vector<SetAttribute> attributes;
    for (const NodeAttribute& kind : NODE_ATTRIBUTES) {
        const auto value = detail::node_attribute(node, kind.id);
        if (value.has_value() && !kind.is_default(*value)) {
            attributes.push_back({&kind, *value});
        }
    }
    return attributes;
}

/// Returns what gives a node exactly the `wanted` attributes if it has `present`.
std::vector<CUlaunchAttribute> changes(std::span<const SetAttribute> present,
                                       std::span<const CUlaunchAttribute> wanted) {
    std::vector<CUlaunchAttribute> made;
    for (const SetAttribute& each : present) {
        if (std::ranges::find(wanted, each.kind->id, &CUlaunchAttribute::id) == wanted.end()) {
            CUlaunchAttribute reset{};
            reset.id = each.kind->id;
            reset.value = each.kind->initial;
            made.push_back(reset);
        }
    }
    made.insert(made.end(), wanted.begin(), wanted.end());
    return made;
}

} // namespace

Dim3 KernelNode::grid() const {
    const auto parameters = read_kernel(detail::open(*this, CLASS_NAME));
    return {parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ};
}

Dim3 KernelNode::block() const {
    const auto parameters = read_kernel(detail::open(*this, CLASS_NAME));
    return {parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ};
}

std::size_t KernelNode::shmem_size() const {
    return read_kernel(detail::open(*this, CLASS_NAME)).sharedMemBytes;
}

Kernel KernelNode::kernel() const {
    const NodeState& state = detail::open(*this, CLASS_NAME);
    return kernel_of(state, read_kernel(state));
}

LaunchConfig KernelNode::config() const {
    const NodeState& state = detail::open(*this, CLASS_NAME);
    const auto parameters = read_kernel(state);
    LaunchConfig config;
    config.grid = {parameters.gridDimX, parameters.gridDimY, parameters.gridDimZ};
    config.block = {parameters.blockDimX, parameters.blockDimY, parameters.blockDimZ};
    config.shmem_size = parameters.sharedMemBytes;
    if (state.may_have_attributes) {
        for (const SetAttribute& attribute : set_attributes_of(state.handle)) {
            attribute.kind->decode(attribute.value, config);
        }
    }
    if (config.cluster.has_value()) { // the driver counts blocks, a configuration clusters
        config.grid = {config.grid.x / config.cluster->x, config.grid.y / config.cluster->y,
                       config.grid.z / config.cluster->z};
    }
    return config;
}

std::vector<std::byte> KernelNode::argument_bytes(std::size_t index) const {
    const auto parameters = kernel().parameters();
    std::vector<std::byte> bytes(index < parameters.size() ? parameters[index].size : 0);
    copy_argument(index, bytes.data(), bytes.size());
    return bytes;
}

void KernelNode::copy_argument(std::size_t index, void* value, std::size_t size) const {
    const NodeState& state = detail::open(*this, CLASS_NAME);
    const auto parameters = read_kernel(state);
    const Kernel kernel = kernel_of(state, parameters);
    const auto plan = kernel.parameters();
    if (index >= plan.size()) {
        throw std::out_of_range("index is " + std::to_string(index) + ", but kernel \"" +
                                kernel.name() + "\" has " + std::to_string(plan.size()) +
                                " parameters");
    }
    if (size != plan[index].size) {
        throw std::invalid_argument("argument " + std::to_string(index) + " of kernel \"" +
                                    kernel.name() + "\" has " + std::to_string(plan[index].size) +
                                    " bytes, the type asked for has " + std::to_string(size));
    }
    if (parameters.kernelParams == nullptr) {
        throw std::logic_error("the driver does not report the arguments of " +
                               detail::describe(state));
    }
    std::memcpy(value, parameters.kernelParams[index], size);
}

void KernelNode::update(const LaunchConfig& config) const {
    update_with(&config, nullptr, nullptr);
}

void KernelNode::update_with(const LaunchConfig* config, const Kernel* kernel,
                             const detail::NodeArguments* arguments) const {
    NodeState& state = detail::open(*this, CLASS_NAME);
    GraphState& graph = detail::open(state_);
    if (kernel != nullptr && arguments == nullptr) {
        throw std::invalid_argument("kernel is \"" + kernel->name() +
                                    "\", but there are no arguments for it; pass them, none for a "
                                    "kernel without parameters");
    }
    const CUDA_KERNEL_NODE_PARAMS old = read_kernel(state);
    const Kernel launched = kernel != nullptr ? *kernel : kernel_of(state, old);
    const LaunchConfig wanted = config != nullptr ? *config : this->config();

    // Copied: the driver's own copy of the arguments may go when it takes new ones.
    std::optional<detail::OwnedArguments> kept;
    detail::NodeArguments old_arguments{.is_packed = true};
    if (arguments == nullptr || config != nullptr) {
        const Kernel before = kernel_of(state, old);
        if (before.is_plan_known() && old.kernelParams != nullptr) {
            kept.emplace(before.parameters(), old.kernelParams);
            old_arguments.addresses = kept->addresses();
        } else {
            old_arguments.addresses = old.kernelParams;
        }
    }
    const detail::NodeArguments& passed = arguments != nullptr ? *arguments : old_arguments;
    detail::PreparedKernel prepared(wanted, launched, passed);
    const CUcontext context = old.ctx != nullptr
                                  ? old.ctx
                                  : detail::context_for_node(graph, detail::first_buffer(passed));
    const CUDA_KERNEL_NODE_PARAMS& parameters = prepared.in(context);

    const bool is_payload_new = arguments != nullptr || kernel != nullptr;
    detail::PayloadShare payload =
        is_payload_new ? detail::kernel_payload(Access::state(launched), passed) : nullptr;
    detail::keep_if_exposed(graph, payload);
    const auto& set = table().cuGraphKernelNodeSetParams;
    if (const CUresult status = set(state.handle, &parameters); status != CUDA_SUCCESS) {
        detail::raise_launch_failure(status, set.name, wanted, launched,
                                     Context::from_handle(context));
    }
    if (config != nullptr && (state.may_have_attributes || !prepared.attributes().empty())) {
        try {
            const auto present = set_attributes_of(state.handle);
            detail::set_node_attributes(state.handle, changes(present, prepared.attributes()));
            state.may_have_attributes = true;
        } catch (...) {
            CUDA_KERNEL_NODE_PARAMS restored = old;
            restored.kernelParams = const_cast<void**>(old_arguments.addresses);
            driver::release_now("earlier parameters of a kernel node", set, state.handle,
                                &restored);
            throw;
        }
    }
    if (is_payload_new) {
        detail::exchange_payload(state, std::move(payload));
    }
}

RawLaunchAttribute KernelNode::attribute(int id) const {
    const NodeState& state = detail::open(*this, CLASS_NAME);
    RawLaunchAttribute attribute;
    attribute.id = id;
    CUlaunchAttributeValue value{};
    // NOLINTNEXTLINE(*EnumCastOutOfRange): a driver may know attributes that our cuda.h does not
    driver::call(table().cuGraphKernelNodeGetAttribute, state.handle,
                 static_cast<CUkernelNodeAttrID>(id), &value);
    static_assert(sizeof(value) == sizeof(attribute.value));
    std::memcpy(attribute.value.data(), &value, sizeof(value));
    return attribute;
}

void KernelNode::set_attribute(const RawLaunchAttribute& attribute) const {
    NodeState& state = detail::open(*this, CLASS_NAME);
    CUlaunchAttribute driver{};
    // NOLINTNEXTLINE(*EnumCastOutOfRange): as above
    driver.id = static_cast<CUlaunchAttributeID>(attribute.id);
    std::memcpy(&driver.value, attribute.value.data(), attribute.value.size());
    detail::set_node_attributes(state.handle, {&driver, 1});
    state.may_have_attributes = true;
}

void KernelNode::copy_attributes_from(const KernelNode& other) const {
    NodeState& state = detail::open(*this, CLASS_NAME);
    const NodeState& source = detail::open(other, CLASS_NAME);
    driver::call(table().cuGraphKernelNodeCopyAttributes, state.handle, source.handle);
    state.may_have_attributes = true;
}

} // namespace cuprum
