// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/kernel.hpp>
#include <cuprum/launch.hpp>
#include <cuprum/stream.hpp>

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <span>

namespace cuprum::python {

/// Python values laid out as a kernel takes them. They lie on the stack unless there are very many,
/// so that a launch allocates nothing.
///
/// | Python value                               | parameter                                      |
/// |--------------------------------------------|------------------------------------------------|
/// | Buffer                                     | its address                                    |
/// | int, bool, numpy integer, `__index__`      | integer of 1, 2, 4 or 8 bytes, checked to fit; |
/// |                                            | converted if the code says float or double     |
/// | float                                      | float or double, by the parameter's size;      |
/// |                                            | refused if the code says integer or pointer    |
/// | complex                                    | two floats or two doubles, by its size         |
/// | other numpy scalar, ctypes object, bytes   | as it is; the size must be the parameter's     |
/// | DLPack, `__cuda_array_interface__`, view   | the address, ordered after its producer        |
/// | GraphCondition                             | its handle                                     |
/// | TextureObject, SurfaceObject               | its handle; it must be open                    |
class KernelArguments {
public:
    /// Converts `values`. Arrays are made usable in `stream`; with none, as for a node of a graph,
    /// the caller orders their producers' work.
    /// @throws TypeError if there are too few or too many, or if one has the wrong type or size;
    ///         OverflowError if a number does not fit. The text names the argument.
    [[nodiscard, gnu::hot]] KernelArguments(const Kernel& kernel, std::span<PyObject* const> values,
                                            const Stream* stream);

    KernelArguments(const KernelArguments&) = delete;
    KernelArguments& operator=(const KernelArguments&) = delete;
    ~KernelArguments() = default;

    /// Returns where the values lie, in order.
    [[nodiscard]] void* const* addresses() const noexcept { return addresses_; }

private:
    static constexpr std::size_t stack_bytes = 1024;
    static constexpr std::size_t stack_count = 64;

    [[gnu::always_inline]] inline void pack(std::span<const ParameterInfo> parameters,
                                            std::span<PyObject* const> values,
                                            const Stream* stream);
    [[gnu::always_inline]] inline void make_room(std::span<const ParameterInfo> parameters);
    void pack_unchecked(std::span<PyObject* const> values, const Stream* stream);

    // NOTE: not initialised, so that they cost nothing; the constructor writes what is used.
    alignas(16) std::byte block_on_stack_[stack_bytes];
    void* addresses_on_stack_[stack_count];
    std::unique_ptr<std::byte[]> block_on_heap_;
    std::unique_ptr<void*[]> addresses_on_heap_;
    std::byte* block_ = block_on_stack_;
    void** addresses_ = addresses_on_stack_;
};

} // namespace cuprum::python
