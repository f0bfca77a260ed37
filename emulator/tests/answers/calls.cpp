// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Flags, enumerations and device ordinals that mean nothing, and what a capture takes.

#include "answers.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace answers {

namespace {

constexpr const char* MODULE = R"(.version 7.8
.target sm_90
.address_size 64
.visible .entry nothing(.param .u64 number)
{
    ret;
}
)";

std::string with(const std::string& name, long long value) {
    return name + " " + std::to_string(value);
}

CUfunction load(const char* name = "nothing", const char* text = MODULE) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    if (cuModuleLoadData(&module, text) != CUDA_SUCCESS ||
        cuModuleGetFunction(&function, module, name) != CUDA_SUCCESS) {
        say("(load)", CUDA_ERROR_UNKNOWN);
    }
    return function;
}

CUdeviceptr allocate(std::size_t bytes) {
    CUdeviceptr memory = 0;
    if (cuMemAlloc(&memory, bytes) != CUDA_SUCCESS) {
        say("(allocate)", CUDA_ERROR_UNKNOWN);
    }
    return memory;
}

void ask_context_flags() {
    cuInit(0);
    CUdevice device = 0;
    cuDeviceGet(&device, 0);
    for (const unsigned flags : {0U, 1U, 2U, 3U, 4U, 5U, 6U, 7U, 8U, 16U, 32U, 64U, 128U, 256U}) {
        CUcontext context = nullptr;
        if (say(with("cuCtxCreate", flags), cuCtxCreate(&context, nullptr, flags, device)) ==
            CUDA_SUCCESS) {
            cuCtxDestroy(context);
        }
        say(with("cuDevicePrimaryCtxSetFlags", flags), cuDevicePrimaryCtxSetFlags(device, flags));
    }
    begin();
    for (const unsigned flags : {0U, 3U, 4U, 7U, 8U, 16U, 256U}) {
        say(with("cuCtxSetFlags", flags), cuCtxSetFlags(flags));
    }
    say("another device", cuDevicePrimaryCtxSetFlags(99, 0));
}

void ask_configurations() {
    begin();
    CUfunction function = load();
    CUlibrary library = nullptr;
    CUkernel kernel = nullptr;
    cuLibraryLoadData(&library, MODULE, nullptr, nullptr, 0, nullptr, nullptr, 0);
    cuLibraryGetKernel(&kernel, library, "nothing");
    for (const int value : {-1, 0, 1, 2, 3, 4, 77}) {
        const auto cache = static_cast<CUfunc_cache>(value);
        const auto banks = static_cast<CUsharedconfig>(value);
        say(with("cuFuncSetCacheConfig", value), cuFuncSetCacheConfig(function, cache));
        say(with("cuKernelSetCacheConfig", value), cuKernelSetCacheConfig(kernel, cache, 0));
        say(with("cuCtxSetCacheConfig", value), cuCtxSetCacheConfig(cache));
        say(with("cuFuncSetSharedMemConfig", value), cuFuncSetSharedMemConfig(function, banks));
        say(with("cuCtxSetSharedMemConfig", value), cuCtxSetSharedMemConfig(banks));
        for (const auto attribute : {CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
                                     CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT}) {
            say(with(with("attribute", attribute), value),
                cuFuncSetAttribute(function, attribute, value));
        }
    }
    say("cuKernelSetCacheConfig of another device",
        cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_NONE, 99));
}

/// Asks what a call does to a stream that captures, and to its capture.
void ask_capturing(const std::string& name, CUstream stream,
                   const std::function<CUresult()>& call) {
    cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
    say(name, call());
    CUstreamCaptureStatus status{};
    cuStreamIsCapturing(stream, &status);
    CUgraph graph = nullptr;
    std::size_t nodes = 0;
    const CUresult ended = cuStreamEndCapture(stream, &graph);
    if (graph != nullptr) {
        cuGraphGetNodes(graph, nullptr, &nodes);
        cuGraphDestroy(graph);
    }
    say("  end", ended, list(static_cast<int>(status), nodes));
}

// NVIDIA's driver crashes on some of these, so each has a process of its own.
void ask_attachments() {
    begin();
    CUstream stream = nullptr;
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    CUdeviceptr managed = 0;
    cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL);
    for (const unsigned flags : {1U, 2U, 4U, 3U, 77U, 0U}) {
        say(with("attach", flags), cuStreamAttachMemAsync(stream, managed, 0, flags));
    }
}

