// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/buffer.hpp>
#include <cuprum/detail/argument_type.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/kernel.hpp>
#include <cuprum/launch.hpp>
#include <cuprum/launch_config.hpp>
#include <cuprum/stream.hpp>

#include <array>
#include <concepts>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace cuprum {

namespace detail {

/// @throws std::invalid_argument that names position and value.
[[noreturn]] CUPRUM_API void refuse_value(std::size_t position, const std::string& value,
                                          const char* expected);

/// A type that braces initialise from an argument: no value can change on the way.
template <typename Parameter, typename Argument>
concept WithoutNarrowing = requires(const Argument& argument) { Parameter{argument}; };

/// A type that has memory for a pointer parameter, such as an allocation of a graph.
template <typename Argument, typename Parameter>
concept HasTypedData = std::is_pointer_v<Parameter> && requires(const Argument& argument) {
    argument.template data<std::remove_pointer_t<Parameter>>();
};

template <typename T>
concept NumericInteger = std::integral<T> && !std::same_as<T, bool>;

} // namespace detail

/// A kernel with a signature: arguments convert to the parameter types or do not compile.
///
/// The rules are those of initialisation with braces, except that integers may narrow: their values
/// are checked at the launch. So `3.7` for an `int` and `2.5` for a `float` do not compile (write
/// `2.5F`), `2` for a `float` or an `unsigned` is fine, and `-1` for an `unsigned` is refused.
///
/// @code
/// const auto add_one = kernel.as<void(int*)>();
/// const auto numbers = device.allocate<int>(32, stream);
/// add_one(stream, {.block = 32}, numbers); // a buffer of floats does not compile
/// @endcode
template <typename... Parameters>
class TypedKernel<void(Parameters...)> {
public:
    /// @throws std::invalid_argument if the kernel's parameters have other sizes or kinds.
    explicit TypedKernel(Kernel kernel) : kernel_(std::move(kernel)) {
        static constexpr std::array<detail::ArgumentType, sizeof...(Parameters)> TYPES{
            detail::ARGUMENT_TYPE<Parameters>...};
        kernel_.check_signature(TYPES);
    }

    /// Launches the kernel. A Buffer may be passed for any pointer, a TextureObject or a
    /// SurfaceObject for an `unsigned long long`.
    /// @throws std::invalid_argument if the value of an integer does not fit its parameter, or as
    ///         `launch` does.
    template <typename... Arguments>
    void operator()(const Stream& stream, const LaunchConfig& config,
                    const Arguments&... arguments) const {
        with_converted(
            [&](const auto&... converted) {
                cuprum::launch(stream, config, kernel_, converted...);
            },
            arguments...);
        detail::retain_arguments(stream, arguments...);
    }

    /// Converts arguments to the types of the parameters, with the same checks, and passes them to
    /// `use`, whose result it returns.
    template <typename Use, typename... Arguments>
    decltype(auto) with_converted(const Use& use, const Arguments&... arguments) const {
        static_assert(sizeof...(Arguments) == sizeof...(Parameters),
                      "cuprum: the number of arguments is not that of the kernel's parameters");
        if constexpr (sizeof...(Arguments) == sizeof...(Parameters)) {
            return convert_all(use, std::index_sequence_for<Parameters...>(), arguments...);
        }
    }

    /// Returns the kernel without its signature.
    [[nodiscard]] const Kernel& kernel() const noexcept { return kernel_; }

private:
    template <typename Use, std::size_t... Positions, typename... Arguments>
    static decltype(auto) convert_all(const Use& use,
                                      std::index_sequence<Positions...> /*positions*/,
                                      const Arguments&... arguments) {
        return use(convert<Parameters>(Positions, arguments)...);
    }

    template <typename Parameter, typename Argument>
    static Parameter convert([[maybe_unused]] std::size_t position, const Argument& argument) {
        if constexpr (std::derived_from<Argument, Buffer>) {
            static_assert(std::is_pointer_v<Parameter>,
                          "cuprum: a Buffer was passed for a parameter that is not a pointer");
            return argument.template data<std::remove_pointer_t<Parameter>>();
        } else if constexpr (detail::PassedByHandle<Argument>) {
            static_assert(std::is_same_v<Parameter, unsigned long long>,
                          "cuprum: a texture or surface was passed for a parameter that is no "
                          "cudaTextureObject_t or cudaSurfaceObject_t (unsigned long long)");
            return argument.handle();
        } else if constexpr (detail::HasTypedData<Argument, Parameter>) {
            return argument.template data<std::remove_pointer_t<Parameter>>();
        } else if constexpr (detail::NumericInteger<Parameter> &&
                             detail::NumericInteger<Argument>) {
            if (!fits<Parameter>(argument)) {
                detail::refuse_value(position, std::to_string(argument),
                                     "a value that the kernel's integer type can hold");
            }
            return static_cast<Parameter>(argument);
        } else if constexpr (std::floating_point<Parameter> && detail::NumericInteger<Argument>) {
            if (!is_exact<Parameter>(argument)) {
                detail::refuse_value(position, std::to_string(argument),
                                     "a value that the kernel's floating-point type holds exactly");
            }
            return static_cast<Parameter>(argument);
        } else {
            static_assert(std::is_convertible_v<Argument, Parameter>,
                          "cuprum: the argument does not convert to the kernel's parameter");
            static_assert(!std::is_convertible_v<Argument, Parameter> ||
                              detail::WithoutNarrowing<Parameter, std::decay_t<Argument>>,
                          "cuprum: the argument would lose its value in the kernel's parameter; "
                          "convert it with static_cast, or write a literal of the parameter's "
                          "type");
            return static_cast<Parameter>(argument);
        }
    }

    /// Returns whether an integer type holds a value. Unlike std::in_range it takes characters.
    template <typename Target, typename Value>
    static constexpr bool fits(Value value) noexcept {
        const auto converted = static_cast<Target>(value);
        return static_cast<Value>(converted) == value &&
               (converted < Target{}) == (value < Value{});
    }

    /// Returns whether a floating-point type holds an integer exactly.
    template <typename Floating, typename Value>
    static bool is_exact(Value value) noexcept {
        // Without the conversion back, which is undefined for values that round beyond the type.
        constexpr auto limit = static_cast<Floating>(std::numeric_limits<Value>::max());
        const auto converted = static_cast<Floating>(value);
        return converted < limit
                   ? static_cast<Value>(converted) == value
                   : std::numeric_limits<Value>::digits <= std::numeric_limits<Floating>::digits;
    }

    Kernel kernel_;
};

} // namespace cuprum
