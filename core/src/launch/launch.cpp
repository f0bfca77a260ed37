// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/launch.hpp>

#include "driver/current.hpp"
#include "launch/launch_encoding.hpp"
#include "launch/launch_failure.hpp"
#include "device/device_state.hpp"
#include "driver/handle.hpp"
#include "launch/kernel_state.hpp"
#include "stream/stream_state.hpp"

#include <memory>
#include <stdexcept>

namespace cuprum {

namespace {

/// Addresses of the arguments, as the driver takes them; on the stack unless there are very many.
class PackedArguments {
public:
    [[nodiscard]] explicit PackedArguments(std::span<const KernelArgument> arguments);

    [[nodiscard]] void** data() noexcept { return data_; }

private:
    static constexpr std::size_t MAX_ON_STACK = 64;

    void* stack_[MAX_ON_STACK]; // NOTE: left uninitialised, this is the fast path
    std::unique_ptr<void*[]> heap_;
    void** data_ = stack_;
};

template <typename SizeOf>
void check_sizes(const detail::KernelState& kernel, std::size_t count, const SizeOf& size_of);
[[gnu::hot]] void submit(const Stream& stream, const LaunchConfig& config,
                         const CUlaunchConfig& encoded, const Kernel& kernel, void** addresses);
void allow_shared_memory(const detail::KernelState& kernel, const detail::StreamState& stream,
                         std::size_t bytes);
/// Drivers may take any other priority for the nearest that the device has, and say nothing.
void check_priority(const detail::StreamState& stream, int priority);
[[noreturn, gnu::cold]] void reject_count(const std::string& kernel,
                                          std::span<const ParameterInfo> plan, std::size_t count);
[[noreturn, gnu::cold]] void reject_size(const std::string& kernel, std::size_t index,
                                         std::size_t bytes, std::size_t expected_bytes);
[[noreturn, gnu::cold]] void reject_address(const std::string& kernel, std::size_t index);

} // namespace

void launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
            std::span<const KernelArgument> arguments) {
    const detail::StreamState& queue = detail::open(stream);
    const detail::KernelState& function = detail::open(kernel);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i].data == nullptr) [[unlikely]] {
            reject_address(function.name, i);
        }
    }
    check_sizes(function, arguments.size(), [&](std::size_t i) { return arguments[i].size; });
    detail::EncodedConfig encoded(config);
    encoded.driver.hStream = queue.handle;
    PackedArguments packed(arguments);
    submit(stream, config, encoded.driver, kernel, packed.data());
}

[[gnu::hot]] void detail::launch_at(const Stream& stream, const LaunchConfig& config,
                                    const Kernel& kernel, const void* const* addresses,
                                    std::span<const std::size_t> sizes) {
    const StreamState& queue = open(stream);
    check_sizes(open(kernel), sizes.size(), [&](std::size_t i) { return sizes[i]; });
    EncodedConfig encoded(config);
    encoded.driver.hStream = queue.handle;
    // The driver only reads what is there.
    submit(stream, config, encoded.driver, kernel, const_cast<void**>(addresses));
}

[[gnu::hot]] void detail::launch_packed(const Stream& stream, const LaunchConfig& config,
                                        const CUlaunchConfig& encoded, const Kernel& kernel,
                                        void* const* addresses) {
    const CUlaunchConfig own = on_stream(encoded, handle_of(stream));
    submit(stream, config, own, kernel, const_cast<void**>(addresses));
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

PackedArguments::PackedArguments(std::span<const KernelArgument> arguments) {
    if (arguments.size() > MAX_ON_STACK) [[unlikely]] {
        heap_ = std::make_unique<void*[]>(arguments.size());
        data_ = heap_.get();
    }
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        data_[i] = const_cast<void*>(arguments[i].data); // the driver only reads
    }
}

template <typename SizeOf>
inline void check_sizes(const detail::KernelState& kernel, std::size_t count,
                        const SizeOf& size_of) {
    if (!kernel.plan->has_value()) [[unlikely]] {
        return;
    }
    const std::vector<ParameterInfo>& plan = **kernel.plan;
    if (count != plan.size()) [[unlikely]] {
        reject_count(kernel.name, plan, count);
    }
    for (std::size_t i = 0; i < count; ++i) {
        if (size_of(i) != plan[i].size) [[unlikely]] {
            reject_size(kernel.name, i, size_of(i), plan[i].size);
        }
    }
}

