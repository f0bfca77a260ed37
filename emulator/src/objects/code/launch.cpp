// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/code/launch.hpp"

#include "bytecode/readable_name.hpp"
#include "check/written.hpp"
#include "exec/engine.hpp"
#include "objects/code/child_launches.hpp"
#include "objects/code/launch_attributes.hpp"
#include "objects/code/module.hpp"
#include "objects/code/occupancy.hpp"
#include "objects/devices/context.hpp"
#include "objects/devices/device.hpp"
#include "objects/graphs/capture.hpp"
#include "objects/graphs/node_parameters.hpp"
#include "objects/memory/address_space.hpp"
#include "objects/memory/allocations.hpp"
#include "objects/process/error.hpp"
#include "objects/process/log.hpp"
#include "objects/process/origin.hpp"
#include "usage/publisher.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

namespace cuprum::emulator {

namespace {

std::atomic<std::uint64_t> last_grid_id{0};

constexpr int NO_ATTRIBUTE = 15; // a gap in the numbers

/// Returns the event of an attribute, which must have one.
CUevent given(CUevent event) {
    if (event == nullptr) {
        fail(CUDA_ERROR_INVALID_HANDLE, "the launch attribute names no event");
    }
    return event;
}

void check_shape(const bytecode::Kernel& kernel, const Device& device,
                 const LaunchRequest& request);
void check_cluster(const Device& device, const FunctionAttributes& attributes,
                   const bytecode::Kernel& kernel, const LaunchRequest& request,
                   std::uint32_t (&cluster)[3]);
void check_shared_memory(Function& function, const Device& device, const LaunchRequest& request);
void check_cooperative(Function& function, const Device& device, std::uint32_t sm_count,
                       const LaunchRequest& request);
std::shared_ptr<const Allocation> make_workspace(Context& context);
std::uint64_t xid_of_fault(FaultKind kind);

/// Returns the node that a launch becomes in a capture. It has the priority of the stream.
KernelParameters captured_parameters(const std::shared_ptr<Function>& function,
                                     const Stream& stream, const LaunchRequest& request);

/// A grid in a stream. Until it is done, it keeps the module, whose variables the kernel uses, and
/// the memory of a cooperative grid's barrier.
class GridOperation final : public Operation {
public:
    GridOperation(std::shared_ptr<ErrorState> errors, PreparedLaunch launch)
        : Operation(std::move(errors)), launch_(std::move(launch)) {}

protected:
    void start() noexcept override {
        const auto self = std::static_pointer_cast<GridOperation>(shared_from_this());
        launch_.grid.awaited_as = static_cast<const Operation*>(this);
        auto done = with_children(launch_.grid, [self](const Fault* fault) { self->end(fault); });
        exec::Engine::instance().submit(std::move(launch_.grid), std::move(done));
    }

    void skip() noexcept override { end(nullptr); }

private:
    void end(const Fault* fault) noexcept {
        // The number of the device is still there after the grid was moved.
        report_fault(errors(), launch_.grid.device, fault);
        launch_ = {};
        finish();
    }

