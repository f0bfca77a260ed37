// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Calls libcudart.so.12 as a program of CUDA 12 does. The functions that CUDA 13 changed have the
// parameters of CUDA 12 here, and structures have the sizes of CUDA 12.

#include "by_name.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace {

constexpr int SUCCESS = 0;
constexpr int INVALID_VALUE = 1;
constexpr int NOT_SUPPORTED = 801;
constexpr int CPU_DEVICE = -1;
constexpr int READ_MOSTLY = 1;
constexpr std::byte UNTOUCHED{0xA5};

struct Dimensions {
    unsigned int x = 1;
    unsigned int y = 1;
    unsigned int z = 1;
};

template <typename... Arguments>
int call(const char* name, Arguments... arguments) {
    return by_name::call<int>(name, "libcudart.so.12", arguments...);
}

/// Memory for a structure of CUDA 12, with bytes behind it that must stay.
template <std::size_t Bytes>
struct Guarded {
    Guarded() { behind.fill(UNTOUCHED); }

    template <typename Value>
    Value read(std::size_t offset) const {
        Value value{};
        std::memcpy(&value, memory.data() + offset, sizeof value);
        return value;
    }

    [[nodiscard]] bool is_whole() const {
        return std::ranges::all_of(behind, [](std::byte each) { return each == UNTOUCHED; });
    }

    void* get() { return memory.data(); }

    alignas(8) std::array<std::byte, Bytes> memory{};
    std::array<std::byte, 256> behind{};
};

void versions_are_of_12() {
    int version = 0;
    EXPECT(call("cudaRuntimeGetVersion", &version) == SUCCESS);
    EXPECT(version == 12090);
    // The driver's functions are those of CUDA 12 too: cuMemAdvise takes a device, not a place.
    using Advise = int (*)(std::uint64_t, std::size_t, int, int);
    void* advise = nullptr;
    int found = -1;
    EXPECT(call("cudaGetDriverEntryPoint", "cuMemAdvise", &advise, 0ULL, &found) == SUCCESS);
    void* memory = nullptr;
    EXPECT(call("cudaMallocManaged", &memory, std::size_t{4096}, 1U) == SUCCESS);
    const auto address = reinterpret_cast<std::uint64_t>(memory);
    EXPECT(reinterpret_cast<Advise>(advise)(address, 4096, READ_MOSTLY, 0) == SUCCESS);
    EXPECT(call("cudaFree", memory) == SUCCESS);
}

void the_structure_of_properties_is_shorter() {
    Guarded<1032> properties;
    EXPECT(call("cudaGetDeviceProperties_v2", properties.get(), 0) == SUCCESS);
    EXPECT(properties.is_whole());
    EXPECT(std::strcmp(reinterpret_cast<const char*>(properties.get()), "") != 0);
    EXPECT(properties.read<int>(308) == 32); // warpSize
    int clock = 0;
    EXPECT(call("cudaDeviceGetAttribute", &clock, 13, 0) == SUCCESS);
    EXPECT(clock > 0 && properties.read<int>(348) == clock); // clockRate
    int major = 0;
    EXPECT(call("cudaDeviceGetAttribute", &major, 75, 0) == SUCCESS);
    EXPECT(properties.read<int>(360) == major);
    EXPECT(properties.read<int>(576) == 1); // concurrentKernels
    EXPECT(properties.read<int>(688) == 1); // cooperativeLaunch
    EXPECT(call("cudaGetDeviceProperties_v2", static_cast<void*>(nullptr), 0) == INVALID_VALUE);
    int chosen = -1;
    EXPECT(call("cudaChooseDevice", &chosen, properties.get()) == SUCCESS && chosen == 0);
    // The structure of CUDA 11 had the plain name.
    EXPECT(call("cudaGetDeviceProperties", properties.get(), 0) == NOT_SUPPORTED);
    EXPECT(call("cudaGetLastError") == NOT_SUPPORTED);
}

void the_structure_of_pointers_is_shorter() {
    void* memory = nullptr;
    EXPECT(call("cudaMalloc", &memory, std::size_t{64}) == SUCCESS);
    Guarded<24> attributes;
    EXPECT(call("cudaPointerGetAttributes", attributes.get(), memory) == SUCCESS);
    EXPECT(attributes.is_whole());
    EXPECT(attributes.read<int>(0) == 2); // device memory
    EXPECT(attributes.read<void*>(8) == memory);
    EXPECT(call("cudaPointerGetAttributes", static_cast<void*>(nullptr), memory) == INVALID_VALUE);
    EXPECT(call("cudaGetLastError") == INVALID_VALUE);
    EXPECT(call("cudaFree", memory) == SUCCESS);
}

void the_structures_of_textures_are_shorter() {
    void* memory = nullptr;
    EXPECT(call("cudaMalloc", &memory, std::size_t{1024}) == SUCCESS);
    constexpr int linear = 2;
    constexpr std::size_t bytes = 1024;
    constexpr std::array<int, 5> format{32, 0, 0, 0, 2}; // one float
    Guarded<64> resource;
    resource.behind.fill(std::byte{0xFF}); // nothing of it may be read
    std::memcpy(resource.memory.data(), &linear, sizeof linear);
    std::memcpy(resource.memory.data() + 8, &memory, sizeof memory);
    std::memcpy(resource.memory.data() + 16, format.data(), sizeof format);
    std::memcpy(resource.memory.data() + 40, &bytes, sizeof bytes);
    alignas(8) std::array<std::byte, 128> sampler{};
    std::uint64_t texture = 0;
    EXPECT(call("cudaCreateTextureObject", &texture, resource.get(), sampler.data(),
                static_cast<void*>(nullptr)) == SUCCESS);
    Guarded<64> found;
    EXPECT(call("cudaGetTextureObjectResourceDesc", found.get(), texture) == SUCCESS);
    EXPECT(found.is_whole());
    EXPECT(found.read<int>(0) == linear && found.read<void*>(8) == memory);
    EXPECT(call("cudaDestroyTextureObject", texture) == SUCCESS);
    EXPECT(call("cudaFree", memory) == SUCCESS);
}