void ask_attachment_of_a_part() {
    begin();
    CUdeviceptr managed = 0;
    cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL);
    say("attach to no stream", cuStreamAttachMemAsync(nullptr, managed, 0, CU_MEM_ATTACH_GLOBAL));
    say("attach a part", cuStreamAttachMemAsync(nullptr, managed, 64, CU_MEM_ATTACH_GLOBAL));
}

void ask_attachment_of_device_memory() {
    begin();
    say("attach", cuStreamAttachMemAsync(nullptr, allocate(4096), 0, CU_MEM_ATTACH_GLOBAL));
}

void ask_attachment_in_a_capture() {
    begin();
    CUstream stream = nullptr;
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    CUdeviceptr managed = 0;
    cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL);
    ask_capturing("attach", stream,
                  [&] { return cuStreamAttachMemAsync(stream, managed, 0, CU_MEM_ATTACH_SINGLE); });
}

void ask_captures() {
    begin();
    CUstream stream = nullptr;
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    CUdeviceptr managed = 0;
    cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL);
    const CUdeviceptr memory = allocate(4096);
    void* pinned = nullptr;
    cuMemAllocHost(&pinned, 4096);
    char local[64] = {};
    const CUmemLocation place{CU_MEM_LOCATION_TYPE_DEVICE, 0};
    ask_capturing("prefetch", stream,
                  [&] { return cuMemPrefetchAsync(managed, 4096, place, 0, stream); });
    ask_capturing("advice", stream,
                  [&] { return cuMemAdvise(managed, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, place); });
    CUdeviceptr ranges[] = {managed};
    std::size_t sizes[] = {4096};
    std::size_t first[] = {0};
    CUmemLocation places[] = {place};
    ask_capturing("prefetch batch", stream, [&] {
        return cuMemPrefetchBatchAsync(ranges, sizes, 1, places, first, 1, 0, stream);
    });
    ask_capturing("discard batch", stream,
                  [&] { return cuMemDiscardBatchAsync(ranges, sizes, 1, 0, stream); });
    CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    CUdeviceptr targets[] = {memory};
    ask_capturing("copy batch", stream, [&] {
        return cuMemcpyBatchAsync(targets, ranges, sizes, 1, &attributes, first, 1, stream);
    });
    ask_capturing("nothing to copy", stream,
                  [&] { return cuMemcpyAsync(memory, memory + 64, 0, stream); });
    ask_capturing("nothing to fill", stream, [&] { return cuMemsetD8Async(memory, 0, 0, stream); });
    ask_capturing("pinned to pinned", stream, [&] {
        const auto address = reinterpret_cast<CUdeviceptr>(pinned);
        return cuMemcpyAsync(address, address + 64, 64, stream);
    });
    ask_capturing("pageable to pageable", stream, [&] {
        const auto address = reinterpret_cast<CUdeviceptr>(local);
        return cuMemcpyAsync(address, address + 32, 32, stream);
    });
    ask_capturing("to pageable", stream,
                  [&] { return cuMemcpyDtoHAsync(local, memory, 64, stream); });
    ask_capturing("from pageable", stream,
                  [&] { return cuMemcpyHtoDAsync(memory, local, 64, stream); });
    ask_capturing("no memory", stream, [&] {
        CUdeviceptr out = 0;
        return cuMemAllocAsync(&out, 0, stream);
    });
    ask_capturing("free of nothing", stream, [&] { return cuMemFreeAsync(0, stream); });
    CUstreamAttrValue priority{};
    ask_capturing("attribute", stream, [&] {
        return cuStreamSetAttribute(stream, CU_STREAM_ATTRIBUTE_PRIORITY, &priority);
    });
    ask_capturing("flags", stream, [&] {
        unsigned flags = 0;
        return cuStreamGetFlags(stream, &flags);
    });
}

