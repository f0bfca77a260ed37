// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Captures that are aborted: invalidated, ended in the wrong place, or whose stream, event, graph
// or context goes away.

#include "answers.hpp"

#include <array>
#include <thread>

namespace answers {

namespace {

constexpr const char* PTX =
    ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry nothing() { ret; }\n";

/// Two streams, of which the first captures one fill, and an event.
struct Scene {
    explicit Scene(CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
        cuStreamCreate(&first, CU_STREAM_NON_BLOCKING);
        cuStreamCreate(&second, CU_STREAM_NON_BLOCKING);
        cuStreamCreate(&third, CU_STREAM_NON_BLOCKING);
        cuEventCreate(&event, CU_EVENT_DEFAULT);
        cuMemAlloc(&memory, 64);
        cuStreamBeginCapture(first, mode);
        work(first);
    }

    CUresult work(CUstream stream) const { return cuMemsetD8Async(memory, 1, 64, stream); }

    /// Lets the second stream join the capture, with work of its own.
    void fork() const {
        cuEventRecord(event, first);
        cuStreamWaitEvent(second, event, 0);
        work(second);
    }

    void invalidate() const { say("invalidate", cuStreamSynchronize(first)); }

    void show(const std::string& when, CUstream stream) const {
        CUstreamCaptureStatus status{};
        const CUresult code = cuStreamIsCapturing(stream, &status);
        say(when, code, list(static_cast<int>(status)));
    }

    void show(const std::string& when) const {
        show(when + ", first", first);
        show(when + ", second", second);
    }

    void end(const std::string& name, CUstream stream) const {
        CUgraph graph = reinterpret_cast<CUgraph>(1);
        const CUresult code = cuStreamEndCapture(stream, &graph);
        std::size_t nodes = 0;
        const std::string what = graph == nullptr                        ? "no graph"
                                 : graph == reinterpret_cast<CUgraph>(1) ? "not written"
                                 : cuGraphGetNodes(graph, nullptr, &nodes) == CUDA_SUCCESS
                                     ? list(nodes)
                                     : "a graph that is not valid";
        say(name, code, what);
    }

    CUgraph graph() const {
        CUstreamCaptureStatus status{};
        CUgraph found = nullptr;
        cuStreamGetCaptureInfo(first, &status, nullptr, &found, nullptr, nullptr, nullptr);
        return found;
    }

    /// What can be done in the end.
    void afterwards() const {
        CUdeviceptr more = 0;
        show("afterwards");
        say("work on first", work(first));
        say("work on second", work(second));
        say("event query", cuEventQuery(event));
        say("wait for the event", cuStreamWaitEvent(third, event, 0));
        say("allocate", cuMemAlloc(&more, 64));
        say("record the event", cuEventRecord(event, third));
        say("synchronize", cuCtxSynchronize());
    }

