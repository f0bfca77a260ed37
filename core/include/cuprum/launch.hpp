// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/detail/active_captures.hpp>
#include <cuprum/detail/argument_type.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/handle_argument.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/launch_config.hpp>
#include <cuprum/stream.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

namespace cuprum {

/// One kernel argument by address and size. launch() copies it before it returns.
struct KernelArgument {
    const void* data = nullptr; // where the value lies
    std::size_t size = 0;       // bytes
};

/// Launches a kernel with arguments whose types are known only at run time. Returns at once.
///
/// If the configuration asks for more dynamic shared memory than the kernel allows on the stream's
/// device, the launch raises the kernel's limit first, for this and later launches.
///
/// @throws std::invalid_argument if count or size of the arguments differs from what the kernel
///         takes, or the configuration exceeds a limit of the device; the text has the numbers.
CUPRUM_API void launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                       std::span<const KernelArgument> arguments);

namespace detail {

/// Stores a kernel argument for the time of a launch. A Buffer becomes its address.
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

template <std::derived_from<Buffer> T>
struct StoredArgument<T> {
    CUdeviceptr value;

    // NOLINTNEXTLINE(google-explicit-constructor)
    StoredArgument(const Buffer& buffer) : value(buffer.handle()) {}
};

/// A texture or a surface becomes its handle; it must be open.
template <PassedByHandle T>
struct StoredArgument<T> {
    unsigned long long value;

    // NOLINTNEXTLINE(google-explicit-constructor)
    StoredArgument(const T& object) : value(object.handle()) {}
};

/// Launches a kernel with arguments at `addresses`, one for each of `types`.
CUPRUM_API void launch_at(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                          const void* const* addresses, std::span<const ArgumentType> types);

template <typename... Stored>
void launch_stored(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                   const Stored&... stored) {
    static constexpr std::array<ArgumentType, sizeof...(Stored)> TYPES{
        ARGUMENT_TYPE<decltype(stored.value)>...};
    const std::array<const void*, sizeof...(Stored)> addresses{&stored.value...};
    launch_at(stream, config, kernel, addresses.data(), TYPES);
}

} // namespace detail

/// Launches a kernel. Returns at once; the arguments are copied.
///
/// If a GraphBuilder captures the stream, the graph keeps the kernel, the buffers, the textures and
/// the surfaces alive.
///
/// A Buffer passes its address, a TextureObject or SurfaceObject its handle. Anything else is
/// passed by value and must have the size that the kernel takes. Where the kernel's code says what
/// a parameter is (see `ParameterKind`), an integer for a `float` or `double` is converted if that
/// is exact, and a floating-point number for an integer or a pointer is refused. Elsewhere the bits
/// are passed as they are.
/// @throws std::invalid_argument as above, and if an argument has the wrong kind.
template <typename... Arguments>
    requires(!(sizeof...(Arguments) == 1 &&
               (std::is_convertible_v<Arguments, std::span<const KernelArgument>> && ...)))
void launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
            const Arguments&... arguments) {
    detail::launch_stored(stream, config, kernel,
                          detail::StoredArgument<std::decay_t<Arguments>>(arguments)...);
    detail::retain_arguments(stream, arguments...);
}

} // namespace cuprum