/// The calls without a stream, as programs with a default stream per thread make them.
void ask_captures_of_the_thread() {
    begin();
    const CUdeviceptr memory = allocate(4096);
    void* pinned = nullptr;
    cuMemAllocHost(&pinned, 4096);
    char local[64] = {};
    CUdeviceptr managed = 0;
    cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL);
    const auto find = [](const char* name) {
        void* function = nullptr;
        cuGetProcAddress(name, &function, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM,
                         nullptr);
        return function;
    };
    using Copy = CUresult (*)(CUdeviceptr, CUdeviceptr, std::size_t);
    using Fill = CUresult (*)(CUdeviceptr, unsigned char, std::size_t);
    const auto copy = reinterpret_cast<Copy>(find("cuMemcpy"));
    const auto copy_on_device = reinterpret_cast<Copy>(find("cuMemcpyDtoD"));
    const auto copy_to_device = reinterpret_cast<Copy>(find("cuMemcpyHtoD"));
    const auto fill = reinterpret_cast<Fill>(find("cuMemsetD8"));
    const auto host = reinterpret_cast<CUdeviceptr>(pinned);
    const auto stack = reinterpret_cast<CUdeviceptr>(local);
    CUstream stream = CU_STREAM_PER_THREAD;
    ask_capturing("copy on the device", stream, [&] { return copy(memory, memory + 64, 64); });
    ask_capturing("copy to pinned", stream, [&] { return copy(host, memory, 64); });
    ask_capturing("copy to pageable", stream, [&] { return copy(stack, memory, 64); });
    ask_capturing("DtoD", stream, [&] { return copy_on_device(memory, memory + 64, 64); });
    ask_capturing("DtoD to pinned", stream, [&] { return copy_on_device(host, memory, 64); });
    ask_capturing("HtoD", stream, [&] { return copy_to_device(memory, stack, 64); });
    ask_capturing("fill", stream, [&] { return fill(memory, 0, 64); });
    ask_capturing("fill of pinned", stream, [&] { return fill(host, 0, 64); });
    ask_capturing("fill of managed", stream, [&] { return fill(managed, 0, 64); });
    ask_capturing("copy of nothing", stream, [&] { return copy(memory, memory + 64, 0); });
}

using Change = std::function<void(CUlaunchAttributeValue&)>;

struct NamedValue {
    const char* name;
    CUlaunchAttributeID id;
    Change change;
};

/// Values of launch attributes, most of which mean nothing.
std::vector<NamedValue> attribute_values(CUdeviceptr memory) {
    const auto window = [memory](auto change) {
        return [memory, change](CUlaunchAttributeValue& value) {
            value.accessPolicyWindow.base_ptr = reinterpret_cast<void*>(memory);
            value.accessPolicyWindow.num_bytes = 64;
            change(value.accessPolicyWindow);
        };
    };
    std::vector<NamedValue> all{
        {"cooperative 77", CU_LAUNCH_ATTRIBUTE_COOPERATIVE, [](auto& v) { v.cooperative = 77; }},
        {"priority 77", CU_LAUNCH_ATTRIBUTE_PRIORITY, [](auto& v) { v.priority = 77; }},
        {"programmatic 77", CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
         [](auto& v) { v.programmaticStreamSerializationAllowed = 77; }},
        {"no completion event", CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT, [](auto&) {}},
        {"no programmatic event", CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, [](auto&) {}},
        {"window plain", CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, window([](auto&) {})},
        {"window hit ratio 2", CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
         window([](auto& w) { w.hitRatio = 2; })},
        {"window hit ratio -1", CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
         window([](auto& w) { w.hitRatio = -1; })},
        {"window hit 77", CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
         window([](auto& w) { w.hitProp = static_cast<CUaccessProperty>(77); })},
        {"window miss 77", CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
         window([](auto& w) { w.missProp = static_cast<CUaccessProperty>(77); })},
        {"window miss persisting", CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
         window([](auto& w) { w.missProp = CU_ACCESS_PROPERTY_PERSISTING; })},
        {"window too large", CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
         window([](auto& w) { w.num_bytes = std::size_t{1} << 40; })},
        {"window of the largest size", CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
         window([](auto& w) {
             int most = 0;
             cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, 0);
             w.num_bytes = static_cast<std::size_t>(most);
         })},
        {"window one larger", CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, window([](auto& w) {
             int most = 0;
             cuDeviceGetAttribute(&most, CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, 0);
             w.num_bytes = static_cast<std::size_t>(most) + 1;
         })},
        {"window of NULL", CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW,
         window([](auto& w) { w.base_ptr = nullptr; })},
        {"attribute 15", static_cast<CUlaunchAttributeID>(15), [](auto&) {}},
        {"attribute 16", static_cast<CUlaunchAttributeID>(16), [](auto&) {}},
        {"nvlink 77", static_cast<CUlaunchAttributeID>(16),
         [](auto& v) { v.nvlinkUtilCentricScheduling = 77; }},
        {"attribute 17", static_cast<CUlaunchAttributeID>(17), [](auto&) {}},
        {"attribute 18", static_cast<CUlaunchAttributeID>(18), [](auto&) {}},
        {"attribute 77", static_cast<CUlaunchAttributeID>(77), [](auto&) {}},
        {"attribute -1", static_cast<CUlaunchAttributeID>(-1), [](auto&) {}},
        {"ignored", CU_LAUNCH_ATTRIBUTE_IGNORE, [](auto&) {}},
    };
    for (const int number : {-1, 0, 1, 2, 3, 4, 5, 77}) {
        static std::vector<std::string> names; // keeps them alive
        names.reserve(1000);
        const auto name = [&](const char* of) {
            return names.emplace_back(with(of, number)).c_str();
        };
        all.push_back({name("policy"), CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
                       [=](auto& v) {
                           v.clusterSchedulingPolicyPreference =
                               static_cast<CUclusterSchedulingPolicy>(number);
                       }});
        all.push_back({name("domain"), CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN, [=](auto& v) {
                           v.memSyncDomain = static_cast<CUlaunchMemSyncDomain>(number);
                       }});
        all.push_back(
            {name("default domain"), CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
             [=](auto& v) { v.memSyncDomainMap.default_ = static_cast<unsigned char>(number); }});
        all.push_back(
            {name("remote domain"), CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP,
             [=](auto& v) { v.memSyncDomainMap.remote = static_cast<unsigned char>(number); }});
        all.push_back(
            {name("synchronisation"), CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
             [=](auto& v) { v.syncPolicy = static_cast<CUsynchronizationPolicy>(number); }});
    }
    for (const unsigned number : {0U, 100U, 101U, 255U, ~0U}) {
        static std::vector<std::string> names;
        names.reserve(1000);
        all.push_back({names.emplace_back(with("carveout", number)).c_str(),
                       CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                       [=](auto& v) { v.sharedMemCarveout = number; }});
    }
    return all;
}

