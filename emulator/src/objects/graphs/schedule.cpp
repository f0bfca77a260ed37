// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/schedule.hpp"

#include "check/node_accesses.hpp"
#include "exec/engine.hpp"
#include "objects/devices/context.hpp"
#include "objects/graphs/graph_launch.hpp"
#include "objects/graphs/order_check.hpp"
#include "objects/graphs/work.hpp"
#include "objects/process/error.hpp"
#include "objects/process/log.hpp"

#include <algorithm>
#include <deque>
#include <unordered_map>

namespace cuprum::emulator {

/// Steps that became ready while another one was ending on this thread. The outermost caller starts
/// them one after the other: a long chain of short steps must not become a deep stack.
class ReadySteps {
public:
    /// Starts a step, now or when the caller that is already at it gets there.
    static void add(Schedule& schedule, std::uint32_t step) noexcept {
        collect([&] { here->push({&schedule, step}); });
    }

    /// Runs a function; steps that it makes ready start when it returns.
    template <typename Function>
    static void collect(Function&& function) noexcept {
        if (here != nullptr) {
            function();
            return;
        }
        ReadySteps ready;
        here = &ready;
        function();
        for (Entry next; ready.pop(next);) {
            next.schedule->start_one(next.step);
        }
        here = nullptr;
    }

private:
    struct Entry {
        Schedule* schedule = nullptr;
        std::uint32_t step = 0;
    };

    void push(Entry entry) {
        if (end_ < FEW) {
            few_[end_++] = entry;
        } else {
            more_.push_back(entry);
        }
    }

    bool pop(Entry& entry) {
        if (begin_ < end_) {
            entry = few_[begin_++];
        } else if (!more_.empty()) {
            entry = more_.front();
            more_.pop_front();
        } else {
            return false;
        }
        if (begin_ == end_) {
            begin_ = end_ = 0;
        }
        return true;
    }

    static constexpr std::uint32_t FEW = 8; // so many need no allocation
    static thread_local constinit ReadySteps* here;

