// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/launch_config.hpp>
#include <cuprum/stream.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

namespace cuprum {

/// One kernel argument by address and size; it is copied before launch() returns.
struct KernelArgument {
    const void* data = nullptr;
    std::size_t size = 0; // bytes
};

/// Launches a kernel with arguments known only at run time. Returns at once.
///
/// If the configuration asks for more dynamic shared memory than the kernel allows on the stream's
/// device, it is allowed first, for this and later launches.
///
/// @throws std::invalid_argument if count or size of the arguments differs from what the kernel
/// takes, or
///         the configuration exceeds a limit of the device; the text has the numbers.
CUPRUM_API void launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                       std::span<const KernelArgument> arguments);

namespace detail {

/// A Buffer or a class derived from it, such as ManagedBuffer: kernels receive its address.
template <typename T>
concept AnyBuffer = std::derived_from<T, Buffer>;

/// Stores a kernel argument for the time of a launch: buffers become their address.
template <typename T>
struct StoredArgument {
    static_assert(std::is_trivially_copyable_v<T>,
                  "cuprum: a kernel argument must be trivially copyable (pass a Buffer, a pointer, "
                  "a number or a "
                  "plain struct)");
    T value;

    // NOLINTNEXTLINE(google-explicit-constructor)
    StoredArgument(const T& argument) : value(argument) {}
};

template <AnyBuffer T>
struct StoredArgument<T> {
    CUdeviceptr value;

    // NOLINTNEXTLINE(google-explicit-constructor)
    StoredArgument(const Buffer& buffer) : value(buffer.handle()) {}
};

/// Launches a kernel with arguments at `addresses`, as many as there are `sizes`, in bytes.
CUPRUM_API void launch_at(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                          const void* const* addresses, std::span<const std::size_t> sizes);

template <typename... Stored>
void launch_stored(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                   const Stored&... stored) {
    static constexpr std::array<std::size_t, sizeof...(Stored)> SIZES{sizeof(stored.value)...};
    const std::array<const void*, sizeof...(Stored)> addresses{&stored.value...};
    launch_at(stream, config, kernel, addresses.data(), SIZES);
}

} // namespace detail

/// Launches a kernel. Returns at once; the arguments are copied.
///
/// A Buffer, or a class derived from it such as ManagedBuffer, passes its address. Anything else is
/// passed by value and must have the size that the kernel takes.
/// @throws std::invalid_argument as above.
template <typename... Arguments>
    requires(!(sizeof...(Arguments) == 1 &&
               (std::is_convertible_v<Arguments, std::span<const KernelArgument>> && ...)))
void launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
            const Arguments&... arguments) {
    detail::launch_stored(stream, config, kernel,
                          detail::StoredArgument<std::decay_t<Arguments>>(arguments)...);
}

/// A kernel with a signature: arguments convert to the parameter types or do not compile.
template <typename... Parameters>
class TypedKernel<void(Parameters...)> {
public:
    /// @throws std::invalid_argument if the kernel's parameters have other sizes.
    explicit TypedKernel(Kernel kernel) : kernel_(std::move(kernel)) {
        static constexpr std::array<std::size_t, sizeof...(Parameters)> SIZES{
            sizeof(Parameters)...};
        kernel_.check_signature(SIZES);
    }

    /// Launches it. A Buffer may stand for any pointer parameter.
    template <typename... Arguments>
    void operator()(const Stream& stream, const LaunchConfig& config,
                    const Arguments&... arguments) const {
        static_assert(sizeof...(Arguments) == sizeof...(Parameters),
                      "cuprum: the number of arguments is not that of the kernel's parameters");
        if constexpr (sizeof...(Arguments) == sizeof...(Parameters)) {
            cuprum::launch(stream, config, kernel_, convert<Parameters>(arguments)...);
        }
    }

    [[nodiscard]] const Kernel& kernel() const noexcept { return kernel_; }

private:
    template <typename Parameter, typename Argument>
    static Parameter convert(const Argument& argument) {
        if constexpr (detail::AnyBuffer<Argument>) {
            static_assert(std::is_pointer_v<Parameter>,
                          "cuprum: a Buffer was passed for a parameter that is not a pointer");
            return argument.template data<std::remove_pointer_t<Parameter>>();
        } else {
            static_assert(std::is_convertible_v<Argument, Parameter>,
                          "cuprum: the argument does not convert to the kernel's parameter");
            return static_cast<Parameter>(argument);
        }
    }

    Kernel kernel_;
};

} // namespace cuprum