void ask_launch_attributes() {
    begin();
    CUfunction function = load();
    std::uint64_t number = 0;
    void* arguments[] = {&number};
    for (const NamedValue& each : attribute_values(allocate(4096))) {
        CUlaunchAttribute attribute{};
        attribute.id = each.id;
        each.change(attribute.value);
        CUlaunchConfig config{};
        config.gridDimX = config.gridDimY = config.gridDimZ = 1;
        config.blockDimX = config.blockDimY = config.blockDimZ = 1;
        config.attrs = &attribute;
        config.numAttrs = 1;
        say(each.name, cuLaunchKernelEx(&config, function, arguments, nullptr));
    }
    say("sync", cuCtxSynchronize());
}

void ask_stream_attributes() {
    begin();
    CUstream stream = nullptr;
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    for (const NamedValue& each : attribute_values(allocate(4096))) {
        CUstreamAttrValue value{};
        each.change(value);
        say(each.name, cuStreamSetAttribute(stream, each.id, &value));
    }
}

void ask_node_attributes() {
    begin();
    CUgraph graph = nullptr;
    cuGraphCreate(&graph, 0);
    std::uint64_t number = 0;
    void* arguments[] = {&number};
    CUDA_KERNEL_NODE_PARAMS parameters{};
    parameters.func = load();
    parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
    parameters.blockDimX = parameters.blockDimY = parameters.blockDimZ = 1;
    parameters.kernelParams = arguments;
    CUgraphNode node = nullptr;
    say("node", cuGraphAddKernelNode(&node, graph, nullptr, 0, &parameters));
    for (const NamedValue& each : attribute_values(allocate(4096))) {
        CUkernelNodeAttrValue value{};
        each.change(value);
        say(each.name, cuGraphKernelNodeSetAttribute(node, each.id, &value));
    }
}

