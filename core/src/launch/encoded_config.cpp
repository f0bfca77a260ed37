// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "launch/encoded_config.hpp"

#include "driver/call.hpp"
#include "driver/handle.hpp"
#include "launch/launch_failure.hpp"
#include "stream/event_state.hpp"

#include <cuprum/error.hpp>

#include <cstdint>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

namespace cuprum::detail {

namespace {

// Of CUDA 13.1 and later; our cuda.h may be older.
constexpr int PORTABLE_CLUSTER_SIZE_MODE = 17;
constexpr int SHARED_MEMORY_MODE = 18;
constexpr int PORTABILITY_VERSION = 13010;

[[noreturn, gnu::cold]] void reject_extents(const char* field, const Dim3& extents) {
    throw std::invalid_argument(std::string("LaunchConfig ") + field + " is " + to_text(extents) +
                                "; expected at least 1 in every dimension");
}

void check_extents(const char* field, const Dim3& extents) {
    if (extents.x == 0 || extents.y == 0 || extents.z == 0) [[unlikely]] {
        reject_extents(field, extents);
    }
}

/// Appends an attribute and returns its value, all zero.
CUlaunchAttributeValue& add(EncodedConfig& encoded, int id) {
    CUlaunchAttribute& attribute = encoded.attributes[encoded.driver.numAttrs++];
    attribute = CUlaunchAttribute{};
    // NOLINTNEXTLINE(*EnumCastOutOfRange): a driver may know attributes that our cuda.h does not.
    attribute.id = static_cast<CUlaunchAttributeID>(id);
    return attribute.value;
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

void check_preferred_cluster(const LaunchConfig& config) {
    const Dim3& preferred = *config.preferred_cluster;
    check_extents("preferred_cluster", preferred);
    if (!config.cluster.has_value()) {
        throw std::invalid_argument("LaunchConfig preferred_cluster is " + to_text(preferred) +
                                    " without `cluster`, of which it must be a multiple");
    }
    const Dim3& cluster = *config.cluster;
    if (preferred.x % cluster.x != 0 || preferred.y % cluster.y != 0 || preferred.z != cluster.z) {
        throw std::invalid_argument("LaunchConfig preferred_cluster is " + to_text(preferred) +
                                    "; expected multiples of the cluster's x and y and the same "
                                    "z, which is " +
                                    to_text(cluster));
    }
    const Dim3& grid = config.grid;
    if ((std::uint64_t{grid.x} * cluster.x) % preferred.x != 0 ||
        (std::uint64_t{grid.y} * cluster.y) % preferred.y != 0) {
        throw std::invalid_argument("LaunchConfig preferred_cluster is " + to_text(preferred) +
                                    ", which does not divide the grid of " + to_text(grid) +
                                    " clusters of " + to_text(cluster) + " blocks");
    }
}

CUaccessPolicyWindow to_driver(const AccessPolicyWindow& window) {
    if (!(window.hit_ratio >= 0.0F && window.hit_ratio <= 1.0F)) {
        throw std::invalid_argument("LaunchConfig access_policy_window hit_ratio is " +
                                    std::to_string(window.hit_ratio) + "; expected 0 to 1");
    }
    if (window.miss == AccessProperty::Persisting) {
        throw std::invalid_argument("LaunchConfig access_policy_window miss is Persisting; "
                                    "expected Normal or Streaming");
    }
    CUaccessPolicyWindow driver{};
    driver.base_ptr = reinterpret_cast<void*>(static_cast<std::uintptr_t>(window.base));
    driver.num_bytes = window.bytes;
    driver.hitRatio = window.hit_ratio;
    driver.hitProp = static_cast<CUaccessProperty>(window.hit);
    driver.missProp = static_cast<CUaccessProperty>(window.miss);
    return driver;
}

CUevent without_timing(const Event& event, const char* field) {
    const EventState& state = open(event);
    // The driver does not report how an event made elsewhere was made, so it decides at the launch.
    if (state.is_owned && state.is_timing_enabled()) {
        throw std::invalid_argument(std::string("LaunchConfig ") + field +
                                    " is an event with timing; expected one made without");
    }
    return state.handle;
}

void check_portability(const char* field) {
    int version = 0;
    driver::call(driver::table().cuDriverGetVersion, &version);
    if (version < PORTABILITY_VERSION) {
        throw NotSupportedError(
            (std::string("cuLaunchKernelEx with LaunchConfig ") + field).c_str(),
            PORTABILITY_VERSION, version);
    }
}

static_assert(static_cast<int>(AccessProperty::Streaming) == CU_ACCESS_PROPERTY_STREAMING);
static_assert(static_cast<int>(AccessProperty::Persisting) == CU_ACCESS_PROPERTY_PERSISTING);
static_assert(static_cast<int>(MemorySyncDomain::Remote) == CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
static_assert(static_cast<int>(ClusterSchedulingPolicy::Spread) ==
              CU_CLUSTER_SCHEDULING_POLICY_SPREAD);
static_assert(static_cast<int>(ClusterSchedulingPolicy::LoadBalancing) ==
              CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING);

/// Refuses attributes that do not belong to launches, or that the driver writes to.
void check_raw(int id) {
    const char* reason = nullptr;
    switch (id) {
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
        reason = "CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, which streams have and launches do "
                 "not; use Stream set_synchronization_policy";
        break;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
        reason = "CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, which is not supported: it is "
                 "for nodes of graphs, and the driver writes the node's handle into it, where a "
                 "configuration is shared";
        break;
    default:
        return;
    }
    throw std::invalid_argument("LaunchConfig raw_attributes has " + std::to_string(id) + ", " +
                                reason);
}

void encode_more(const LaunchConfig& config, EncodedConfig& encoded) {
    if (config.priority.has_value()) {
        add(encoded, CU_LAUNCH_ATTRIBUTE_PRIORITY).priority = *config.priority;
    }
    if (config.preferred_cluster.has_value()) {
        check_preferred_cluster(config);
        const Dim3& preferred = *config.preferred_cluster;
        add(encoded, CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION).preferredClusterDim = {
            preferred.x, preferred.y, preferred.z};
    }
    if (config.cluster_scheduling_policy.has_value()) {
        add(encoded, CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE)
            .clusterSchedulingPolicyPreference =
            static_cast<CUclusterSchedulingPolicy>(*config.cluster_scheduling_policy);
    }
    if (config.shared_memory_carveout.has_value()) {
        if (*config.shared_memory_carveout > 100) {
            throw std::invalid_argument("LaunchConfig shared_memory_carveout is " +
                                        std::to_string(*config.shared_memory_carveout) +
                                        "; expected 0 to 100 percent");
        }
        add(encoded, CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT).sharedMemCarveout =
            *config.shared_memory_carveout;
    }
    if (config.access_policy_window.has_value()) {
        add(encoded, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW).accessPolicyWindow =
            to_driver(*config.access_policy_window);
    }
    if (config.memory_sync_domain.has_value()) {
        add(encoded, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN).memSyncDomain =
            static_cast<CUlaunchMemSyncDomain>(*config.memory_sync_domain);
    }
    if (config.memory_sync_domain_map.has_value()) {
        add(encoded, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP).memSyncDomainMap = {
            config.memory_sync_domain_map->default_domain,
            config.memory_sync_domain_map->remote_domain};
    }
    if (config.programmatic_event.has_value()) {
        add(encoded, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT).programmaticEvent = {
            without_timing(config.programmatic_event->event, "programmatic_event"), 0,
            config.programmatic_event->is_triggered_at_start ? 1 : 0};
    }
    if (config.launch_completion_event.has_value()) {
        add(encoded, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT).launchCompletionEvent = {
            without_timing(*config.launch_completion_event, "launch_completion_event"), 0};
    }
    if (config.nvlink_centric_scheduling) {
        add(encoded, CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING)
            .nvlinkUtilCentricScheduling = 1;
    }
    // The value is an enumeration of the same numbers as ours, at the start of the union.
    if (config.portable_cluster_mode.has_value()) {
        check_portability("portable_cluster_mode");
        add(encoded, PORTABLE_CLUSTER_SIZE_MODE).cooperative =
            static_cast<int>(*config.portable_cluster_mode);
    }
    if (config.shared_memory_mode.has_value()) {
        check_portability("shared_memory_mode");
        add(encoded, SHARED_MEMORY_MODE).cooperative = static_cast<int>(*config.shared_memory_mode);
    }
    for (const RawLaunchAttribute& raw : config.raw_attributes) {
        if (encoded.driver.numAttrs == EncodedConfig::MAX_ATTRIBUTES) {
            throw std::invalid_argument(
                "LaunchConfig raw_attributes has " + std::to_string(config.raw_attributes.size()) +
                " entries; expected at most " + std::to_string(EncodedConfig::MAX_ATTRIBUTES) +
                " attributes in all");
        }
        static_assert(sizeof(raw.value) == sizeof(CUlaunchAttributeValue));
        check_raw(raw.id);
        std::memcpy(&add(encoded, raw.id), raw.value.data(), raw.value.size());
    }
}

} // namespace

void encode(const LaunchConfig& config, CUlaunchConfig& encoded,
            std::vector<CUlaunchAttribute>& attributes) {
    const EncodedConfig made(config);
    encoded = made.driver;
    attributes.assign(made.attributes, made.attributes + made.driver.numAttrs);
    encoded.attrs = attributes.empty() ? nullptr : attributes.data();
}

[[gnu::hot]] EncodedConfig::EncodedConfig(const LaunchConfig& config) { // NOLINT(*-member-init)
    check_shape(config);
    driver.gridDimX = config.grid.x;
    driver.gridDimY = config.grid.y;
    driver.gridDimZ = config.grid.z;
    driver.blockDimX = config.block.x;
    driver.blockDimY = config.block.y;
    driver.blockDimZ = config.block.z;
    driver.sharedMemBytes = static_cast<unsigned>(config.shmem_size);
    if (config.cluster.has_value()) {
        const Dim3& cluster = *config.cluster;
        check_extents("cluster", cluster);
        driver.gridDimX = blocks("x", config.grid.x, cluster.x);
        driver.gridDimY = blocks("y", config.grid.y, cluster.y);
        driver.gridDimZ = blocks("z", config.grid.z, cluster.z);
        add(*this, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim = {cluster.x, cluster.y,
                                                                        cluster.z};
    }
    if (config.is_cooperative) {
        add(*this, CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative = 1;
    }
    if (config.programmatic_stream_serialization) {
        add(*this, CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
            .programmaticStreamSerializationAllowed = 1;
    }
    if (has_rare_fields(config)) [[unlikely]] {
        encode_more(config, *this);
    }
}

void refuse_shape(const LaunchConfig& config) {
    check_extents("grid", config.grid);
    check_extents("block", config.block);
    throw std::invalid_argument("LaunchConfig shmem_size is " + std::to_string(config.shmem_size) +
                                " bytes; expected less than 4 GiB");
}

} // namespace cuprum::detail