    Entry few_[FEW];
    std::uint32_t begin_ = 0;
    std::uint32_t end_ = 0;
    std::deque<Entry> more_;
};

thread_local constinit ReadySteps* ReadySteps::here = nullptr;

Step::Step() = default;
Step::~Step() = default;

std::unique_ptr<Schedule> Schedule::make(const Graph& graph, const ScheduleOptions& options,
                                         GraphNode*& bad_node) {
    std::unique_ptr<Schedule> schedule(new Schedule);
    schedule->options_ = options;
    // Kahn's algorithm; nodes of equal rank keep the order in which they were made.
    std::unordered_map<const GraphNode*, std::uint32_t> index_of;
    std::unordered_map<const GraphNode*, std::size_t> waiting;
    std::vector<GraphNode*> order;
    for (const auto& node : graph.nodes()) {
        waiting[node.get()] = node->dependencies().size();
        if (node->dependencies().empty()) {
            order.push_back(node.get());
        }
    }
    for (std::size_t next = 0; next < order.size(); ++next) {
        index_of[order[next]] = static_cast<std::uint32_t>(next);
        for (const GraphEdge& edge : order[next]->dependents()) {
            if (--waiting[edge.node] == 0) {
                order.push_back(edge.node);
            }
        }
    }
    if (order.size() != graph.nodes().size()) {
        const auto stuck = std::ranges::find_if(
            graph.nodes(), [&](const auto& node) { return waiting[node.get()] != 0; });
        bad_node = stuck->get();
        fail(CUDA_ERROR_INVALID_VALUE, "the edges of the graph form a cycle through node " +
                                           std::to_string((*stuck)->number()) + ", " +
                                           emulator::describe((*stuck)->parameters()));
    }
    for (GraphNode* const node : order) {
        auto step = std::make_unique<Step>();
        step->id = node->id();
        step->number = node->number();
        step->parameters = node->parameters();
        for (const GraphEdge& edge : node->dependencies()) {
            step->dependencies.push_back(index_of.at(edge.node));
        }
        for (const GraphEdge& edge : node->dependents()) {
            step->successors.push_back(index_of.at(edge.node));
        }
        for_each_embedded(step->parameters, [&](const Graph& embedded) {
            step->bodies.push_back(make(embedded, options, bad_node));
        });
        if (step->dependencies.empty()) {
            schedule->roots_.push_back(static_cast<std::uint32_t>(schedule->steps_.size()));
        }
        bad_node = node;
        schedule->prepare(*step);
        bad_node = nullptr;
        schedule->steps_.push_back(std::move(step));
    }
    return schedule;
}

std::unique_ptr<Schedule> Schedule::copy() const {
    std::unique_ptr<Schedule> result(new Schedule);
    result->options_ = options_;
    result->roots_ = roots_;
    for (const auto& step : steps_) {
        auto copied = std::make_unique<Step>();
        copied->id = step->id;
        copied->number = step->number;
        copied->parameters = step->parameters;
        copied->is_enabled = step->is_enabled;
        copied->dependencies = step->dependencies;
        copied->successors = step->successors;
        for (const auto& body : step->bodies) {
            copied->bodies.push_back(body->copy());
        }
        result->prepare(*copied);
        result->steps_.push_back(std::move(copied));
    }
    return result;
}

void Schedule::begin(const std::shared_ptr<GraphLaunch>& launch) {
    if (is_order_checked()) {
        forget_accesses(*this);
        forget_runs();
    }
    launch_ = launch.get();
    launch_to_end_ = launch;
    parent_ = nullptr;
    start_all();
}

void Schedule::begin_within(Schedule& parent, std::uint32_t step) {
    launch_ = parent.launch_;
    parent_ = &parent;
    parent_step_ = step;
    start_all();
}

void Schedule::complete(std::uint32_t index) noexcept {
    ReadySteps::collect([&] {
        for (const std::uint32_t successor : steps_[index]->successors) {
            if (steps_[successor]->pending.fetch_sub(1, std::memory_order_acq_rel) == 1) {
                ReadySteps::add(*this, successor);
            }
        }
        if (remaining_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            end();
        }
    });
}

void Schedule::replace(Step& step, NodeParameters parameters) {
    std::swap(step.parameters, parameters);
    try {
        step.work = make_work(*this, step);
    } catch (...) {
        std::swap(step.parameters, parameters);
        throw;
    }
}

std::string Schedule::describe(std::uint32_t index) const {
    const Step& step = *steps_[index];
    std::string text = "node " + std::to_string(step.number) + ", " +
                       emulator::describe(step.parameters) + ", of a graph";
    if (parent_ != nullptr) {
        text += " in " + parent_->describe(parent_step_);
    }
    return text;
}

void Schedule::fail_step(std::uint32_t index, CUresult code, const std::string& report) noexcept {
    const std::string text = report + "\n  in " + describe(index) + launch_->describe_origin();
    const auto context = context_of(steps_[index]->parameters);
    if (context != nullptr && context->errors().get() != &launch_->error_state()) {
        context->errors()->set(code, text);
    }
    if (launch_->error_state().set(code, text)) {
        log(LogLevel::Error, text);
    }
}

/// Records the exception that is being handled as the error of a step.
void Schedule::fail_with_exception(std::uint32_t step) noexcept {
    try {
        throw;
    } catch (const DriverError& error) {
        fail_step(step, error.code(), error.what());
    } catch (const std::bad_alloc&) {
        fail_step(step, CUDA_ERROR_OUT_OF_MEMORY, "out of host memory");
    } catch (const std::exception& error) {
        fail_step(step, CUDA_ERROR_UNKNOWN,
                  std::string("a graph failed, please report this: ") + error.what());
    }
}

void Schedule::repeat(std::uint32_t step) {
    if (!exec::Engine::instance().post([this, step] { ReadySteps::add(*this, step); })) {
        fail_step(step, CUDA_ERROR_DEINITIALIZED, "the process exits while a loop still runs");
        complete(step);
    }
}

void Schedule::forget_runs() noexcept {
    launch_ = nullptr;
    for (const auto& step : steps_) {
        for (const auto& body : step->bodies) {
            body->forget_runs();
        }
    }
}

bool Schedule::note_pair(std::uint32_t one, std::uint32_t other) {
    return noted_.insert(std::minmax(one, other)).second;
}

/// Makes the work of a step.
void Schedule::prepare(Step& step) {
    if (is_order_checked() && std::holds_alternative<KernelParameters>(step.parameters)) {
        step.accesses = std::make_unique<check::NodeAccesses>();
    }
    step.work = make_work(*this, step);
}

void Schedule::start_all() noexcept {
    if (steps_.empty()) {
        end();
        return;
    }
    remaining_.store(static_cast<std::uint32_t>(steps_.size()), std::memory_order_relaxed);
    for (const auto& step : steps_) {
        step->pending.store(static_cast<std::uint32_t>(step->dependencies.size()),
                            std::memory_order_relaxed);
    }
    std::atomic_thread_fence(std::memory_order_release);
    // NOTE: the schedule may be done, and gone, before the last root has been added: once all of
    // them are, nothing is touched.
    ReadySteps::collect([&] {
        for (const std::uint32_t root : roots_) {
            ReadySteps::add(*this, root);
        }
    });
}

void Schedule::start_one(std::uint32_t index) noexcept {
    Step& step = *steps_[index];
    bool is_done = true;
    // What comes after an error does not run, but must end: others wait for it.
    if (step.is_enabled && launch_->error_state().get() == CUDA_SUCCESS) {
        attempt(index, [&] { is_done = step.work->start(*this, index); });
    } else {
        launch_->skip_step(step);
    }
    if (is_done) {
        complete(index);
    }
}

void Schedule::end() noexcept {
    if (parent_ != nullptr) {
        auto& work = static_cast<EmbeddingWork&>(*parent_->steps_[parent_step_]->work);
        work.body_ended(*parent_, parent_step_);
        return;
    }
    const auto launch = std::move(launch_to_end_);
    if (is_order_checked() && launch->error_state().get() == CUDA_SUCCESS) {
        report_unordered(*this);
    }
    launch->end(); // `this` may be gone afterwards
}

} // namespace cuprum::emulator