void ask_compiler_options() {
    begin();

    struct Option {
        const char* name;
        CUjit_option option;
        std::uintptr_t value;
    };

    for (const auto& [name, option, value] : {
             Option{"cache mode 2", CU_JIT_CACHE_MODE, 2},
             Option{"cache mode 77", CU_JIT_CACHE_MODE, 77},
             Option{"fallback 1", CU_JIT_FALLBACK_STRATEGY, 1},
             Option{"fallback 77", CU_JIT_FALLBACK_STRATEGY, 77},
             Option{"optimization 4", CU_JIT_OPTIMIZATION_LEVEL, 4},
             Option{"optimization 5", CU_JIT_OPTIMIZATION_LEVEL, 5},
             Option{"target 90", CU_JIT_TARGET, 90},
             Option{"target 91", CU_JIT_TARGET, 91},
             Option{"target 77", CU_JIT_TARGET, 77},
             Option{"threads 1024", CU_JIT_THREADS_PER_BLOCK, 1024},
             Option{"threads 1025", CU_JIT_THREADS_PER_BLOCK, 1025},
             Option{"registers 1000", CU_JIT_MAX_REGISTERS, 1000},
             Option{"debug info 77", CU_JIT_GENERATE_DEBUG_INFO, 77},
             Option{"line info 77", CU_JIT_GENERATE_LINE_INFO, 77},
             Option{"verbose 77", CU_JIT_LOG_VERBOSE, 77},
             Option{"position independent 77", CU_JIT_POSITION_INDEPENDENT_CODE, 77},
             Option{"min blocks 77", CU_JIT_MIN_CTA_PER_SM, 77},
             Option{"max threads 2000", CU_JIT_MAX_THREADS_PER_BLOCK, 2000},
             Option{"override 77", CU_JIT_OVERRIDE_DIRECTIVE_VALUES, 77},
             Option{"option 77", static_cast<CUjit_option>(77), 0},
             Option{"option -1", static_cast<CUjit_option>(-1), 0},
         }) {
        CUjit_option options[] = {option};
        void* values[] = {reinterpret_cast<void*>(value)};
        CUmodule module = nullptr;
        say(name, cuModuleLoadDataEx(&module, MODULE, 1, options, values));
    }
    CUjit_option none[] = {CU_JIT_LTO};
    CUmodule module = nullptr;
    say("no values", cuModuleLoadDataEx(&module, MODULE, 1, none, nullptr));
}

void ask_bus_ids() {
    begin();
    char own[64] = {};
    cuDeviceGetPCIBusId(own, sizeof own, 0);
    unsigned domain = 0;
    unsigned bus = 0;
    unsigned slot = 0;
    std::sscanf(own, "%x:%x:%x", &domain, &bus, &slot);
    const auto ask = [](const std::string& name, const std::string& text) {
        CUdevice device = -1;
        say(name, cuDeviceGetByPCIBusId(&device, text.c_str()), [&] { return list(device); });
    };
    const auto text = [&](const char* format) {
        char buffer[128] = {};
        std::snprintf(buffer, sizeof buffer, format, domain, bus, slot);
        return std::string(buffer);
    };
    ask("own", own);
    ask("without a function", text("%04x:%02x:%02x"));
    ask("function 1", text("%04x:%02x:%02x.1"));
    ask("function 7", text("%04x:%02x:%02x.7"));
    ask("function 8", text("%04x:%02x:%02x.8"));
    ask("function x", text("%04x:%02x:%02x.x"));
    ask("text behind", text("%04x:%02x:%02x.0 and more"));
    ask("text behind the slot", text("%04x:%02x:%02xyz"));
    ask("blank before", text(" %04x:%02x:%02x.0"));
    ask("prefix 0x", text("0x%04x:0x%02x:0x%02x.0"));
    ask("empty", "");
    ask("words", "first");
    ask("slot 31", text("%04x:%02x:1f.0"));
    ask("another domain", text("7%03x:%02x:%02x.0"));
    ask("short", text("%2$02x:%3$02x.0"));
    ask("short without a function", text("%2$02x:%3$02x"));
    ask("bus alone", text("%2$02x"));
}

