// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/executable.hpp"

#include "objects/devices/context.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/graphs/conditional.hpp"
#include "objects/graphs/device_launch.hpp"
#include "objects/graphs/graph_launch.hpp"
#include "objects/graphs/graph_memory.hpp"
#include "objects/graphs/update.hpp"
#include "objects/process/error.hpp"
#include "objects/streams/stream.hpp"

#include <algorithm>
#include <map>
#include <string>

namespace cuprum::emulator {

namespace {

constexpr cuuint64_t KNOWN_FLAGS =
    CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

using Failure = GraphExecutable::Failure;

/// Checks what the body of a conditional node may contain.
void check_body(const Graph& body, Failure& failure) {
    for (const auto& node : body.nodes()) {
        const CUgraphNodeType type = node->type();
        const bool is_allowed =
            type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_EMPTY ||
            type == CU_GRAPH_NODE_TYPE_GRAPH || type == CU_GRAPH_NODE_TYPE_MEMSET ||
            type == CU_GRAPH_NODE_TYPE_MEMCPY || type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
        if (!is_allowed) {
            failure = {CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, node.get()};
            fail(CUDA_ERROR_INVALID_VALUE, std::string("a node of type '") + name_of(type) +
                                               "' cannot be in the body of a conditional node");
        }
        for_each_embedded(node->parameters(),
                          [&](const Graph& embedded) { check_body(embedded, failure); });
    }
}

/// Checks the bodies of all conditional nodes, and that every handle has its node.
void check_conditionals(Graph& graph, Failure& failure) {
    for (const auto& variable : graph.variables()) {
        if (!variable->is_used) {
            failure = {CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED, nullptr};
            fail(CUDA_ERROR_INVALID_VALUE, "a conditional handle of the graph belongs to no "
                                           "conditional node");
        }
    }
    for (const auto& node : graph.nodes()) {
        if (node->type() == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
            for_each_embedded(node->parameters(),
                              [&](const Graph& body) { check_body(body, failure); });
        }
    }
}

/// Checks what a graph that kernels can launch may contain.
void check_for_device(const Graph& graph, Failure& failure) {
    bool has_work = false;
    const Context* context = nullptr;
    for (const auto& node : graph.nodes()) {
        const CUgraphNodeType type = node->type();
        const bool works = type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
                           type == CU_GRAPH_NODE_TYPE_MEMSET;
        if (!works && type != CU_GRAPH_NODE_TYPE_GRAPH) {
            failure = {CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED, node.get()};
            fail(CUDA_ERROR_NOT_SUPPORTED, std::string("a node of type '") + name_of(type) +
                                               "' cannot be in a graph that kernels launch");
        }
        has_work |= works || type == CU_GRAPH_NODE_TYPE_GRAPH;
        const auto own = context_of(node->parameters());
        if (own != nullptr && context != nullptr && own.get() != context) {
            failure = {CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED, node.get()};
            fail(CUDA_ERROR_NOT_SUPPORTED,
                 "the nodes of a graph that kernels launch must be of one context");
        }
        context = own != nullptr ? own.get() : context;
        for_each_embedded(node->parameters(),
                          [&](const Graph& embedded) { check_for_device(embedded, failure); });
    }
    if (!has_work) {
        failure = {CUDA_GRAPH_INSTANTIATE_ERROR, nullptr};
        fail(CUDA_ERROR_INVALID_VALUE, "a graph that kernels launch must not be empty");
    }
}

std::shared_ptr<const UserReferences> references_of(const Graph& graph) {
    auto references = std::make_shared<UserReferences>();
    graph.collect_references(*references);
    return references;
}

} // namespace

std::shared_ptr<GraphExecutable> GraphExecutable::create(Graph& graph, cuuint64_t flags,
                                                         Failure& failure) {
    require((flags & ~KNOWN_FLAGS) == 0, "unknown flags");
    const bool is_for_device = (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0;
    require(!is_for_device || (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) == 0,
            "a graph that kernels launch cannot free memory on launch");
    graph.check_own("instantiated");
    const bool is_only_one = graph.is_unique();
    if (is_only_one && !graph.only_executable().expired()) {
        fail(CUDA_ERROR_NOT_SUPPORTED,
             "a graph with allocation, free or conditional nodes can have one executable graph at "
             "a time: destroy the other one first");
    }
    check_conditionals(graph, failure);
    if (is_for_device) {
        check_for_device(graph, failure);
        enable_device_launches();
    }
    std::shared_ptr<GraphExecutable> executable(new GraphExecutable);
    executable->flags_ = flags & ~cuuint64_t{CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD};
    const ScheduleOptions options{(flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) != 0};
    try {
        executable->schedule_ = Schedule::make(graph, options, failure.node);
    } catch (...) {
        if (failure.node != nullptr) {
            failure.result = CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE;
        }
        throw;
    }
    executable->references_ = references_of(graph);
    executable->find_memory();
    executable->note_contents();
    HandleTable::instance().insert(HandleKind::GraphExecutable, executable);
    if (is_only_one) {
        graph.only_executable() = executable;
    }
    return executable;
}

void GraphExecutable::upload(Stream& stream) {
    Capture::refuse_on(stream, "a graph cannot be uploaded to a stream that is capturing");
    const std::lock_guard lock(mutex_);
    for (const auto& list : {allocated_, within_}) {
        std::ranges::for_each(list, [](const auto& memory) { memory->back(); });
    }
    if (last_launch_ != nullptr) { // an upload is ordered behind all launches
        const auto order = std::make_shared<Marker>(stream.context().errors());
        order->depend_on(last_launch_);
        stream.enqueue(order);
    }
}

void GraphExecutable::launch(Stream& stream) {
    Capture::refuse_on(stream, "launches of executable graphs cannot be captured: add the graph as "
                               "a child graph node");
    stream.check_open();
    const std::lock_guard lock(mutex_);
    std::ranges::for_each(contexts_, [](const auto& context) { context->check_usable(); });
    for (const auto& memory : allocated_) {
        require(frees_on_launch() || !memory->is_allocated(),
                "memory that the graph allocated in an earlier launch has not been freed: free it, "
                "or instantiate with CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH");
    }
    for (const auto& memory : freed_) {
        require(memory->is_allocated(), "memory that the graph frees is not allocated");
    }
    std::vector<std::shared_ptr<GraphMemory>> used;
    for (const auto& list : {allocated_, within_, freed_}) {
        for (const auto& memory : list) {
            memory->back();
            used.push_back(memory);
        }
    }
    const auto launch =
        std::make_shared<GraphLaunch>(stream.context().errors(), schedule_, references_,
                                      std::move(used), variables_, stream.priority());
    launch->set_executable_handle(handle_value());
    std::ranges::for_each(allocated_, [](const auto& memory) { memory->note_launch(false); });
    std::ranges::for_each(freed_, [](const auto& memory) { memory->note_free(); });
    if (has_events_) {
        launch->take_events();
    }
    launch->depend_on(last_launch_);
    launch->depend_on(last_kernel_launch_);
    last_launch_ = launch;
    stream.enqueue(launch);
}

void GraphExecutable::launch_for(const std::shared_ptr<GraphLaunch>& parent,
                                 const GraphLaunch* done) {
    const std::lock_guard lock(mutex_);
    // A launch by the program may be behind the parent on its stream, so this one cannot wait for
    // it. It runs a copy instead.
    const bool has_other = last_launch_ != nullptr && !last_launch_->is_done();
    const bool goes_on = done != nullptr && done->executable_handle() == handle_value();
    // Graphs that kernels launch have no memory, condition or event nodes.
    const auto launch = std::make_shared<GraphLaunch>(
        parent->shared_errors(), has_other && !goes_on ? schedule_->copy() : schedule_, references_,
        std::vector<std::shared_ptr<GraphMemory>>{},
        std::vector<std::shared_ptr<ConditionalVariable>>{}, parent->stream_priority());
    launch->set_parent(parent);
    launch->set_executable_handle(handle_value());
    // A launch that goes on with itself has its place already: all later ones depend on `done`, and
    // one of them may be behind it on the same stream.
    if (!goes_on) {
        launch->depend_on(last_kernel_launch_);
        last_kernel_launch_ = launch;
    }
    launch->submit();
}

void GraphExecutable::set_parameters(const GraphNode& node, NodeParameters parameters) {
    const std::lock_guard lock(mutex_);
    if (auto* kernel = std::get_if<KernelParameters>(&parameters)) {
        if (const auto* old = std::get_if<KernelParameters>(&find(node).parameters)) {
            kernel->attributes = old->attributes;
        }
    }
    const CUgraphExecUpdateResult result = compare(find(node), parameters, schedule_->options());
    require(result == CU_GRAPH_EXEC_UPDATE_SUCCESS,
            "the parameters differ from those of the node in what cannot change");
    make_writable();
    Schedule* owner = nullptr;
    Step& step = find(node, &owner);
    const auto context = context_of(step.parameters);
    owner->replace(step, std::move(parameters));
    // The rest does not change: not for each of many nodes.
    if (context_of(step.parameters) != context ||
        std::holds_alternative<ConditionalParameters>(step.parameters)) {
        note_contents();
    }
}

void GraphExecutable::set_child(const GraphNode& node, const Graph& graph) {
    const std::lock_guard lock(mutex_);
    require(find(node).bodies.size() == 1 &&
                std::holds_alternative<ChildParameters>(find(node).parameters),
            "the node is no child graph node");
    CUgraphExecUpdateResultInfo info{};
    auto updated = make_updated(*find(node).bodies.front(), graph, info);
    if (updated == nullptr) {
        fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
             "the graph differs from the child graph in more than parameters");
    }
    make_writable();
    find(node).bodies.front() = std::move(updated);
    steps_.clear();
    auto references = std::make_shared<UserReferences>(*references_);
    graph.collect_references(*references);
    references_ = std::move(references);
    note_contents();
}

void GraphExecutable::set_enabled(const GraphNode& node, bool is_enabled) {
    const std::lock_guard lock(mutex_);
    const CUgraphNodeType type = type_of(find(node).parameters);
    require(type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
                type == CU_GRAPH_NODE_TYPE_MEMSET,
            "only kernel, copy and set nodes can be disabled");
    if (find(node).is_enabled != is_enabled) {
        make_writable();
        find(node).is_enabled = is_enabled;
    }
}

bool GraphExecutable::is_enabled(const GraphNode& node) {
    const std::lock_guard lock(mutex_);
    const CUgraphNodeType type = type_of(find(node).parameters);
    require(type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
                type == CU_GRAPH_NODE_TYPE_MEMSET,
            "only kernel, copy and set nodes can be disabled");
    return find(node).is_enabled;
}

void GraphExecutable::update(Graph& graph, CUgraphExecUpdateResultInfo& info) {
    info = {CU_GRAPH_EXEC_UPDATE_ERROR, nullptr, nullptr};
    graph.check_own("used for an update");
    const std::lock_guard lock(mutex_);
    auto updated = make_updated(*schedule_, graph, info);
    if (updated == nullptr) {
        fail(CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE,
             "the graph differs from the executable one in more than parameters");
    }
    // Whoever still runs the old schedule keeps it, and the user objects with it.
    set_schedule(std::move(updated));
    references_ = references_of(graph);
    note_contents();
}

/// Makes sure that no launch uses the schedule, which is about to change.
void GraphExecutable::make_writable() {
    if (schedule_.use_count() > 1) {
        set_schedule(schedule_->copy());
    }
}

void GraphExecutable::set_schedule(std::shared_ptr<Schedule> schedule) {
    schedule_ = std::move(schedule);
    steps_.clear();
}

Step& GraphExecutable::find(const GraphNode& node, Schedule** owner) {
    if (steps_.empty()) {
        schedule_->for_each_with_owner([&](Schedule& schedule, Step& step) {
            steps_.emplace(step.id, std::pair(&schedule, &step));
        });
    }
    const auto found = steps_.find(node.id());
    require(found != steps_.end(), "the executable graph was not made from the graph of this node, "
                                   "or the node was added later");
    if (owner != nullptr) {
        *owner = found->second.first;
    }
    return *found->second.second;
}

void GraphExecutable::find_memory() {
    std::map<std::shared_ptr<GraphMemory>, int> open; // allocations less frees
    std::map<std::shared_ptr<GraphMemory>, bool> is_own;
    schedule_->for_each([&](const Step& step) {
        if (const auto* alloc = std::get_if<AllocParameters>(&step.parameters)) {
            ++open[alloc->memory];
            is_own[alloc->memory] = true;
        } else if (const auto* free = std::get_if<FreeParameters>(&step.parameters)) {
            --open[free->memory];
        }
    });
    for (const auto& [memory, count] : open) {
        (count > 0 ? allocated_ : is_own[memory] ? within_ : freed_).push_back(memory);
    }
}

void GraphExecutable::note_contents() {
    contexts_.clear();
    variables_.clear();
    has_events_ = false;
    schedule_->for_each([&](const Step& step) {
        auto context = context_of(step.parameters);
        if (context != nullptr && std::ranges::find(contexts_, context) == contexts_.end()) {
            contexts_.push_back(std::move(context));
        }
        if (const auto* conditional = std::get_if<ConditionalParameters>(&step.parameters)) {
            variables_.push_back(conditional->variable);
        }
        has_events_ |= std::holds_alternative<RecordParameters>(step.parameters) ||
                       std::holds_alternative<WaitParameters>(step.parameters);
    });
}

} // namespace cuprum::emulator
