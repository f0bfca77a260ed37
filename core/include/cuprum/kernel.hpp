// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/device.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>

namespace cuprum {

class ObjectCode;
template <typename Signature>
class TypedKernel;

namespace detail {
struct KernelState;
}

/// Where one parameter lies in a kernel's parameter block.
struct ParameterInfo {
    std::size_t offset = 0;
    std::size_t size = 0; // bytes
    friend bool operator==(const ParameterInfo&, const ParameterInfo&) = default;
};

/// Figures of a kernel on one device.
struct KernelAttributes {
    int max_threads_per_block = 0;
    int shared_size_bytes = 0;
    int const_size_bytes = 0;
    int local_size_bytes = 0;
    int num_regs = 0;
    int ptx_version = 0;
    int binary_version = 0;
    int max_dynamic_shared_size_bytes = 0;
};

/// Shares a kernel and keeps its library loaded.
///
/// It carries its launch plan, read once from the driver: how many parameters there are and how
/// large.
class CUPRUM_API Kernel {
public:
    [[nodiscard]] CUkernel handle() const;
    [[nodiscard]] const std::string& name() const;
    /// Tells whether the launch plan is known. Drivers before 12.4 cannot tell it: launches are
    /// then not checked.
    [[nodiscard]] bool is_plan_known() const;
    /// Returns the parameters in order. Empty for a kernel without any.
    /// @throws NotSupportedError if the plan is not known.
    [[nodiscard]] std::span<const ParameterInfo> parameters() const;
    [[nodiscard]] KernelAttributes attributes(const Device& device) const;
    /// Allows launches on this device up to so much dynamic shared memory per block; more than 48
    /// KiB must be allowed beforehand.
    /// @throws std::invalid_argument if the device has not so much; the text gives the limit.
    void set_max_dynamic_shared_size_bytes(const Device& device, int bytes) const;
    /// Returns how many blocks of this size fit on one multiprocessor at once.
    [[nodiscard]] int max_active_blocks_per_multiprocessor(int block_size,
                                                           std::size_t dynamic_shared_bytes) const;

    /// Gives the kernel a signature, so that arguments are checked at compile time:
    /// `auto saxpy = kernel.as<void(float, const float*, float*, std::size_t)>();`.
    /// @throws std::invalid_argument if the signature's sizes differ from the kernel's.
    template <typename Signature>
    [[nodiscard]] TypedKernel<Signature> as() const {
        return TypedKernel<Signature>(*this);
    }

    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    void close() noexcept { state_.reset(); }

    /// Compares handles.
    friend CUPRUM_API bool operator==(const Kernel& left, const Kernel& right) noexcept;

    /// For the library itself.
    explicit Kernel(std::shared_ptr<detail::KernelState> state) noexcept
        : state_(std::move(state)) {}

    [[nodiscard]] const std::shared_ptr<detail::KernelState>& state() const noexcept {
        return state_;
    }

    /// Checks a signature's parameter sizes against the kernel's; for `as`.
    void check_signature(std::span<const std::size_t> sizes) const;

private:
    std::shared_ptr<detail::KernelState> state_;
};

} // namespace cuprum

#include <cuprum/launch.hpp>