void ask_other_flags() {
    begin();
    void* address = nullptr;
    for (const int flags : {0, 1, 2, 3, 4, 77}) {
        CUdriverProcAddressQueryResult status{};
        say(with("cuGetProcAddress", flags),
            cuGetProcAddress("cuMemAlloc", &address, 12000, static_cast<cuuint64_t>(flags),
                             &status));
        unsigned number = static_cast<unsigned>(flags);
        std::size_t size = sizeof number;
        say(with("core dump flags", flags),
            cuCoredumpSetAttribute(CU_COREDUMP_GENERATION_FLAGS, &number, &size));
    }
    for (const unsigned number : {0xFFU, 0xFFFFFFFFU}) {
        unsigned flags = number;
        std::size_t size = sizeof flags;
        say(with("core dump flags", number),
            cuCoredumpSetAttribute(CU_COREDUMP_GENERATION_FLAGS, &flags, &size));
    }
    CUmemoryPool pool = nullptr;
    cuDeviceGetDefaultMemPool(&pool, 0);
    for (const int given : {0, 1, 77, -1}) {
        int value = given;
        const CUresult code =
            cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &value);
        value = 5;
        cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC, &value);
        say(with("pool reuse", given), code, list(value));
    }
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    CUmemPoolProps changed = properties;
    changed.reserved[0] = 1;
    say("pool reserved", cuMemPoolCreate(&pool, &changed));
    changed = properties;
    changed.usage = 77;
    say("pool usage", cuMemPoolCreate(&pool, &changed));
    CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, static_cast<CUmemAccess_flags>(77)};
    CUDA_MEM_ALLOC_NODE_PARAMS allocation{};
    allocation.poolProps = properties;
    allocation.bytesize = 4096;
    allocation.accessDescs = &access;
    allocation.accessDescCount = 1;
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    cuGraphCreate(&graph, 0);
    say("allocation node access 77", cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &allocation));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
    say("allocation node access read",
        cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &allocation));
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    say("allocation node access none",
        cuGraphAddMemAllocNode(&node, graph, nullptr, 0, &allocation));
    std::size_t granularity = 0;
    CUmemAllocationProp physical{};
    physical.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    physical.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    const auto option = CU_MEM_ALLOC_GRANULARITY_MINIMUM;
    say("granularity", cuMemGetAllocationGranularity(&granularity, &physical, option));
    physical.location.id = 99;
    say("granularity of device 99", cuMemGetAllocationGranularity(&granularity, &physical, option));
    physical.location = {CU_MEM_LOCATION_TYPE_HOST_NUMA, 99};
    say("granularity of node 99", cuMemGetAllocationGranularity(&granularity, &physical, option));
    std::size_t free = 0;
    say("memory free alone", cuMemGetInfo(&free, nullptr));
    say("memory total alone", cuMemGetInfo(nullptr, &free));
    say("memory NULL", cuMemGetInfo(nullptr, nullptr));
    CUdeviceptr managed = 0;
    say("managed none", cuMemAllocManaged(&managed, 0, CU_MEM_ATTACH_GLOBAL));
    say("managed flags 0", cuMemAllocManaged(&managed, 64, 0));
    say("managed flags 4", cuMemAllocManaged(&managed, 64, 4));
    CUstreamCaptureMode mode = static_cast<CUstreamCaptureMode>(77);
    say("exchange mode 77", cuThreadExchangeStreamCaptureMode(&mode));
    CUipcMemHandle handle{};
    say("IPC flags 77", cuIpcOpenMemHandle(&managed, handle, 77));
    for (const int target : {0, 1, 77}) {
        for (const int scope : {0, 100, 200, 77}) {
            say(with(with("flush", target), scope),
                cuFlushGPUDirectRDMAWrites(static_cast<CUflushGPUDirectRDMAWritesTarget>(target),
                                           static_cast<CUflushGPUDirectRDMAWritesScope>(scope)));
        }
    }
}