void managed_memory_is_moved_by_device_numbers() {
    int* memory = nullptr;
    constexpr std::size_t bytes = 4096;
    EXPECT(call("cudaMallocManaged", &memory, bytes, 1U) == SUCCESS);
    void* const stream = nullptr;
    EXPECT(call("cudaMemAdvise", memory, bytes, READ_MOSTLY, 0) == SUCCESS);
    EXPECT(call("cudaMemPrefetchAsync", memory, bytes, 0, stream) == SUCCESS);
    EXPECT(call("cudaThreadSynchronize") == SUCCESS);
    int device = -2;
    constexpr int last_location = 4;
    EXPECT(call("cudaMemRangeGetAttribute", &device, sizeof device, last_location, memory, bytes) ==
           SUCCESS);
    EXPECT(device == 0);
    EXPECT(call("cudaMemPrefetchAsync_ptsz", memory, bytes, CPU_DEVICE, stream) == SUCCESS);
    EXPECT(call("cudaDeviceSynchronize") == SUCCESS);
    EXPECT(call("cudaMemRangeGetAttribute", &device, sizeof device, last_location, memory, bytes) ==
           SUCCESS);
    EXPECT(device == CPU_DEVICE);
    EXPECT(call("cudaFree", memory) == SUCCESS);
}

void kernels_run_and_graphs_have_plain_edges() {
    int* value = nullptr;
    EXPECT(call("cudaMallocManaged", &value, sizeof(int), 1U) == SUCCESS);
    *value = 1;
    void* code = nullptr;
    void* kernel = nullptr;
    void* const none = nullptr;
    EXPECT(call("cudaLibraryLoadData", &code, by_name::ADD_FIVE, none, none, 0U, none, none, 0U) ==
           SUCCESS);
    EXPECT(call("cudaLibraryGetKernel", &kernel, code, "add_five") == SUCCESS);
    std::array<void*, 1> arguments{&value};
    const Dimensions one;
    void* stream = nullptr;
    EXPECT(call("cudaStreamCreate", &stream) == SUCCESS);
    const auto launch = [&] {
        return call("cudaLaunchKernel", kernel, one, one, arguments.data(), std::size_t{0}, stream);
    };
    EXPECT(call("cudaStreamBeginCapture", stream, 2) == SUCCESS);
    EXPECT(launch() == SUCCESS && launch() == SUCCESS);
    int status = 0;
    unsigned long long id = 0;
    EXPECT(call("cudaStreamGetCaptureInfo", stream, &status, &id) == SUCCESS && status == 1);
    void* graph = nullptr;
    std::size_t count = 0;
    EXPECT(call("cudaStreamGetCaptureInfo_v2", stream, &status, &id, &graph, none, &count) ==
           SUCCESS);
    EXPECT(count == 1);
    EXPECT(call("cudaStreamEndCapture", stream, &graph) == SUCCESS);
    std::array<void*, 2> from{};
    std::array<void*, 2> to{};
    count = 2;
    EXPECT(call("cudaGraphGetEdges", graph, from.data(), to.data(), &count) == SUCCESS);
    EXPECT(count == 1);
    EXPECT(call("cudaGraphRemoveDependencies", graph, from.data(), to.data(), count) == SUCCESS);
    EXPECT(call("cudaGraphAddDependencies", graph, from.data(), to.data(), count) == SUCCESS);
    void* before = nullptr;
    EXPECT(call("cudaGraphNodeGetDependencies", to[0], &before, &count) == SUCCESS);
    EXPECT(count == 1 && before == from[0]);
    void* ready = nullptr;
    EXPECT(call("cudaGraphInstantiate", &ready, graph, 0ULL) == SUCCESS);
    EXPECT(call("cudaGraphLaunch", ready, stream) == SUCCESS);
    EXPECT(call("cudaStreamSynchronize", stream) == SUCCESS);
    EXPECT(*value == 11);
    EXPECT(call("cudaGraphExecDestroy", ready) == SUCCESS);
    EXPECT(call("cudaGraphDestroy", graph) == SUCCESS);
    EXPECT(call("cudaStreamDestroy", stream) == SUCCESS);
    EXPECT(call("cudaLibraryUnload", code) == SUCCESS);
    EXPECT(call("cudaFree", value) == SUCCESS);
}

void what_was_removed_is_refused_by_name() {
    EXPECT(call("cudaLaunchCooperativeKernelMultiDevice", static_cast<void*>(nullptr), 1U, 0U) ==
           NOT_SUPPORTED);
    EXPECT(call("cudaGetLastError") == NOT_SUPPORTED);
    EXPECT(::dlsym(by_name::library, "cudaLogsCurrent") == nullptr); // new in CUDA 13
}

} // namespace

int main(int, char** arguments) {
    by_name::open(arguments[1]);
    versions_are_of_12();
    the_structure_of_properties_is_shorter();
    the_structure_of_pointers_is_shorter();
    the_structures_of_textures_are_shorter();
    managed_memory_is_moved_by_device_numbers();
    kernels_run_and_graphs_have_plain_edges();
    what_was_removed_is_refused_by_name();
    return 0;
}
