// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The work of every type of node, as it runs in a launch.

#include "objects/graphs/work.hpp"

#include "exec/engine.hpp"
#include "objects/code/child_launches.hpp"
#include "objects/code/launch.hpp"
#include "objects/devices/context.hpp"
#include "objects/devices/device.hpp"
#include "objects/graphs/graph_launch.hpp"
#include "objects/graphs/graph_memory.hpp"
#include "objects/memory/allocations.hpp"
#include "objects/memory/copy.hpp"
#include "objects/memory/memory_gate.hpp"
#include "objects/process/error.hpp"
#include "objects/process/host_threads.hpp"

#include <optional>
#include <sstream>

namespace cuprum::emulator {

namespace {

class EmptyWork final : public Work {
public:
    bool start(Schedule& /*schedule*/, std::uint32_t /*step*/) override { return true; }
};

/// A grid that is made once and runs many times.
class KernelWork final : public KernelNodeWork {
public:
    KernelWork(const KernelParameters& parameters, const ScheduleOptions& options,
               check::NodeAccesses* accesses)
        : errors_of_(parameters.context) {
        const LaunchRequest request = parameters.request();
        check_launch(*parameters.function, *parameters.context,
                     parameters.context->device().sm_count(), request);
        auto prepared = prepare_launch(*parameters.function, *parameters.context, 0, request);
        module_ = std::move(prepared.module);
        workspace_ = std::move(prepared.workspace);
        if (options.uses_node_priority) {
            priority_ = request.priority.value_or(0);
        }
        prepared.grid.grid_id = next_grid_id();
        prepared.grid.accesses = accesses;
        prepared.grid.graph_work = static_cast<KernelNodeWork*>(this);
        prepared.grid.describe_launch = [this] {
            return "\n  in " + schedule_->describe(step_) + schedule_->launch().describe_origin();
        };
        auto done = with_children(prepared.grid, [this](const Fault* fault) { end(fault); });
        grid_ = exec::Engine::prepare(std::move(prepared.grid), std::move(done));
    }

    bool start(Schedule& schedule, std::uint32_t step) override {
        schedule_ = &schedule;
        step_ = step;
        exec::Engine::instance().start(grid_,
                                       priority_.value_or(schedule.launch().stream_priority()));
        return false;
    }

    [[nodiscard]] Schedule& running() const noexcept override { return *schedule_; }

private:
    void end(const Fault* fault) noexcept {
        if (fault != nullptr) {
            const auto errors = errors_of_->errors();
            if (errors.get() != &schedule_->launch().error_state()) {
                schedule_->launch().error_state().set(code_of_fault(fault->kind), fault->report);
            }
            report_fault(*errors, errors_of_->device().ordinal(), fault);
        }
        schedule_->complete(step_); // `this` may be gone afterwards
    }

    std::shared_ptr<Context> errors_of_;
    std::shared_ptr<Module> module_;
    std::shared_ptr<const Allocation> workspace_;
    std::shared_ptr<exec::Grid> grid_;
    std::optional<int> priority_; // of the node, if the graph runs by those
    Schedule* schedule_ = nullptr;
    std::uint32_t step_ = 0;
};

std::string at_address(std::uint64_t address) {
    std::ostringstream out;
    out << "0x" << std::hex << address;
    return out.str();
}

/// A copy or a fill.
template <typename Shape>
class TransferWork final : public Work {
public:
    explicit TransferWork(const Shape& shape) : shape_(shape), is_quick_(is_quick(shape)) {}

    bool start(Schedule& schedule, std::uint32_t step) override {
        const auto run_and_complete = [this, &schedule, step] {
            schedule.attempt(step, [&] { run(schedule, step); });
            schedule.complete(step);
        };
        if (!is_quick_ && exec::Engine::instance().post(run_and_complete)) {
            return false;
        }
        run(schedule, step); // it is quick, or the process exits
        return true;
    }

private:
    void run(Schedule& schedule, std::uint32_t step) const {
        std::uint64_t lost = 0;
        if (!is_still_there(shape_, lost)) {
            schedule.fail_step(step, CUDA_ERROR_ILLEGAL_ADDRESS,
                               "the memory at " + at_address(lost) +
                                   " was freed or is not allocated" +
                                   Allocations::instance().describe(lost));
            return;
        }
        const auto pass = MemoryGate::instance().pass();
        perform(shape_);
    }

    Shape shape_;
    bool is_quick_;
};

class HostWork final : public Work {
public:
    explicit HostWork(const HostParameters& parameters) : parameters_(parameters) {
        HostThreads::instance().start_thread();
    }