/// Launches what was checked; `encoded` names the stream.
void submit(const Stream& stream, const LaunchConfig& config, const CUlaunchConfig& encoded,
            const Kernel& kernel, void** addresses) {
    const detail::StreamState& queue = detail::open(stream);
    const detail::KernelState& function = detail::open(kernel);
    // NOTE: nothing is made current. The driver runs a kernel, which belongs to no context, in that
    // of the stream; the default streams mean the current one, so that one must be.
    if (queue.context == nullptr) {
        static_cast<void>(detail::context_of(queue));
    }
    if (config.shmem_size != 0) {
        allow_shared_memory(function, queue, config.shmem_size);
    }
    if (encoded.numAttrs != 0 && config.priority.has_value()) [[unlikely]] {
        check_priority(queue, *config.priority);
    }
    // NOTE: the driver takes a kernel for a function here, and finds the one of the context.
    const auto start = [&] {
        return driver::table().cuLaunchKernelEx(
            &encoded, reinterpret_cast<CUfunction>(function.handle), addresses, nullptr);
    };
    CUresult status = start();
    if (status == CUDA_ERROR_INVALID_CONTEXT && queue.context != nullptr) [[unlikely]] {
        const driver::Current current(
            queue.context->handle); // for a driver that wants it after all
        status = start();
    }
    if (status != CUDA_SUCCESS) [[unlikely]] {
        detail::raise_launch_failure(status, config, kernel, stream);
    }
    queue.last_launch.note(function.label);
}

void check_priority(const detail::StreamState& stream, int priority) {
    detail::DeviceState& device =
        stream.context != nullptr ? *stream.context->device : *context_state_of(stream)->device;
    static_cast<void>(detail::checked_priority(device, priority, "LaunchConfig priority"));
}

/// Raises the kernel's limit on the stream's device if it is lower. A device that has not so much
/// is left to the launch, whose failure is explained.
void allow_shared_memory(const detail::KernelState& kernel, const detail::StreamState& stream,
                         std::size_t bytes) {
    const CUdevice device = stream.context != nullptr
                                ? stream.context->device->handle
                                : detail::context_state_of(stream)->device->handle;
    if (kernel.is_allowed(device, bytes)) {
        return;
    }
    const auto& table = driver::table();
    int allowed = 0;
    driver::call(table.cuKernelGetAttribute, &allowed,
                 CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, kernel.handle, device);
    if (static_cast<std::size_t>(allowed) < bytes) {
        const CUresult status =
            table.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                       static_cast<int>(bytes), kernel.handle, device);
        if (status == CUDA_ERROR_INVALID_VALUE) {
            return;
        }
        if (status != CUDA_SUCCESS) {
            driver::raise(status, table.cuKernelSetAttribute.name);
        }
        allowed = static_cast<int>(bytes);
        detail::forget_occupancy();
    }
    kernel.note_allowed(device, static_cast<std::size_t>(allowed));
}

void reject_count(const std::string& kernel, std::span<const ParameterInfo> plan,
                  std::size_t count) {
    std::string text = "kernel \"" + kernel + "\" takes " + std::to_string(plan.size()) +
                       " arguments, " + std::to_string(count) + " were passed";
    if (!plan.empty()) {
        text += "; its parameters have these sizes in bytes:";
        for (const ParameterInfo& parameter : plan) {
            text += " " + std::to_string(parameter.size);
        }
    }
    throw std::invalid_argument(text);
}

void reject_size(const std::string& kernel, std::size_t index, std::size_t bytes,
                 std::size_t expected_bytes) {
    throw std::invalid_argument("argument " + std::to_string(index) + " of kernel \"" + kernel +
                                "\" has " + std::to_string(bytes) + " bytes; expected " +
                                std::to_string(expected_bytes));
}

void reject_address(const std::string& kernel, std::size_t index) {
    throw std::invalid_argument("argument " + std::to_string(index) + " of kernel \"" + kernel +
                                "\" has a null address; expected that of its value");
}

} // namespace

} // namespace cuprum
