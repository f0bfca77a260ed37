// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Where the devices are: all of them on one host bridge, near every processor that the process may
// use.

#include "library.hpp"
#include "row.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <sstream>

using namespace cuprum::nvml;

namespace {

constexpr nvmlGpuTopologyLevel_t LEVEL = NVML_TOPOLOGY_HOSTBRIDGE;
constexpr unsigned int BITS_PER_WORD = sizeof(unsigned long) * 8;

/// The processors that the process might use when NVML was loaded. Later changes are those that
/// nvmlDeviceClearCpuAffinity takes back.
const cpu_set_t& processors() {
    static const cpu_set_t set = [] {
        cpu_set_t mine;
        CPU_ZERO(&mine);
        if (::sched_getaffinity(0, sizeof mine, &mine) != 0) {
            CPU_SET(0, &mine);
        }
        return mine;
    }();
    return set;
}

/// Read the processors when the library is loaded.
[[maybe_unused]] const cpu_set_t& processors_at_start = processors();

/// Returns the nodes of a list such as "0-1,4"; node 0 if the system has no such list.
std::vector<unsigned int> memory_nodes() {
    std::ifstream file("/sys/devices/system/node/has_memory");
    std::string text;
    std::getline(file, text);
    std::vector<unsigned int> nodes;
    std::istringstream list(text);
    for (std::string part; std::getline(list, part, ',');) {
        unsigned int first = 0;
        unsigned int last = 0;
        const int count = std::sscanf(part.c_str(), "%u-%u", &first, &last);
        for (unsigned int node = first; count >= 1 && node <= (count == 2 ? last : first); ++node) {
            nodes.push_back(node);
        }
    }
    if (nodes.empty()) {
        nodes.push_back(0);
    }
    return nodes;
}

void set_bit(unsigned long* words, unsigned int size, unsigned int bit) {
    if (bit / BITS_PER_WORD < size) {
        words[bit / BITS_PER_WORD] |= 1UL << (bit % BITS_PER_WORD);
    }
}

void write_processors(unsigned int size, unsigned long* cpu_set) {
    require(size, cpu_set);
    std::fill_n(cpu_set, size, 0UL);
    for (unsigned int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(cpu, &processors())) {
            set_bit(cpu_set, size, cpu);
        }
    }
}

/// Writes handles; a count of 0 asks for their number.
void write_handles(const std::vector<nvmlDevice_t>& handles, unsigned int* count,
                   nvmlDevice_t* array) {
    require(count);
    require(array != nullptr || *count == 0);
    if (*count == 0) {
        *count = static_cast<unsigned int>(handles.size());
        return;
    }
    *count = std::min(*count, static_cast<unsigned int>(handles.size()));
    std::copy_n(handles.begin(), *count, array);
}

} // namespace

ROW(nvmlDeviceGetCpuAffinity, Index /*device*/, unsigned int cpu_set_size, unsigned long* cpu_set) {
    write_processors(cpu_set_size, cpu_set);
}

ROW(nvmlDeviceGetCpuAffinityWithinScope, Index /*device*/, unsigned int cpu_set_size,
    unsigned long* cpu_set, nvmlAffinityScope_t scope) {
    require(scope <= NVML_AFFINITY_SCOPE_SOCKET);
    write_processors(cpu_set_size, cpu_set);
}

ROW(nvmlDeviceSetCpuAffinity, Index /*device*/) {
    if (::sched_setaffinity(0, sizeof(cpu_set_t), &processors()) != 0) {
        fail(NVML_ERROR_OPERATING_SYSTEM);
    }
}

ALIAS(nvmlDeviceClearCpuAffinity, nvmlDeviceSetCpuAffinity);

ROW(nvmlDeviceGetMemoryAffinity, Index /*device*/, unsigned int node_set_size,
    unsigned long* node_set, nvmlAffinityScope_t scope) {
    require(node_set_size, scope <= NVML_AFFINITY_SCOPE_SOCKET, node_set);
    std::fill_n(node_set, node_set_size, 0UL);
    for (const unsigned int node : memory_nodes()) {
        set_bit(node_set, node_set_size, node);
    }
}

ROW(nvmlSystemGetTopologyGpuSet, const State& state, unsigned int cpu_number, unsigned int* count,
    nvmlDevice_t* device_array) {
    const long configured = ::sysconf(_SC_NPROCESSORS_CONF);
    require(cpu_number < CPU_SETSIZE, static_cast<long>(cpu_number) < configured);
    std::vector<nvmlDevice_t> near;
    if (CPU_ISSET(cpu_number, &processors())) {
        for (unsigned int index = 0; index < state.settings.device_count; ++index) {
            near.push_back(handle_of(index));
        }
    }
    write_handles(near, count, device_array);
}

ROW(nvmlDeviceGetTopologyCommonAncestor, const State& state, Index index, nvmlDevice_t device2,
    nvmlGpuTopologyLevel_t& path_info) {
    path_info = index_of(state, device2) == index ? NVML_TOPOLOGY_INTERNAL : LEVEL;
}

ROW(nvmlDeviceGetTopologyNearestGpus, const State& state, Index index, nvmlGpuTopologyLevel_t level,
    unsigned int* count, nvmlDevice_t* device_array) {
    constexpr nvmlGpuTopologyLevel_t levels[] = {NVML_TOPOLOGY_INTERNAL, NVML_TOPOLOGY_SINGLE,
                                                 NVML_TOPOLOGY_MULTIPLE, NVML_TOPOLOGY_HOSTBRIDGE,
                                                 NVML_TOPOLOGY_NODE,     NVML_TOPOLOGY_SYSTEM};
    require(std::ranges::find(levels, level) != std::end(levels));
    std::vector<nvmlDevice_t> near;
    for (unsigned int other = 0; other < state.settings.device_count; ++other) {
        if (other != index && level == LEVEL) {
            near.push_back(handle_of(other));
        }
    }
    write_handles(near, count, device_array);
}

ROW(nvmlDeviceGetP2PStatus, Index index, Index other, nvmlGpuP2PCapsIndex_t p2p_index,
    nvmlGpuP2PStatus_t& p2p_status) {
    require(p2p_index >= NVML_P2P_CAPS_INDEX_READ, p2p_index <= NVML_P2P_CAPS_INDEX_UNKNOWN,
            other != index);
    // NVIDIA's own tests ask for the unknown one: it is no error.
    p2p_status = p2p_index == NVML_P2P_CAPS_INDEX_NVLINK    ? NVML_P2P_STATUS_NOT_SUPPORTED
                 : p2p_index == NVML_P2P_CAPS_INDEX_UNKNOWN ? NVML_P2P_STATUS_UNKNOWN
                                                            : NVML_P2P_STATUS_OK;
}

ROW(nvmlDeviceOnSameBoard, const State& state, Index index, nvmlDevice_t device2,
    int& on_same_board) {
    on_same_board = index_of(state, device2) == index ? 1 : 0;
}
