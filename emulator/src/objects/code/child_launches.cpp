// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/code/child_launches.hpp"

#include "builtins/heap.hpp"
#include "builtins/kernel_launches.hpp"
#include "bytecode/readable_name.hpp"
#include "exec/block.hpp"
#include "exec/grid.hpp"
#include "interp/random.hpp"
#include "objects/code/module.hpp"
#include "objects/devices/context.hpp"
#include "objects/devices/device.hpp"
#include "objects/memory/copy.hpp"
#include "objects/process/error.hpp"
#include "objects/process/log.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>
#include <vector>

namespace cuprum::emulator {

namespace {

using builtins::LauncherQuestion;
using builtins::LaunchHeader;

constexpr std::uint64_t TAIL_STREAM = 3; // cudaStreamTailLaunch
// A GPU has room for 2048 launches that have not started, unless a limit says more. Here none
// starts before the grid has ended, so more of them wait.
constexpr std::size_t LEAST_ROOM = 16'384;
constexpr std::uint32_t MOST_LEVELS = 24; // as on GPUs

// Errors of the runtime API.
constexpr std::uint32_t INVALID_VALUE = 1;
constexpr std::uint32_t OUT_OF_MEMORY = 2;
constexpr std::uint32_t INVALID_CONFIGURATION = 9;
constexpr std::uint32_t TOO_DEEP = 65;
constexpr std::uint32_t TOO_MANY = 69;
constexpr std::uint32_t INVALID_FUNCTION = 98;

constexpr const char* NOT_A_LAUNCH =
    "the address of the arguments does not come from cudaGetParameterBufferV2, or was used already";

/// Runs the launches of grids, and calls a function after the last one. Keeps itself alive.
class ChildRunner : public std::enable_shared_from_this<ChildRunner> {
public:
    explicit ChildRunner(std::function<void(const Fault*)> done) : done_(std::move(done)) {}

    void run(ChildLaunches::Queues queues) {
        levels_.push_back(std::move(queues));
        while (!levels_.empty()) {
            auto& [first, tail] = levels_.back();
            auto& queue = first.empty() ? tail : first;
            if (queue.empty()) {
                levels_.pop_back();
                continue;
            }
            ChildLaunches::Work work = std::move(queue.front());
            queue.pop_front();
            if (auto* const launch = std::get_if<PreparedLaunch>(&work)) {
                running_ = std::move(*launch);
                start();
                return;
            }
            std::get<std::function<void()>>(work)();
        }
        done_(nullptr);
    }

private:
    void start() {
        auto children = running_.grid.children;
        exec::Engine::instance().submit(
            std::move(running_.grid),
            [self = shared_from_this(), children = std::move(children)](const Fault* fault) {
                self->running_ = {};
                if (fault != nullptr) {
                    self->levels_.clear(); // before the host can know that the grid is done
                    self->done_(fault);
                } else {
                    self->run(children == nullptr
                                  ? ChildLaunches::Queues{}
                                  : static_cast<ChildLaunches*>(children.get())->take());
                }
            });
    }

