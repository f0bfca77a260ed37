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

void ask_more_use_of_invalidated() {
    begin();
    CUstream stream = nullptr;
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    CUdeviceptr managed = 0;
    cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    cuGraphCreate(&graph, 0);
    cuGraphInstantiate(&executable, graph, 0);
    cuMemAllocManaged(&managed, 64, CU_MEM_ATTACH_GLOBAL);
    const Scene scene;
    scene.fork();
    scene.invalidate();
    unsigned flags = 0;
    float milliseconds = 0;
    say("add a callback",
        cuStreamAddCallback(scene.first, [](CUstream, CUresult, void*) {}, nullptr, 0));
    say("host function", cuLaunchHostFunc(scene.first, [](void*) {}, nullptr));
    say("flags", cuStreamGetFlags(scene.first, &flags));
    say("attach", cuStreamAttachMemAsync(scene.first, managed, 0, CU_MEM_ATTACH_GLOBAL));
    say("launch", cuGraphLaunch(executable, scene.first));
    say("upload", cuGraphUpload(executable, scene.first));
    say("free in first", cuMemFreeAsync(scene.memory, scene.first));
    say("wait for its event", cuStreamWaitEvent(scene.first, scene.event, 0));
    say("synchronize the event", cuEventSynchronize(scene.event));
    say("elapsed", cuEventElapsedTime(&milliseconds, scene.event, scene.event));
    scene.end("end", scene.first);
    say("synchronize the event", cuEventSynchronize(scene.event));
    say("elapsed", cuEventElapsedTime(&milliseconds, scene.event, scene.event));
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

void ask_end_joined_on_thread() {
    const CUcontext context = begin();
    for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
                            CU_STREAM_CAPTURE_MODE_RELAXED}) {
        const Scene scene(mode);
        std::thread([&] {
            cuCtxSetCurrent(context);
            scene.end("end on another thread", scene.first);
        }).join();
        scene.show("status", scene.first);
        scene.end("end on its thread", scene.first);
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

void ask_graph_of_relaxed() {
    begin();
    CUgraph other = nullptr;
    CUgraphExec known = nullptr;
    cuGraphCreate(&other, 0);
    cuGraphInstantiate(&known, other, 0);
    const Scene scene(CU_STREAM_CAPTURE_MODE_RELAXED);
    const CUgraph graph = scene.graph();
    CUgraphExec executable = nullptr;
    CUgraph clone = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExecUpdateResultInfo result{};
    say("clone", cuGraphClone(&clone, graph));
    scene.show("status", scene.first);
    say("add it to another graph", cuGraphAddChildGraphNode(&node, other, nullptr, 0, graph));
    scene.show("status", scene.first);
    say("update", cuGraphExecUpdate(known, graph, &result));
    scene.show("status", scene.first);
    say("instantiate", cuGraphInstantiate(&executable, graph, 0));
    scene.show("status", scene.first);
    scene.end("end", scene.first);
}

/// A graph of the program, into which the first stream of a scene captures.
struct Target {
    Target() {
        scene.end("(end)", scene.first);
        cuGraphCreate(&graph, 0);
        capture();
        scene.work(scene.first);
    }

    void capture() const {
        say("begin", cuStreamBeginCaptureToGraph(scene.first, graph, nullptr, nullptr, 0,
                                                 CU_STREAM_CAPTURE_MODE_GLOBAL));
    }

    void show() const {
        std::size_t count = 0;
        say("nodes", cuGraphGetNodes(graph, nullptr, &count), [&] { return list(count); });
    }

    Scene scene;
    CUgraph graph = nullptr;
};

void ask_graph_of_program() {
    begin();
    const Target target;
    target.scene.invalidate();
    target.scene.end("end", target.scene.first);
    target.show();
    target.capture();
    say("destroy the graph", cuGraphDestroy(target.graph));
}

void ask_destroyed_graph_of_program() {
    begin();
    const Target target;
    say("destroy the graph", cuGraphDestroy(target.graph));
    target.scene.show("status", target.scene.first);
    target.scene.end("end", target.scene.first);
    target.show();
}

void ask_abandoned_graph_of_program() {
    begin();
    const Target target;
    say("destroy first", cuStreamDestroy(target.scene.first));
    target.show();
    say("destroy the graph", cuGraphDestroy(target.graph));
}

void ask_unjoined_graph_of_program() {
    begin();
    const Target target;
    target.scene.fork();
    target.scene.end("end", target.scene.first);
    target.show();
    say("destroy the graph", cuGraphDestroy(target.graph));
}

void ask_graph_of_program_on_thread() {
    const CUcontext context = begin();
    const Target target;
    std::thread([&] {
        cuCtxSetCurrent(context);
        target.scene.end("end on another thread", target.scene.first);
    }).join();
    target.scene.show("status", target.scene.first);
    target.show();
}

void ask_unwanted_graph_of_program() {
    begin();
    const Target target;
    say("end without a place", cuStreamEndCapture(target.scene.first, nullptr));
    target.scene.show("status", target.scene.first);
    target.show();
}

void ask_body() {
    const CUcontext context = begin();
    const Scene scene;
    scene.end("(end)", scene.first);
    CUgraph graph = nullptr;
    CUgraphNode node = nullptr;
    CUgraphNodeParams parameters{};
    parameters.type = CU_GRAPH_NODE_TYPE_CONDITIONAL;
    parameters.conditional.type = CU_GRAPH_COND_TYPE_IF;
    parameters.conditional.size = 1;
    parameters.conditional.ctx = context;
    cuGraphCreate(&graph, 0);
    cuGraphConditionalHandleCreate(&parameters.conditional.handle, graph, context, 0, 0);
    say("add", cuGraphAddNode(&node, graph, nullptr, nullptr, 0, &parameters));
    const CUgraph body = parameters.conditional.phGraph_out[0];
    say("begin", cuStreamBeginCaptureToGraph(scene.first, body, nullptr, nullptr, 0,
                                             CU_STREAM_CAPTURE_MODE_GLOBAL));
    scene.work(scene.first);
    scene.invalidate();
    scene.end("end", scene.first);
    std::size_t count = 0;
    say("nodes of the graph", cuGraphGetNodes(graph, nullptr, &count), [&] { return list(count); });
    say("nodes of the body", cuGraphGetNodes(body, nullptr, &count), [&] { return list(count); });
    say("destroy the graph", cuGraphDestroy(graph));
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

/// Asks about calls while a stream captures, which changes with each mode.
struct Beside {
    Beside() { scene.end("(end)", scene.first); }

    /// Makes a call while a stream captures in each of two modes. What `prepare` does comes before.
    template <typename Prepare, typename Call>
    void during(const std::string& name, Prepare prepare, Call call) const {
        for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_RELAXED}) {
            prepare();
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
    }

    template <typename Call>
    void during(const std::string& name, Call call) const {
        during(name, [] {}, call);
    }

    CUcontext context = begin();
    Scene scene;
};

void ask_objects_beside() {
    const Beside beside;
    CUarray array = nullptr;
    CUDA_ARRAY_DESCRIPTOR descriptor{16, 16, CU_AD_FORMAT_FLOAT, 1};
    cuArrayCreate(&array, &descriptor);
    CUevent old = nullptr;
    cuEventCreate(&old, CU_EVENT_DEFAULT);
    cuEventRecord(old, beside.scene.third);
    cuCtxSynchronize();
    CUstream stream = nullptr;
    CUevent event = nullptr;
    CUtexObject texture = 0;
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    CUcontext context = nullptr;
    CUcontext own = nullptr;
    cuCtxGetCurrent(&own);
    float milliseconds = 0;
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    const CUDA_TEXTURE_DESC sampling{};
    const auto create_stream = [&] { return cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING); };
    const auto create_event = [&] { return cuEventCreate(&event, CU_EVENT_DEFAULT); };
    const auto create_texture = [&] {
        return cuTexObjectCreate(&texture, &resource, &sampling, nullptr);
    };
    const auto load = [&] { return cuModuleLoadData(&module, PTX); };
    beside.during("stream create", create_stream);
    beside.during("stream destroy", create_stream, [&] { return cuStreamDestroy(stream); });
    beside.during("event create", create_event);
    beside.during("event destroy", create_event, [&] { return cuEventDestroy(event); });
    beside.during("event query", [&] { return cuEventQuery(old); });
    beside.during("event synchronize", [&] { return cuEventSynchronize(old); });
    beside.during("event elapsed", [&] { return cuEventElapsedTime(&milliseconds, old, old); });
    beside.during("texture create", create_texture);
    beside.during("texture destroy", create_texture, [&] { return cuTexObjectDestroy(texture); });
    beside.during("module load", load);
    beside.during("function", load,
                  [&] { return cuModuleGetFunction(&function, module, "nothing"); });
    beside.during("module unload", load, [&] { return cuModuleUnload(module); });
    beside.during("set a limit", [&] { return cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 2048); });
    const auto create_context = [&] {
        const CUresult code = cuCtxCreate(&context, nullptr, 0, 0);
        cuCtxSetCurrent(own);
        return code;
    };
    beside.during("context create", create_context);
    beside.during("context destroy", create_context, [&] { return cuCtxDestroy(context); });
}