    PreparedLaunch launch_;
};

} // namespace

void check_launch(Function& function, const Context& context, std::uint32_t sm_count,
                  const LaunchRequest& request) {
    const bytecode::Kernel& kernel = *function.kernel();
    const Device& device = context.device();
    check_shape(kernel, device, request);
    check_shared_memory(function, device, request);
    std::uint32_t cluster[3];
    check_cluster(device, function.attributes(), kernel, request, cluster);
    if (request.is_cooperative) {
        check_cooperative(function, device, sm_count, request);
    }
}

std::uint64_t next_grid_id() noexcept {
    return last_grid_id.fetch_add(1, std::memory_order_relaxed) + 1;
}

PreparedLaunch prepare_launch(Function& function, Context& context, int priority,
                              const LaunchRequest& request) {
    const bytecode::Kernel& kernel = *function.kernel();
    const Device& device = context.device();
    PreparedLaunch result;
    result.module = function.module();
    exec::GridLaunch& grid = result.grid;
    check_cluster(device, function.attributes(), kernel, request, grid.cluster);
    grid.parameters = pack_arguments(kernel, request);
    grid.kernel = function.kernel();
    grid.constants = function.constants();
    std::ranges::copy(request.grid, grid.grid);
    std::ranges::copy(request.block, grid.block);
    grid.dynamic_shared_bytes = request.shared_bytes;
    grid.is_cooperative = request.is_cooperative;
    grid.memory = &AddressSpace::instance().map(device.ordinal());
    grid.sm_count = device.sm_count();
    grid.device = device.ordinal();
    grid.priority = request.priority.value_or(priority);
    if (kernel.uses_grid_sync && request.is_cooperative) {
        result.workspace = make_workspace(context);
        grid.grid_workspace = result.workspace->base;
    }
    grid.stack_bytes = static_cast<std::uint32_t>(context.limit(CU_LIMIT_STACK_SIZE));
    if (kernel.uses_heap) {
        grid.heap = context.heap();
        grid.children = std::make_shared<ChildLaunches>(result.module);
        enable_child_launches();
    }
    return result;
}

void launch(const std::shared_ptr<Function>& function, Stream& stream,
            const LaunchRequest& request) {
    Context& context = stream.context();
    if (&function->module()->context() != &context) {
        fail(CUDA_ERROR_INVALID_HANDLE, "function and stream belong to different contexts");
    }
    check_launch(*function, context, stream.sm_count(), request);
    if (stream.may_be_capturing() &&
        Capture::take(stream, captured_parameters(function, stream, request),
                      request.may_overlap)) {
        return;
    }
    auto prepared = prepare_launch(*function, context, stream.priority(), request);
    prepared.grid.grid_id = next_grid_id();
    if (places::is_recorded(places::OF_LAUNCHES)) {
        prepared.grid.describe_launch = [by = Origin::here(places::OF_LAUNCHES)] {
            return "\n  launched by " + by.to_text("    ");
        };
    }
    stream.enqueue(std::make_shared<GridOperation>(context.errors(), std::move(prepared)));
}

void report_fault(ErrorState& errors, int device, const Fault* fault) noexcept {
    if (fault != nullptr && fault->kind != FaultKind::None &&
        errors.set(code_of_fault(fault->kind), fault->report)) {
        log(LogLevel::Error, fault->report);
        usage::report_failure(device, xid_of_fault(fault->kind));
    }
}

void apply_attributes(LaunchRequest& request, std::span<const CUlaunchAttribute> attributes) {
    request.attributes = attributes;
    for (const CUlaunchAttribute& attribute : attributes) {
        check_attribute_value(attribute.id, attribute.value);
        switch (attribute.id) {
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
            request.is_cooperative = attribute.value.cooperative != 0;
            break;
        case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
            request.cluster[0] = attribute.value.clusterDim.x;
            request.cluster[1] = attribute.value.clusterDim.y;
            request.cluster[2] = attribute.value.clusterDim.z;
            if (std::ranges::count(request.cluster, 0U) != 0) {
                fail(CUDA_ERROR_INVALID_CLUSTER_SIZE, "a dimension of the cluster is 0");
            }
            break;
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
            request.priority = std::clamp(attribute.value.priority, Stream::GREATEST_PRIORITY,
                                          Stream::LEAST_PRIORITY);
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
            request.may_overlap = attribute.value.programmaticStreamSerializationAllowed != 0;
            break;
        case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
            request.completion_event = given(attribute.value.launchCompletionEvent.event);
            break;
        case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
            request.completion_event = given(attribute.value.programmaticEvent.event);
            break;
        case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
            fail(CUDA_ERROR_INVALID_VALUE,
                 "CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY is an attribute of streams");
        case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
            fail(CUDA_ERROR_INVALID_VALUE, "device-updatable nodes exist in graphs only");
        default:
            // Hints (carveout, cache and overlap policies) have no effect here.
            if (attribute.id < 0 ||
                attribute.id > CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING ||
                attribute.id == NO_ATTRIBUTE) {
                fail(CUDA_ERROR_INVALID_VALUE,
                     "unknown launch attribute " + std::to_string(attribute.id));
            }
            break;
        }
    }
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Returns the number under which a GPU's driver reports such a fault.
std::uint64_t xid_of_fault(FaultKind kind) {
    constexpr std::uint64_t stopped = 8;       // the watchdog
    constexpr std::uint64_t exception = 13;    // of the multiprocessors
    constexpr std::uint64_t memory_fault = 31; // of the memory management unit
    return kind == FaultKind::IllegalAddress ? memory_fault
           : kind == FaultKind::Timeout      ? stopped
                                             : exception;
}

std::string shape_text(const std::uint32_t (&shape)[3]) {
    return "(" + std::to_string(shape[0]) + ", " + std::to_string(shape[1]) + ", " +
           std::to_string(shape[2]) + ")";
}

KernelParameters captured_parameters(const std::shared_ptr<Function>& function,
                                     const Stream& stream, const LaunchRequest& request) {
    KernelParameters parameters = kernel_parameters(function, request.kernel, request);
    for (const CUlaunchAttributeID id :
         {CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
          CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT, CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
          CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, CU_LAUNCH_ATTRIBUTE_IGNORE}) {
        parameters.attributes.erase(id); // these become edges, or mean nothing to a node
    }
    CUlaunchAttributeValue priority{};
    priority.priority = request.priority.value_or(stream.priority());
    parameters.attributes[CU_LAUNCH_ATTRIBUTE_PRIORITY] = priority;
    return parameters;
}

std::uint64_t volume(const std::uint32_t (&shape)[3]) {
    return std::uint64_t{shape[0]} * shape[1] * shape[2];
}

void check_shape(const bytecode::Kernel& kernel, const Device& device,
                 const LaunchRequest& request) {
    for (int axis = 0; axis < 3; ++axis) {
        const auto grid_limit = static_cast<std::uint32_t>(device.attribute(
            static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X + axis)));
        const auto block_limit = static_cast<std::uint32_t>(device.attribute(
            static_cast<CUdevice_attribute>(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X + axis)));
        if (request.grid[axis] == 0 || request.grid[axis] > grid_limit) {
            fail(CUDA_ERROR_INVALID_VALUE,
                 "grid " + shape_text(request.grid) + " is empty or larger than the device allows");
        }
        if (request.block[axis] == 0 || request.block[axis] > block_limit) {
            fail(CUDA_ERROR_INVALID_VALUE, "block " + shape_text(request.block) +
                                               " is empty or larger than the device allows");
        }
    }
    const auto thread_limit =
        static_cast<std::uint64_t>(device.attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
    if (volume(request.block) > thread_limit) {
        fail(CUDA_ERROR_INVALID_VALUE, "block " + shape_text(request.block) + " has more than " +
                                           std::to_string(thread_limit) + " threads");
    }
    if (kernel.required_threads[0] != 0 &&
        !std::ranges::equal(kernel.required_threads, request.block)) {
        fail(CUDA_ERROR_INVALID_VALUE,
             "kernel '" + bytecode::readable_name(kernel.name) + "' requires blocks of " +
                 shape_text(kernel.required_threads) + ", not " + shape_text(request.block));
    }
    const std::uint64_t kernel_limit = static_cast<std::uint64_t>(kernel.max_threads[0]) *
                                       std::max(kernel.max_threads[1], 1U) *
                                       std::max(kernel.max_threads[2], 1U);
    if (kernel_limit != 0 && volume(request.block) > kernel_limit) {
        fail(CUDA_ERROR_INVALID_VALUE, "kernel '" + bytecode::readable_name(kernel.name) +
                                           "' was compiled for at most " +
                                           std::to_string(kernel_limit) + " threads a block, not " +
                                           std::to_string(volume(request.block)));
    }
}

void check_shared_memory(Function& function, const Device& device, const LaunchRequest& request) {
    const auto limit = static_cast<std::uint32_t>(
        std::max(0, function.attributes().get(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                              *function.kernel(), device)));
    if (request.shared_bytes > limit) {
        const auto largest = static_cast<std::uint32_t>(
            std::max(0, largest_dynamic_shared_bytes(*function.kernel(), device)));
        const std::string bytes =
            std::to_string(request.shared_bytes) + " bytes of dynamic shared memory";
        fail(CUDA_ERROR_INVALID_VALUE,
             request.shared_bytes > largest
                 ? bytes + ": at most " + std::to_string(largest) + " are possible"
                 : bytes + " exceed " + std::to_string(limit) +
                       "; raise CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES first");
    }
}

void check_cluster(const Device& device, const FunctionAttributes& attributes,
                   const bytecode::Kernel& kernel, const LaunchRequest& request,
                   std::uint32_t (&cluster)[3]) {
    constexpr std::uint64_t portable_blocks = 8;
    constexpr std::uint64_t most_blocks = 16;
    constexpr CUfunction_attribute required[3] = {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH,
                                                  CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
                                                  CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH};
    const bool is_given = request.cluster[0] != 0;
    for (int axis = 0; axis < 3; ++axis) {
        const auto wanted =
            static_cast<std::uint32_t>(attributes.get(required[axis], kernel, device));
        if (is_given && wanted != 0 && wanted != request.cluster[axis]) {
            fail(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                 "the cluster differs from the one the kernel requires");
        }
        cluster[axis] = std::max(is_given ? request.cluster[axis] : wanted, 1U);
        if (request.grid[axis] % cluster[axis] != 0) {
            fail(CUDA_ERROR_INVALID_CLUSTER_SIZE,
                 "grid " + shape_text(request.grid) + " is not a multiple of its clusters");
        }
    }
    const std::uint64_t blocks = volume(cluster);
    if (blocks == 1) {
        return;
    }
    if (device.attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH) == 0) {
        fail(CUDA_ERROR_INVALID_VALUE, "clusters need compute capability 9.0 or newer");
    }
    const bool may_be_large =
        attributes.get(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, kernel, device) != 0;
    if (blocks > (may_be_large ? most_blocks : portable_blocks)) {
        fail(CUDA_ERROR_INVALID_CLUSTER_SIZE,
             "a cluster of " + std::to_string(blocks) + " blocks is too large");
    }
}

void check_cooperative(Function& function, const Device& device, std::uint32_t sm_count,
                       const LaunchRequest& request) {
    const std::uint64_t resident =
        static_cast<std::uint64_t>(active_blocks_per_sm(
            function, device, static_cast<int>(volume(request.block)), request.shared_bytes)) *
        sm_count;
    if (volume(request.grid) > resident) {
        fail(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE,
             "a cooperative grid of " + std::to_string(volume(request.grid)) + " blocks: only " +
                 std::to_string(resident) + " can be resident");
    }
}

/// Allocates the memory that the blocks of one cooperative grid use to wait for each other. It is
/// freed with the last reference.
std::shared_ptr<const Allocation> make_workspace(Context& context) {
    constexpr std::size_t WORKSPACE_BYTES = 64;
    const auto memory =
        Allocations::instance().allocate(MemoryKind::Device, context.shared_from_this(),
                                         WORKSPACE_BYTES, 0, "barrier of a cooperative grid");
    std::memset(reinterpret_cast<void*>(memory->base), 0, WORKSPACE_BYTES);
    check::mark_written(AddressSpace::instance().map(), memory->base, WORKSPACE_BYTES);
    return {memory.get(), [memory](const Allocation*) { Allocations::instance().remove(memory); }};
}

} // namespace