    std::function<void(const Fault*)> done_;
    PreparedLaunch running_;                    // its module and workspace
    std::vector<ChildLaunches::Queues> levels_; // what is left of each grid that was started
};

const exec::GridLaunch& launch_of(const BlockContext& block) {
    return static_cast<const exec::Block*>(block.owner)->grid().launch();
}

/// Returns the launches of a block's grid. Kernels that use the heap always have them.
ChildLaunches& launches_of(const BlockContext& block) {
    return *static_cast<ChildLaunches*>(launch_of(block).children.get());
}

/// Returns the number of a thread in its grid.
std::uint64_t number_of(const BlockContext& block, std::uint32_t thread) {
    const std::uint64_t number =
        (std::uint64_t{block.index[2]} * block.grid[1] + block.index[1]) * block.grid[0] +
        block.index[0];
    return number * block.thread_count + thread;
}

/// Returns the id of the grid that a grid launches after `earlier` others. It differs from all ids
/// of the host's launches, and very probably from those of other kernels.
std::uint64_t child_id(std::uint64_t parent_id, std::uint64_t earlier) {
    constexpr std::uint64_t of_a_child = std::uint64_t{1} << 63;
    return mix(mix(parent_id) + earlier) | of_a_child;
}

/// Notes why a launch failed. nvcc's code ignores the result of a launch, so a log line says it
/// too.
std::uint32_t refuse(const BlockContext& block, std::uint32_t thread, std::uint32_t error,
                     const std::string& why) {
    if (launches_of(block).set_error(number_of(block, thread), error)) {
        log(LogLevel::Warn, "kernel " + bytecode::readable_name(block.kernel->name) +
                                " cannot launch this: " + why);
    }
    return error;
}

/// Calls a function that adds a launch. Returns an error, `invalid` for INVALID_VALUE.
template <typename Add>
std::uint32_t try_adding(const BlockContext& block, std::uint32_t thread, std::uint32_t invalid,
                         Add add) {
    ChildLaunches& own = launches_of(block);
    if (const std::size_t count = own.count(); count >= own.most()) {
        return refuse(block, thread, TOO_MANY,
                      "the grid has launched " + std::to_string(count) +
                          " times, and the launches start when it ends; raise "
                          "CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT");
    }
    try {
        add();
    } catch (const DriverError& error) {
        return refuse(block, thread,
                      error.code() == CUDA_ERROR_INVALID_VALUE
                          ? invalid
                          : static_cast<std::uint32_t>(error.code()),
                      error.what());
    } catch (const std::bad_alloc&) {
        return refuse(block, thread, OUT_OF_MEMORY, "the host has no memory left");
    }
    return 0;
}

std::uint64_t make(const BlockContext& block, std::uint32_t thread, std::uint64_t kernel) {
    const auto function = launches_of(block).find(kernel);
    if (function == nullptr) {
        (void)refuse(block, thread, INVALID_FUNCTION, "the address is not that of a kernel");
        return 0;
    }
    const std::uint64_t bytes = sizeof(LaunchHeader) + function->kernel()->parameter_bytes;
    const std::uint64_t address = block.heap == nullptr ? 0 : block.heap->allocate(bytes);
    if (address == 0) {
        (void)refuse(block, thread, OUT_OF_MEMORY,
                     "the heap of the device is full; raise CU_LIMIT_MALLOC_HEAP_SIZE");
        return 0;
    }
    if (block.observer != nullptr) {
        block.observer->allocated(address, bytes);
    }
    reinterpret_cast<LaunchHeader*>(address)->kernel = kernel;
    return address;
}

std::uint32_t launch_child(const BlockContext& block, std::uint32_t thread, std::uint64_t address,
                           std::uint64_t stream) {
    const std::uint64_t there = block.heap == nullptr ? 0 : block.heap->bytes_from(address);
    if (there < sizeof(LaunchHeader)) {
        return refuse(block, thread, INVALID_VALUE, NOT_A_LAUNCH);
    }
    ChildLaunches& own = launches_of(block);
    LaunchHeader header{};
    std::memcpy(&header, reinterpret_cast<const void*>(address), sizeof header);
    const auto function = own.find(header.kernel);
    const std::uint32_t bytes = function == nullptr ? 0 : function->kernel()->parameter_bytes;
    if (function == nullptr || there < sizeof header + bytes) {
        return refuse(block, thread, INVALID_VALUE, "the launch was overwritten");
    }
    std::vector<std::byte> arguments;
    const std::uint32_t lack = try_adding(block, thread, INVALID_CONFIGURATION, [&] {
        const auto* const first = reinterpret_cast<const std::byte*>(address) + sizeof header;
        arguments.assign(first, first + bytes);
    });
    // Give the memory back in any case. Only one thread succeeds, and launches.
    if (!block.heap->release(address)) {
        return refuse(block, thread, INVALID_VALUE, NOT_A_LAUNCH);
    }
    if (lack != 0) {
        return lack;
    }
    if (own.depth() >= MOST_LEVELS) {
        return refuse(block, thread, TOO_DEEP,
                      "kernels launch each other more than " + std::to_string(MOST_LEVELS) +
                          " levels deep");
    }
    return try_adding(block, thread, INVALID_CONFIGURATION, [&] {
        LaunchRequest request;
        std::ranges::copy(header.grid, request.grid);
        std::ranges::copy(header.block, request.block);
        request.shared_bytes = header.shared_bytes;
        request.packed = arguments;
        own.add(*function, request, launch_of(block), stream == TAIL_STREAM);
    });
}

/// Adds a copy or fill of device memory.
template <typename Shape>
std::uint32_t add_transfer(const BlockContext& block, std::uint32_t thread, const Shape& shape,
                           std::uint64_t stream) {
    if (is_empty(shape)) {
        return 0;
    }
    return try_adding(block, thread, INVALID_VALUE, [&] {
        check_before(shape, launch_of(block).device);
        launches_of(block).add([shape] { perform(shape); }, stream == TAIL_STREAM);
    });
}

std::uint32_t copy_later(const BlockContext& block, std::uint32_t thread, std::uint64_t to,
                         std::uint64_t from, std::uint64_t bytes, std::uint64_t stream) {
    return add_transfer(block, thread,
                        linear_copy(to, CopyEnd::Device, from, CopyEnd::Device, bytes), stream);
}

std::uint32_t fill_later(const BlockContext& block, std::uint32_t thread, std::uint64_t to,
                         std::uint8_t byte, std::uint64_t bytes, std::uint64_t stream) {
    Fill fill;
    fill.address = to;
    fill.pitch_bytes = bytes;
    fill.value = byte;
    fill.element_bytes = 1;
    fill.width = bytes;
    fill.height = 1;
    return add_transfer(block, thread, fill, stream);
}

std::uint32_t ask(const BlockContext& block, std::uint32_t thread, LauncherQuestion question) {
    if (question == LauncherQuestion::Device) {
        return static_cast<std::uint32_t>(launch_of(block).device);
    }
    return launches_of(block).error(number_of(block, thread),
                                    question == LauncherQuestion::LastError);
}

} // namespace

std::shared_ptr<Function> ChildLaunches::find(std::uint64_t kernel) const {
    const auto module = module_.lock();
    return module == nullptr ? nullptr : module->function_at(kernel);
}

void ChildLaunches::add(Function& function, const LaunchRequest& request,
                        const exec::GridLaunch& parent, bool is_tail) {
    Context& context = function.module()->context();
    check_launch(function, context, context.device().sm_count(), request);
    PreparedLaunch launch = prepare_launch(function, context, parent.priority, request);
    if (launch.grid.children != nullptr) {
        static_cast<ChildLaunches*>(launch.grid.children.get())->depth_ = depth_ + 1;
    }
    launch.grid.describe_launch = [name = parent.kernel->name, by = parent.describe_launch] {
        return "\n  launched by kernel " + bytecode::readable_name(name) +
               (by ? by() : std::string());
    };
    const std::lock_guard lock(mutex_);
    launch.grid.grid_id = child_id(parent.grid_id, queues_.first.size() + queues_.tail.size());
    (is_tail ? queues_.tail : queues_.first).emplace_back(std::move(launch));
}

void ChildLaunches::add(std::function<void()> transfer, bool is_tail) {
    const std::lock_guard lock(mutex_);
    (is_tail ? queues_.tail : queues_.first).emplace_back(std::move(transfer));
}

std::size_t ChildLaunches::most() const {
    const auto module = module_.lock();
    return module == nullptr
               ? LEAST_ROOM
               : std::max(LEAST_ROOM,
                          module->context().limit(CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT));
}

std::size_t ChildLaunches::count() {
    const std::lock_guard lock(mutex_);
    return queues_.first.size() + queues_.tail.size();
}

ChildLaunches::Queues ChildLaunches::take() {
    const std::lock_guard lock(mutex_);
    errors_.clear();
    has_failed_ = false;
    return std::exchange(queues_, {});
}

bool ChildLaunches::set_error(std::uint64_t thread, std::uint32_t error) {
    const std::lock_guard lock(mutex_);
    errors_[thread] = error;
    return !std::exchange(has_failed_, true);
}

std::uint32_t ChildLaunches::error(std::uint64_t thread, bool is_cleared) {
    const std::lock_guard lock(mutex_);
    const auto found = errors_.find(thread);
    const std::uint32_t error = found == errors_.end() ? 0 : found->second;
    if (is_cleared) {
        errors_.erase(thread);
    }
    return error;
}

std::function<void(const Fault*)> with_children(const exec::GridLaunch& grid,
                                                std::function<void(const Fault*)> done) {
    if (grid.children == nullptr) {
        return done;
    }
    return [children = grid.children, done = std::move(done)](const Fault* fault) {
        ChildLaunches::Queues queues = static_cast<ChildLaunches*>(children.get())->take();
        if (fault != nullptr || (queues.first.empty() && queues.tail.empty())) {
            queues = {}; // before the host can know that the grid is done
            done(fault);
        } else {
            std::make_shared<ChildRunner>(done)->run(std::move(queues));
        }
    };
}

void enable_child_launches() noexcept {
    static constexpr builtins::KernelLaunches LAUNCHES{make, launch_child, copy_later, fill_later,
                                                       ask};
    builtins::set_kernel_launches(LAUNCHES);
}

} // namespace cuprum::emulator