void ask_memory_beside() {
    const Beside beside;
    CUDA_ARRAY_DESCRIPTOR descriptor{16, 16, CU_AD_FORMAT_FLOAT, 1};
    std::array<std::array<unsigned char, 8192>, 5> host;
    std::size_t place = 0;
    CUdeviceptr memory = 0;
    void* pinned = nullptr;
    CUarray array = nullptr;
    std::size_t free_bytes = 0;
    std::size_t all_bytes = 0;
    CUipcMemHandle shared{};
    unsigned kind = 0;
    const auto allocate = [&] { return cuMemAlloc(&memory, 64); };
    const auto allocate_pinned = [&] { return cuMemHostAlloc(&pinned, 64, 0); };
    const auto register_host = [&] {
        return cuMemHostRegister(host[place].data(), host[place].size(), 0);
    };
    const auto next = [&] { ++place; };
    const auto create_array = [&] { return cuArrayCreate(&array, &descriptor); };
    beside.during("allocate", allocate);
    beside.during("free", allocate, [&] { return cuMemFree(memory); });
    beside.during("pinned memory", allocate_pinned);
    beside.during("free pinned memory", allocate_pinned, [&] { return cuMemFreeHost(pinned); });
    beside.during("register", next, register_host);
    const auto register_next = [&] {
        next();
        register_host();
    };
    beside.during("unregister", register_next,
                  [&] { return cuMemHostUnregister(host[place].data()); });
    beside.during("managed memory",
                  [&] { return cuMemAllocManaged(&memory, 64, CU_MEM_ATTACH_GLOBAL); });
    beside.during("memory info", [&] { return cuMemGetInfo(&free_bytes, &all_bytes); });
    beside.during("array create", create_array);
    beside.during("array destroy", create_array, [&] { return cuArrayDestroy(array); });
    beside.during("handle of shared memory",
                  [&] { return cuIpcGetMemHandle(&shared, beside.scene.memory); });
    beside.during("attribute of a pointer", [&] {
        return cuPointerGetAttribute(&kind, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, beside.scene.memory);
    });
}