CUresult code_of_fault(FaultKind kind) {
    switch (kind) {
    case FaultKind::IllegalAddress:
        return CUDA_ERROR_ILLEGAL_ADDRESS;
    case FaultKind::MisalignedAddress:
        return CUDA_ERROR_MISALIGNED_ADDRESS;
    case FaultKind::InvalidAddressSpace:
        return CUDA_ERROR_INVALID_ADDRESS_SPACE;
    case FaultKind::IllegalInstruction:
        return CUDA_ERROR_ILLEGAL_INSTRUCTION;
    case FaultKind::Assert:
        return CUDA_ERROR_ASSERT;
    case FaultKind::Timeout:
        return CUDA_ERROR_LAUNCH_TIMEOUT;
    case FaultKind::StackOverflow:
        return CUDA_ERROR_HARDWARE_STACK_ERROR;
    default:
        return CUDA_ERROR_LAUNCH_FAILED;
    }
}

std::vector<std::byte> pack_arguments(const bytecode::Kernel& kernel,
                                      const LaunchRequest& request) {
    if (!request.packed.empty()) {
        return {request.packed.begin(), request.packed.end()};
    }
    std::vector<std::byte> packed(kernel.parameter_bytes);
    if (request.extra != nullptr) {
        require(request.parameters == nullptr, "kernelParams and extra exclude each other");
        const void* buffer = nullptr;
        std::size_t size = 0;
        for (void** item = request.extra; *item != CU_LAUNCH_PARAM_END; item += 2) {
            if (*item == CU_LAUNCH_PARAM_BUFFER_POINTER) {
                buffer = item[1];
            } else if (*item == CU_LAUNCH_PARAM_BUFFER_SIZE) {
                require(item[1] != nullptr, "extra names no size of the parameter buffer");
                size = *static_cast<const std::size_t*>(item[1]);
            } else {
                fail(CUDA_ERROR_INVALID_VALUE, "unknown item in extra");
            }
        }
        require(buffer != nullptr || size == 0, "extra names no parameter buffer");
        if (size < packed.size()) {
            fail(CUDA_ERROR_INVALID_VALUE, "kernel '" + bytecode::readable_name(kernel.name) +
                                               "' takes " + std::to_string(packed.size()) +
                                               " bytes of parameters, not " + std::to_string(size));
        }
        if (!packed.empty()) {
            std::memcpy(packed.data(), buffer, packed.size());
        }
        return packed;
    }
    if (!kernel.parameters.empty()) {
        require(request.parameters != nullptr,
                "kernelParams is NULL, but the kernel has parameters");
    }
    for (std::size_t index = 0; index < kernel.parameters.size(); ++index) {
        const auto& parameter = kernel.parameters[index];
        if (request.parameters[index] == nullptr) {
            fail(CUDA_ERROR_INVALID_VALUE,
                 "the address of parameter " + std::to_string(index) + " is NULL");
        }
        std::memcpy(packed.data() + parameter.offset, request.parameters[index],
                    parameter.size_bytes);
    }
    return packed;
}

} // namespace cuprum::emulator