void ask_reserved_fields() {
    begin();
    CUmemAllocationProp physical{};
    physical.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    physical.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    physical.allocFlags.reserved[0] = 1;
    std::size_t granularity = 0;
    CUmemGenericAllocationHandle memory = 0;
    say("granularity",
        cuMemGetAllocationGranularity(&granularity, &physical, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    say("memory", cuMemCreate(&memory, granularity, &physical, 0));
    CUmemoryPool pool = nullptr;
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    properties.reserved[53] = 1;
    say("pool", cuMemPoolCreate(&pool, &properties));

    CUgraph graph = nullptr;
    cuGraphCreate(&graph, 0);
    const auto add = [&](const std::string& name, auto change) {
        CUgraphNodeParams parameters{};
        change(parameters);
        CUgraphNode node = nullptr;
        say("node " + name, cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters));
    };
    const auto nothing = [](void*) {};
    const auto host = [&](CUgraphNodeParams& parameters) {
        parameters.type = CU_GRAPH_NODE_TYPE_HOST;
        parameters.host.fn = nothing;
    };
    add("host", host);
    for (const int word : {0, 1, 2}) {
        add(with("reserved0", word), [&](CUgraphNodeParams& parameters) {
            host(parameters);
            parameters.reserved0[word] = 1;
        });
    }
    add("reserved2", [&](CUgraphNodeParams& parameters) {
        host(parameters);
        parameters.reserved2 = 1;
    });
    for (const int word : {2, 28}) {
        add(with("behind host", word), [&](CUgraphNodeParams& parameters) {
            host(parameters);
            parameters.reserved1[word] = 1;
        });
    }
    add("empty and behind", [](CUgraphNodeParams& parameters) {
        parameters.type = CU_GRAPH_NODE_TYPE_EMPTY;
        parameters.reserved1[0] = 1;
    });
    CUgraphNodeParams parameters{};
    CUgraphNode node = nullptr;
    host(parameters);
    cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters);
    say("set", cuGraphNodeSetParams(node, &parameters));
    parameters.reserved1[28] = 1;
    say("set behind", cuGraphNodeSetParams(node, &parameters));
    CUgraphNode other = nullptr;
    cuGraphAddEmptyNode(&other, graph, nullptr, 0);
    CUgraphEdgeData edge{};
    edge.reserved[4] = 1;
    say("edge", cuGraphAddDependencies(graph, &node, &other, &edge, 1));

    CUdeviceptr words = allocate(4096);
    CUstreamBatchMemOpParams item{};
    item.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    item.writeValue.address = words;
    say("operation", cuStreamBatchMemOp(nullptr, 1, &item, 0));
    item.pad[5] = 1;
    say("operation behind", cuStreamBatchMemOp(nullptr, 1, &item, 0));
    item.pad[5] = 0;
    item.writeValue.flags = 77;
    say("operation flags 77", cuStreamBatchMemOp(nullptr, 1, &item, 0));

    CUstream stream = nullptr;
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    CUdeviceptr to = words + 64;
    std::size_t bytes = 64;
    std::size_t first = 0;
    CUmemcpyAttributes attributes{};
    attributes.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    say("copies", cuMemcpyBatchAsync(&to, &words, &bytes, 1, &attributes, &first, 1, stream));
    attributes.flags = 77;
    say("copies flags 77",
        cuMemcpyBatchAsync(&to, &words, &bytes, 1, &attributes, &first, 1, stream));
    attributes.flags = 0;
    attributes.srcLocHint = {static_cast<CUmemLocationType>(77), 0};
    say("copies hint 77",
        cuMemcpyBatchAsync(&to, &words, &bytes, 1, &attributes, &first, 1, stream));

    CUlaunchConfig config{};
    config.gridDimX = config.gridDimY = config.gridDimZ = 1;
    config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    CUlaunchAttribute attribute{};
    attribute.id = CU_LAUNCH_ATTRIBUTE_PRIORITY;
    attribute.pad[0] = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    std::uint64_t number = 0;
    void* arguments[] = {&number};
    say("launch attribute", cuLaunchKernelEx(&config, load(), arguments, nullptr));

    CUdevResource all{};
    CUdevResource group{};
    cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM);
    unsigned count = 1;
    for (const unsigned flags : {0U, 1U, 2U, 3U, 4U, 77U}) {
        count = 1;
        say(with("split", flags),
            cuDevSmResourceSplitByCount(&group, &count, &all, nullptr, flags, 16));
    }
}

} // namespace

const std::initializer_list<Group> CALLS{
    {"flags of contexts", ask_context_flags},
    {"configurations of kernels", ask_configurations},
    {"attachments", ask_attachments},
    {"attachment of a part", ask_attachment_of_a_part},
    {"attachment of device memory", ask_attachment_of_device_memory},
    {"attachment in a capture", ask_attachment_in_a_capture},
    {"calls in captures", ask_captures},
    {"calls in captures of the thread", ask_captures_of_the_thread},
    {"values of launch attributes", ask_launch_attributes},
    {"values of stream attributes", ask_stream_attributes},
    {"values of node attributes", ask_node_attributes},
    {"options of the compiler", ask_compiler_options},
    {"bus ids", ask_bus_ids},
    {"other flags", ask_other_flags},
    {"reserved fields", ask_reserved_fields},
};

} // namespace answers