void ask_pools_beside() {
    const Beside beside;
    CUdeviceptr memory = 0;
    CUmemoryPool pool = nullptr;
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    const auto create = [&] { return cuMemPoolCreate(&pool, &properties); };
    const auto allocate = [&] {
        return cuMemAllocFromPoolAsync(&memory, 64, pool, beside.scene.third);
    };
    beside.during("create", create);
    beside.during("destroy", create, [&] { return cuMemPoolDestroy(pool); });
    create();
    beside.during("allocation elsewhere", allocate);
    beside.during("free elsewhere", allocate,
                  [&] { return cuMemFreeAsync(memory, beside.scene.third); });
    beside.during("trim", [&] { return cuMemPoolTrimTo(pool, 0); });
}

void ask_mappings_beside() {
    const Beside beside;
    CUmemGenericAllocationHandle physical = 0;
    CUdeviceptr reserved = 0;
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
    constexpr std::size_t granularity = std::size_t{2} << 20;
    const auto create = [&] { return cuMemCreate(&physical, granularity, &properties, 0); };
    const auto reserve = [&] { return cuMemAddressReserve(&reserved, granularity, 0, 0, 0); };
    const auto create_and_reserve = [&] {
        create();
        reserve();
    };
    const auto map = [&] { return cuMemMap(reserved, granularity, 0, physical, 0); };
    const auto create_and_map = [&] {
        create_and_reserve();
        map();
    };
    beside.during("physical memory", create);
    beside.during("release physical memory", create, [&] { return cuMemRelease(physical); });
    beside.during("reserve", reserve);
    beside.during("map", create_and_reserve, map);
    beside.during("unmap", create_and_map, [&] { return cuMemUnmap(reserved, granularity); });
}