    CUstream first = nullptr;
    CUstream second = nullptr;
    CUstream third = nullptr;
    CUevent event = nullptr;
    CUdeviceptr memory = 0;
};

// ---- what is refused while a capture is invalid
// --------------------------------------------------

void ask_use_of_invalidated() {
    begin();
    const Scene scene;
    scene.fork();
    scene.invalidate();
    scene.show("status");
    say("work on first", scene.work(scene.first));
    say("work on second", scene.work(scene.second));
    say("work on third", scene.work(scene.third));
    say("query first", cuStreamQuery(scene.first));
    say("synchronize second", cuStreamSynchronize(scene.second));
    say("record in second", cuEventRecord(scene.event, scene.second));
    say("begin again", cuStreamBeginCapture(scene.first, CU_STREAM_CAPTURE_MODE_GLOBAL));
    CUstreamCaptureStatus status{};
    cuuint64_t id = 0;
    CUgraph graph = nullptr;
    std::size_t count = 77;
    say("info", cuStreamGetCaptureInfo(scene.first, &status, &id, &graph, nullptr, nullptr, &count),
        [&] {
            return list(static_cast<int>(status), id != 0 ? 1 : 0, graph != nullptr ? 1 : 0, count);
        });
    say("update dependencies",
        cuStreamUpdateCaptureDependencies(scene.first, nullptr, nullptr, 0,
                                          CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    say("third waits for the captured event", cuStreamWaitEvent(scene.third, scene.event, 0));
    say("query the captured event", cuEventQuery(scene.event));
    CUdeviceptr more = 0;
    say("allocate", cuMemAlloc(&more, 64));
    say("allocate in first", cuMemAllocAsync(&more, 64, scene.first));
    say("context synchronize", cuCtxSynchronize());
    say("legacy work", scene.work(nullptr));
    scene.end("end on second", scene.second);
    scene.end("end on first", scene.first);
    scene.afterwards();
}

void ask_invalidated_blocking() {
    begin();
    Scene scene;
    scene.end("end", scene.first);
    CUstream blocking = nullptr;
    cuStreamCreate(&blocking, CU_STREAM_DEFAULT);
    cuStreamBeginCapture(blocking, CU_STREAM_CAPTURE_MODE_RELAXED);
    say("invalidate", cuStreamQuery(blocking));
    scene.show("status of the legacy stream", nullptr);
    say("legacy work", scene.work(nullptr));
    unsigned char byte = 0;
    say("copy", cuMemcpyDtoH(&byte, scene.memory, 1));
    scene.end("end", blocking);
    say("legacy work", scene.work(nullptr));
}

void ask_event_of_invalidated() {
    begin();
    const Scene scene;
    scene.fork();
    scene.invalidate();
    say("record the event elsewhere", cuEventRecord(scene.event, scene.third));
    say("query it", cuEventQuery(scene.event));
    say("destroy it", cuEventDestroy(scene.event));
    scene.end("end", scene.first);
}

// ---- streams that go away
// ------------------------------------------------------------------------

void ask_destroyed_origin() {
    begin();
    const Scene scene;
    scene.fork();
    say("destroy first", cuStreamDestroy(scene.first));
    scene.show("second", scene.second);
    say("work on second", scene.work(scene.second));
    scene.end("end on second", scene.second);
    CUdeviceptr more = 0;
    say("allocate", cuMemAlloc(&more, 64));
    say("query the event", cuEventQuery(scene.event));
    say("wait for the event", cuStreamWaitEvent(scene.third, scene.event, 0));
    say("synchronize", cuCtxSynchronize());
}

void ask_destroyed_invalid_origin() {
    begin();
    const Scene scene;
    scene.invalidate();
    say("destroy first", cuStreamDestroy(scene.first));
    CUdeviceptr more = 0;
    say("allocate", cuMemAlloc(&more, 64));
    say("synchronize", cuCtxSynchronize());
}

void ask_destroyed_fork() {
    begin();
    {
        const Scene scene;
        scene.fork();
        say("destroy second, which is not joined", cuStreamDestroy(scene.second));
        scene.show("first", scene.first);
        scene.end("end", scene.first);
    }
    {
        const Scene scene;
        scene.fork();
        cuEventRecord(scene.event, scene.second);
        cuStreamWaitEvent(scene.first, scene.event, 0);
        say("destroy second, which is joined", cuStreamDestroy(scene.second));
        scene.end("end", scene.first);
    }
    {
        const Scene scene;
        scene.fork();
        cuEventRecord(scene.event, scene.second);
        say("destroy second, whose event is there", cuStreamDestroy(scene.second));
        say("join", cuStreamWaitEvent(scene.first, scene.event, 0));
        scene.end("end", scene.first);
    }
}

void ask_destroyed_event() {
    begin();
    const Scene scene;
    scene.fork();
    say("destroy the event", cuEventDestroy(scene.event));
    scene.show("status");
    scene.end("end", scene.first);
}

void ask_destroyed_context() {
    cuInit(0);
    CUcontext context = nullptr;
    cuCtxCreate(&context, nullptr, 0, 0);
    const Scene scene;
    say("destroy the context", cuCtxDestroy(context));
    begin();
    CUdeviceptr more = 0;
    say("allocate", cuMemAlloc(&more, 64));
    say("synchronize", cuCtxSynchronize());
}

void ask_reset_device() {
    begin();
    const Scene scene;
    say("reset", cuDevicePrimaryCtxReset(0));
    begin();
    CUdeviceptr more = 0;
    say("allocate", cuMemAlloc(&more, 64));
}

// ---- the wrong stream or thread
// ------------------------------------------------------------------

void ask_end_on_fork() {
    begin();
    const Scene scene;
    scene.fork();
    scene.end("end on second", scene.second);
    scene.show("status");
    scene.end("end on third", scene.third);
    scene.end("end on first", scene.first);
    scene.afterwards();
}

void ask_end_on_thread() {
    const CUcontext context = begin();
    for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                            CU_STREAM_CAPTURE_MODE_RELAXED}) {
        const Scene scene(mode);
        scene.fork();
        std::thread([&] {
            cuCtxSetCurrent(context);
            scene.end("end on another thread", scene.first);
        }).join();
        scene.show("status");
        scene.end("end on its thread", scene.first);
        scene.afterwards();
    }
}

void ask_destroy_on_thread() {
    const CUcontext context = begin();
    const Scene scene;
    std::thread([&] {
        cuCtxSetCurrent(context);
        say("destroy first on another thread", cuStreamDestroy(scene.first));
    }).join();
    CUdeviceptr more = 0;
    say("allocate", cuMemAlloc(&more, 64));
}

void ask_thread_that_ends() {
    const CUcontext context = begin();
    CUstream stream = nullptr;
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    std::thread([&] {
        cuCtxSetCurrent(context);
        say("begin", cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    }).join();
    CUdeviceptr more = 0;
    say("allocate", cuMemAlloc(&more, 64));
    CUgraph graph = nullptr;
    say("end", cuStreamEndCapture(stream, &graph));
    say("allocate", cuMemAlloc(&more, 64));
}

// ---- the graph of a capture
// ----------------------------------------------------------------------

void ask_graph() {
    begin();
    {
        const Scene scene;
        const CUgraph graph = scene.graph();
        CUgraphExec executable = nullptr;
        CUgraph clone = nullptr;
        CUgraphNode node = nullptr;
        std::size_t count = 1;
        say("add a node", cuGraphAddEmptyNode(&node, graph, nullptr, 0));
        scene.show("status", scene.first);
        say("instantiate", cuGraphInstantiate(&executable, graph, 0));
        scene.show("status", scene.first);
        say("clone", cuGraphClone(&clone, graph));
        scene.show("status", scene.first);
        cuGraphGetNodes(graph, &node, &count);
        say("destroy a node", cuGraphDestroyNode(node));
        scene.show("status", scene.first);
        scene.end("end", scene.first);
    }
    const Scene scene;
    const CUgraph graph = scene.graph();
    say("destroy the graph", cuGraphDestroy(graph));
    scene.show("status", scene.first);
    say("work on first", scene.work(scene.first));
    scene.end("end", scene.first);
}

void ask_graph_of_program() {
    begin();
    Scene scene;
    scene.end("end", scene.first);
    CUgraph graph = nullptr;
    cuGraphCreate(&graph, 0);
    const auto capture = [&] {
        say("begin", cuStreamBeginCaptureToGraph(scene.first, graph, nullptr, nullptr, 0,
                                                 CU_STREAM_CAPTURE_MODE_GLOBAL));
        scene.work(scene.first);
    };
    capture();
    scene.invalidate();
    scene.end("end", scene.first);
    std::size_t count = 0;
    say("nodes", cuGraphGetNodes(graph, nullptr, &count), [&] { return list(count); });
    capture();
    say("destroy first", cuStreamDestroy(scene.first));
    say("nodes", cuGraphGetNodes(graph, nullptr, &count), [&] { return list(count); });
    scene.first = scene.second;
    capture();
    say("destroy the graph", cuGraphDestroy(graph));
    scene.show("status", scene.first);
    scene.end("end", scene.first);
}

void ask_launch() {
    begin();
    Scene scene;
    CUgraph graph = nullptr;
    cuStreamEndCapture(scene.first, &graph);
    CUgraphExec executable = nullptr;
    cuGraphInstantiate(&executable, graph, 0);
    cuStreamBeginCapture(scene.first, CU_STREAM_CAPTURE_MODE_GLOBAL);
    say("launch", cuGraphLaunch(executable, scene.first));
    scene.show("status", scene.first);
    scene.end("end", scene.first);
    cuStreamBeginCapture(scene.first, CU_STREAM_CAPTURE_MODE_GLOBAL);
    say("upload", cuGraphUpload(executable, scene.first));
    scene.show("status", scene.first);
    scene.end("end", scene.first);
}

// ---- which calls a capture allows beside it
// ------------------------------------------------------

void ask_calls() {
    begin();
    Scene scene;
    scene.end("end", scene.first);
    CUarray array = nullptr;
    CUDA_ARRAY_DESCRIPTOR descriptor{16, 16, CU_AD_FORMAT_FLOAT, 1};
    cuArrayCreate(&array, &descriptor);
    CUdeviceptr managed = 0;
    cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL);
    static std::array<unsigned char, 8192> host;
    CUevent old = nullptr;
    cuEventCreate(&old, CU_EVENT_DEFAULT);
    cuEventRecord(old, scene.third);
    cuCtxSynchronize();
    const auto during = [&](const std::string& name, auto call) {
        for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_RELAXED}) {
            cuStreamBeginCapture(scene.first, mode);
            const CUresult code = call();
            CUstreamCaptureStatus status{};
            cuStreamIsCapturing(scene.first, &status);
            say(name + (mode == CU_STREAM_CAPTURE_MODE_GLOBAL ? "" : ", relaxed"), code,
                list(static_cast<int>(status)));
            CUgraph graph = nullptr;
            if (cuStreamEndCapture(scene.first, &graph) == CUDA_SUCCESS) {
                cuGraphDestroy(graph);
            }
        }
    };
    CUstream stream = nullptr;
    CUevent event = nullptr;
    CUdeviceptr memory = 0;
    void* pinned = nullptr;
    CUarray second = nullptr;
    CUmemoryPool pool = nullptr;
    CUtexObject texture = 0;
    CUgraph graph = nullptr;
    CUcontext context = nullptr;
    std::size_t free_bytes = 0;
    std::size_t all_bytes = 0;
    float milliseconds = 0;
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    const CUDA_TEXTURE_DESC sampling{};
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    during("stream create", [&] { return cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING); });
    during("stream destroy", [&] { return cuStreamDestroy(stream); });
    during("event create", [&] { return cuEventCreate(&event, CU_EVENT_DEFAULT); });
    during("event record elsewhere", [&] { return cuEventRecord(event, scene.third); });
    during("event query", [&] { return cuEventQuery(old); });
    during("event synchronize", [&] { return cuEventSynchronize(old); });
    during("event elapsed", [&] { return cuEventElapsedTime(&milliseconds, old, old); });
    during("event destroy", [&] { return cuEventDestroy(event); });
    during("query another stream", [&] { return cuStreamQuery(scene.third); });
    during("synchronize another stream", [&] { return cuStreamSynchronize(scene.third); });
    during("pinned memory", [&] { return cuMemHostAlloc(&pinned, 64, 0); });
    during("free pinned memory", [&] { return cuMemFreeHost(pinned); });
    during("register", [&] { return cuMemHostRegister(host.data(), host.size(), 0); });
    during("unregister", [&] { return cuMemHostUnregister(host.data()); });
    during("managed memory", [&] { return cuMemAllocManaged(&memory, 64, CU_MEM_ATTACH_GLOBAL); });
    during("free memory", [&] { return cuMemFree(memory); });
    during("memory info", [&] { return cuMemGetInfo(&free_bytes, &all_bytes); });
    during("array create", [&] { return cuArrayCreate(&second, &descriptor); });
    during("array destroy", [&] { return cuArrayDestroy(second); });
    during("texture create",
           [&] { return cuTexObjectCreate(&texture, &resource, &sampling, nullptr); });
    during("texture destroy", [&] { return cuTexObjectDestroy(texture); });
    during("pool create", [&] { return cuMemPoolCreate(&pool, &properties); });
    during("pool allocation elsewhere",
           [&] { return cuMemAllocFromPoolAsync(&memory, 64, pool, scene.third); });
    during("pool free elsewhere", [&] { return cuMemFreeAsync(memory, scene.third); });
    during("pool trim", [&] { return cuMemPoolTrimTo(pool, 0); });
    during("pool destroy", [&] { return cuMemPoolDestroy(pool); });
    during("copy", [&] { return cuMemcpyDtoH(host.data(), scene.memory, 1); });
    during("fill", [&] { return cuMemsetD8(scene.memory, 1, 1); });
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    CUmemGenericAllocationHandle physical = 0;
    CUdeviceptr reserved = 0;
    CUipcMemHandle shared{};
    unsigned kind = 0;
    CUmemAllocationProp physical_properties{};
    physical_properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    physical_properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    constexpr std::size_t granularity = std::size_t{2} << 20;
    during("module load", [&] { return cuModuleLoadData(&module, PTX); });
    during("function", [&] { return cuModuleGetFunction(&function, module, "nothing"); });
    during("module unload", [&] { return cuModuleUnload(module); });
    during("physical memory",
           [&] { return cuMemCreate(&physical, granularity, &physical_properties, 0); });
    during("reserve", [&] { return cuMemAddressReserve(&reserved, granularity, 0, 0, 0); });
    during("map", [&] { return cuMemMap(reserved, granularity, 0, physical, 0); });
    during("unmap", [&] { return cuMemUnmap(reserved, granularity); });
    during("release physical memory", [&] { return cuMemRelease(physical); });
    during("handle of shared memory", [&] { return cuIpcGetMemHandle(&shared, scene.memory); });
    during("attribute of a pointer", [&] {
        return cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, scene.memory);
    });
    during("host function elsewhere",
           [&] { return cuLaunchHostFunc(scene.third, [](void*) {}, nullptr); });
    during("graph create", [&] { return cuGraphCreate(&graph, 0); });
    during("graph destroy", [&] { return cuGraphDestroy(graph); });
    during("context create", [&] { return cuCtxCreate(&context, nullptr, 0, 0); });
    during("context destroy", [&] { return cuCtxDestroy(context); });
    during("set a limit", [&] { return cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048); });
    during("begin another capture", [&] {
        const CUresult code = cuStreamBeginCapture(scene.third, CU_STREAM_CAPTURE_MODE_GLOBAL);
        CUgraph other = nullptr;
        cuStreamEndCapture(scene.third, &other);
        return code;
    });
}

} // namespace

const std::initializer_list<Group> CAPTURES{
    {"use of an invalidated capture", ask_use_of_invalidated},
    {"an invalidated capture of a blocking stream", ask_invalidated_blocking},
    {"the event of an invalidated capture", ask_event_of_invalidated},
    {"destroy the stream that a capture began on", ask_destroyed_origin},
    {"destroy the stream of an invalidated capture", ask_destroyed_invalid_origin},
    {"destroy a stream that joined a capture", ask_destroyed_fork},
    {"destroy the event of a capture", ask_destroyed_event},
    {"destroy the context of a capture", ask_destroyed_context},
    {"reset the device of a capture", ask_reset_device},
    {"end a capture on a stream that joined", ask_end_on_fork},
    {"end a capture on another thread", ask_end_on_thread},
    {"destroy a capturing stream on another thread", ask_destroy_on_thread},
    {"a thread that ends while it captures", ask_thread_that_ends},
    {"the graph of a capture", ask_graph},
    {"a capture into a graph of the program", ask_graph_of_program},
    {"launch a graph in a capture", ask_launch},
    {"calls beside a capture", ask_calls},
};

} // namespace answers