    bool start(Schedule& schedule, std::uint32_t step) override {
        HostThreads::instance().run([this, &schedule, step] {
            const std::string report =
                call_host_function([&] { parameters_.function(parameters_.data); });
            if (!report.empty()) {
                schedule.fail_step(step, CUDA_ERROR_LAUNCH_FAILED, report);
            }
            schedule.complete(step);
        });
        return false;
    }

private:
    HostParameters parameters_;
};

class RecordWork final : public Work {
public:
    bool start(Schedule& schedule, std::uint32_t step) override {
        schedule.launch().record(schedule.step(step));
        return true;
    }
};

/// Ends a step when another operation is done.
class WaitingStep final : public Operation {
public:
    WaitingStep(std::shared_ptr<ErrorState> errors, Schedule& schedule, std::uint32_t step)
        : Operation(std::move(errors)), schedule_(schedule), step_(step) {}

protected:
    void start() noexcept override {
        finish();
        schedule_.complete(step_);
    }

    void skip() noexcept override { start(); }

private:
    Schedule& schedule_;
    std::uint32_t step_;
};

class WaitWork final : public Work {
public:
    bool start(Schedule& schedule, std::uint32_t step) override {
        const auto awaited = schedule.launch().awaited_by(schedule.step(step));
        if (awaited == nullptr) {
            return true;
        }
        const auto waiting =
            std::make_shared<WaitingStep>(schedule.launch().shared_errors(), schedule, step);
        waiting->depend_on(awaited);
        waiting->submit();
        return false;
    }
};

class AllocWork final : public Work {
public:
    explicit AllocWork(std::shared_ptr<GraphMemory> memory) : memory_(std::move(memory)) {}

    bool start(Schedule& /*schedule*/, std::uint32_t /*step*/) override {
        memory_->open();
        return true;
    }

private:
    std::shared_ptr<GraphMemory> memory_;
};

class FreeWork final : public Work {
public:
    explicit FreeWork(std::shared_ptr<GraphMemory> memory) : memory_(std::move(memory)) {}

    bool start(Schedule& /*schedule*/, std::uint32_t /*step*/) override {
        memory_->close();
        return true;
    }

private:
    std::shared_ptr<GraphMemory> memory_;
};

/// A graph inside a node: runs once.
class ChildWork final : public EmbeddingWork {
public:
    bool start(Schedule& schedule, std::uint32_t step) override {
        schedule.step(step).bodies.front()->begin_within(schedule, step);
        return false;
    }

    void body_ended(Schedule& schedule, std::uint32_t step) override { schedule.complete(step); }
};

/// Chooses the work of each type of parameters.
struct Maker {
    const ScheduleOptions& options;
    check::NodeAccesses* accesses;

    std::unique_ptr<Work> operator()(const EmptyParameters& /*unused*/) const {
        return std::make_unique<EmptyWork>();
    }

    std::unique_ptr<Work> operator()(const KernelParameters& parameters) const {
        return std::make_unique<KernelWork>(parameters, options, accesses);
    }

    std::unique_ptr<Work> operator()(const MemcpyParameters& parameters) const {
        return std::make_unique<TransferWork<Copy>>(parameters.copy);
    }

    std::unique_ptr<Work> operator()(const MemsetParameters& parameters) const {
        return std::make_unique<TransferWork<Fill>>(parameters.fill);
    }

    std::unique_ptr<Work> operator()(const HostParameters& parameters) const {
        return std::make_unique<HostWork>(parameters);
    }

    std::unique_ptr<Work> operator()(const RecordParameters& /*unused*/) const {
        return std::make_unique<RecordWork>();
    }

    std::unique_ptr<Work> operator()(const WaitParameters& /*unused*/) const {
        return std::make_unique<WaitWork>();
    }

    std::unique_ptr<Work> operator()(const ChildParameters& /*unused*/) const {
        return std::make_unique<ChildWork>();
    }

    std::unique_ptr<Work> operator()(const AllocParameters& parameters) const {
        return std::make_unique<AllocWork>(parameters.memory);
    }

    std::unique_ptr<Work> operator()(const FreeParameters& parameters) const {
        return std::make_unique<FreeWork>(parameters.memory);
    }

    std::unique_ptr<Work> operator()(const BatchParameters& parameters) const {
        return make_batch_work(parameters);
    }

    std::unique_ptr<Work> operator()(const ConditionalParameters& parameters) const {
        return make_conditional_work(parameters);
    }

    std::unique_ptr<Work> operator()(const SemaphoreSignals& parameters) const {
        return make_semaphore_work(parameters);
    }

    std::unique_ptr<Work> operator()(const SemaphoreWaits& parameters) const {
        return make_semaphore_work(parameters);
    }
};

} // namespace

std::unique_ptr<Work> make_work(Schedule& schedule, const Step& step) {
    return std::visit(Maker{schedule.options(), step.accesses.get()}, step.parameters);
}

} // namespace cuprum::emulator