void ask_work_beside() {
    const Beside beside;
    CUevent event = nullptr;
    cuEventCreate(&event, CU_EVENT_DEFAULT);
    unsigned char byte = 0;
    const auto& scene = beside.scene;
    beside.during("event record elsewhere", [&] { return cuEventRecord(event, scene.third); });
    beside.during("query another stream", [&] { return cuStreamQuery(scene.third); });
    beside.during("synchronize another stream", [&] { return cuStreamSynchronize(scene.third); });
    beside.during("copy", [&] { return cuMemcpyDtoH(&byte, scene.memory, 1); });
    beside.during("fill", [&] { return cuMemsetD8(scene.memory, 1, 1); });
    beside.during("host function elsewhere",
                  [&] { return cuLaunchHostFunc(scene.third, [](void*) {}, nullptr); });
    beside.during("begin another capture", [&] {
        const CUresult code = cuStreamBeginCapture(scene.third, CU_STREAM_CAPTURE_MODE_GLOBAL);
        CUgraph other = nullptr;
        cuStreamEndCapture(scene.third, &other);
        return code;
    });
}

void ask_graphs_beside() {
    const Beside beside;
    CUgraph graph = nullptr;
    CUgraph clone = nullptr;
    CUgraphNode node = nullptr;
    CUgraphExec executable = nullptr;
    CUgraphExec known = nullptr;
    CUgraphExecUpdateResultInfo result{};
    const auto create = [&] { return cuGraphCreate(&graph, 0); };
    beside.during("create", create);
    beside.during("destroy", create, [&] { return cuGraphDestroy(graph); });
    create();
    const auto instantiate = [&] { return cuGraphInstantiate(&executable, graph, 0); };
    cuGraphInstantiate(&known, graph, 0);
    beside.during("clone", [&] { return cuGraphClone(&clone, graph); });
    beside.during("add a node", [&] { return cuGraphAddEmptyNode(&node, clone, nullptr, 0); });
    beside.during("instantiate", instantiate);
    beside.during("update", [&] { return cuGraphExecUpdate(known, graph, &result); });
    beside.during("destroy an executable", instantiate,
                  [&] { return cuGraphExecDestroy(executable); });
    beside.during("upload elsewhere", [&] { return cuGraphUpload(known, beside.scene.third); });
    beside.during("launch elsewhere", [&] { return cuGraphLaunch(known, beside.scene.third); });
}

} // namespace

const std::initializer_list<Group> CAPTURES{
    {"use of an invalidated capture", ask_use_of_invalidated},
    {"more use of an invalidated capture", ask_more_use_of_invalidated},
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
    {"end a joined capture on another thread", ask_end_joined_on_thread},
    {"destroy a capturing stream on another thread", ask_destroy_on_thread},
    {"a thread that ends while it captures", ask_thread_that_ends},
    {"the graph of a capture", ask_graph},
    {"a capture into a graph of the program", ask_graph_of_program},
    {"destroy a graph of the program in a capture", ask_destroyed_graph_of_program},
    {"destroy the stream that captures into a graph", ask_abandoned_graph_of_program},
    {"an unjoined capture into a graph", ask_unjoined_graph_of_program},
    {"end a capture into a graph on another thread", ask_graph_of_program_on_thread},
    {"an unwanted capture into a graph", ask_unwanted_graph_of_program},
    {"a capture into the body of a conditional node", ask_body},
    {"the graph of a relaxed capture", ask_graph_of_relaxed},
    {"launch a graph in a capture", ask_launch},
    {"objects beside a capture", ask_objects_beside},
    {"memory beside a capture", ask_memory_beside},
    {"memory pools beside a capture", ask_pools_beside},
    {"mappings beside a capture", ask_mappings_beside},
    {"work beside a capture", ask_work_beside},
    {"graphs beside a capture", ask_graphs_beside},
};

} // namespace answers
