// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cuprum/detail/argument_type.hpp>
#include <cuprum/detail/driver_types.hpp>
#include <cuprum/detail/export.hpp>
#include <cuprum/detail/last_occupancy.hpp>
#include <cuprum/detail/text.hpp>
#include <cuprum/device.hpp>
#include <cuprum/launch_config.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

namespace cuprum {

class ObjectCode;
/// A kernel with a signature that the compiler checks; see <cuprum/typed_kernel.hpp>.
template <typename Signature>
class TypedKernel;

namespace detail {
struct Access;
struct KernelState;
} // namespace detail

/// What kind of value a kernel takes for a parameter.
///
/// PTX and the mangled names of C++ kernels say it. A cubin with `extern "C"` kernels does not, and
/// nothing says it for structures: these are `Unknown`, and only sizes are checked at launch.
enum class ParameterKind : std::uint8_t { Unknown, Integer, Float, Pointer };

/// Where one parameter lies in a kernel's parameter block, and what it is.
struct ParameterInfo {
    std::size_t offset = 0;                      // bytes from the start of the parameter block
    std::size_t size = 0;                        // bytes
    ParameterKind kind = ParameterKind::Unknown; // what the code says about it
    friend bool operator==(const ParameterInfo&, const ParameterInfo&) = default;
};

/// Attributes of a kernel on one device at the time of the query.
struct KernelAttributes {
    int max_threads_per_block = 0; // the largest block that can be launched
    int shared_size_bytes = 0;     // static shared memory per block
    int const_size_bytes = 0;      // constant memory of the kernel
    int local_size_bytes = 0;      // local memory per thread
    int num_regs = 0;              // registers per thread
    int ptx_version = 0;           // the virtual architecture it was compiled for, such as 90
    int binary_version = 0;        // the architecture of its machine code, such as 90
    bool cache_mode_ca = false;    // compiled with -Xptxas --dlcm=ca
    int max_dynamic_shared_size_bytes = 0;     // settable
    int preferred_shared_memory_carveout = -1; // settable: percent, or -1 for the driver's choice
    bool cluster_size_must_be_set = false;     // launches must name the size of a cluster
    int required_cluster_width = 0;            // settable if it was not compiled in; 0 is any
    int required_cluster_height = 0;           // likewise
    int required_cluster_depth = 0;            // likewise
    bool non_portable_cluster_size_allowed = false; // settable: more than 8 blocks per cluster
    /// Where the blocks of a cluster run; settable.
    ClusterSchedulingPolicy cluster_scheduling_policy_preference = ClusterSchedulingPolicy::Default;
};

/// The attributes of a kernel, with the driver's numbers.
enum class KernelAttribute : std::uint8_t {
    MaxThreadsPerBlock,
    SharedSizeBytes,
    ConstSizeBytes,
    LocalSizeBytes,
    NumRegs,
    PtxVersion,
    BinaryVersion,
    CacheModeCa,
    MaxDynamicSharedSizeBytes,
    PreferredSharedMemoryCarveout,
    ClusterSizeMustBeSet,
    RequiredClusterWidth,
    RequiredClusterHeight,
    RequiredClusterDepth,
    NonPortableClusterSizeAllowed,
    ClusterSchedulingPolicyPreference,
};

/// The answer of `KernelOccupancy::max_potential_block_size`.
struct PotentialBlockSize {
    int min_grid_size = 0;  // the fewest blocks that fill the device
    int max_block_size = 0; // threads per block
    friend bool operator==(const PotentialBlockSize&, const PotentialBlockSize&) = default;
};

class KernelOccupancy;

/// A function that runs on a device. It keeps its code loaded.
///
/// It carries its launch plan, read once: how many parameters there are, how large, and, where the
/// code says it, of which kind.
///
/// @code
/// const cuprum::Kernel kernel = code.get_kernel("add_one");
/// cuprum::launch(stream, {.block = 32}, kernel, buffer);
/// std::printf("%d registers\n", kernel.attributes(device).num_regs);
/// @endcode
class CUPRUM_API Kernel {
public:
    /// Returns the driver's `CUkernel`.
    [[nodiscard]] CUkernel handle() const;
    /// Returns the name, mangled if the kernel is a C++ function.
    [[nodiscard]] const std::string& name() const;
    /// Returns whether the launch plan is known. Drivers before 12.4 do not report parameters, so
    /// launches are not checked there.
    [[nodiscard]] bool is_plan_known() const;
    /// Returns the parameters in order. Empty for a kernel without any.
    /// @throws NotSupportedError if the plan is not known.
    [[nodiscard]] std::span<const ParameterInfo> parameters() const;

    /// Wraps a kernel made elsewhere. The code it belongs to stays loaded with it if it is ours.
    [[nodiscard]] static Kernel from_handle(CUkernel handle);
    /// Wraps a kernel and keeps `owner` too. Warns if that is not the kernel's own code.
    [[nodiscard]] static Kernel from_handle(CUkernel handle, const ObjectCode& owner);

    /// Returns all attributes that the kernel has on a device.
    [[nodiscard]] KernelAttributes attributes(const Device& device) const;
    /// Returns one attribute that the kernel has on a device.
    [[nodiscard]] int attribute(KernelAttribute attribute, const Device& device) const;
    /// Sets an attribute on one device, for all later launches. Launches raise
    /// MaxDynamicSharedSizeBytes by themselves when they need more.
    /// @throws std::invalid_argument if the attribute or the value cannot be set; the text gives
    ///         the valid values.
    void set_attribute(KernelAttribute attribute, int value, const Device& device) const;
    /// Allows launches on this device to use up to so much dynamic shared memory per block.
    /// @throws std::invalid_argument if the device has less; the text gives the limit.
    void set_max_dynamic_shared_size_bytes(const Device& device, int bytes) const;

    /// Returns an object that answers how many blocks fit on a device.
    [[nodiscard]] KernelOccupancy occupancy() const;

    /// Gives the kernel a signature, so that arguments are checked at compile time:
    /// `auto saxpy = kernel.as<void(float, const float*, float*, std::size_t)>();`.
    /// Include <cuprum/typed_kernel.hpp>.
    /// @throws std::invalid_argument if sizes or known kinds of the parameters differ.
    template <typename Signature>
    [[nodiscard]] TypedKernel<Signature> as() const {
        return TypedKernel<Signature>(*this);
    }

    /// Returns whether `close()` was called.
    [[nodiscard]] bool is_closed() const noexcept { return state_ == nullptr; }

    /// Gives up this copy's share of the code. Calling it again does nothing.
    void close() noexcept { state_.reset(); }

    /// Compares handles.
    friend CUPRUM_API bool operator==(const Kernel& left, const Kernel& right) noexcept;

private:
    friend struct detail::Access;
    template <typename Signature>
    friend class TypedKernel;

    explicit Kernel(std::shared_ptr<detail::KernelState> state) noexcept
        : state_(std::move(state)) {}

    /// Returns the parameters, or null if the driver cannot report them.
    [[nodiscard]] const std::vector<ParameterInfo>* plan() const;
    /// Compares the parameters of a signature with those of the kernel; for `as`.
    /// @throws std::invalid_argument if they differ.
    void check_signature(std::span<const detail::ArgumentType> types) const;

    std::shared_ptr<detail::KernelState> state_;
};

/// Answers how many blocks of a kernel fit on the device of the current context, or on `Device()`
/// if none is current. It shares the kernel.
///
/// It remembers its last answer about blocks per multiprocessor until the library changes an
/// attribute of a kernel or a setting of a context. After such a change with the driver's own
/// functions, take a new object from `Kernel::occupancy()`.
///
/// @code
/// const cuprum::PotentialBlockSize best = kernel.occupancy().max_potential_block_size(0);
/// assert(best.max_block_size % 32 == 0);
/// @endcode
class CUPRUM_API KernelOccupancy {
public:
    /// Returns how many blocks of this size fit on one multiprocessor at once.
    [[nodiscard]] int
    max_active_blocks_per_multiprocessor(int block_size, std::size_t dynamic_shared_bytes,
                                         bool disable_caching_override = false) const;
    /// Returns the block size, at most `block_size_limit` unless that is 0, at which most threads
    /// are resident.
    [[nodiscard]] PotentialBlockSize
    max_potential_block_size(std::size_t dynamic_shared_bytes, int block_size_limit = 0,
                             bool disable_caching_override = false) const;
    /// Does so for shared memory that depends on the block size. What the function throws is thrown
    /// on.
    [[nodiscard]] PotentialBlockSize
    max_potential_block_size(const std::function<std::size_t(int)>& dynamic_shared_bytes,
                             int block_size_limit = 0, bool disable_caching_override = false) const;
    /// Returns the dynamic shared memory that each block can have while so many fit.
    [[nodiscard]] std::size_t
    available_dynamic_shared_memory_per_block(int blocks_per_multiprocessor, int block_size) const;
    /// Returns the most blocks per cluster for this configuration. Ignores its cluster.
    [[nodiscard]] int max_potential_cluster_size(const LaunchConfig& config,
                                                 const Stream& stream) const;
    /// Returns how many clusters of this configuration fit on the stream's device at once.
    [[nodiscard]] int max_active_clusters(const LaunchConfig& config, const Stream& stream) const;

    /// Returns the kernel that the object answers for.
    [[nodiscard]] const Kernel& kernel() const noexcept { return kernel_; }

private:
    friend class Kernel;

    explicit KernelOccupancy(Kernel kernel) noexcept : kernel_(std::move(kernel)) {}

    Kernel kernel_;
    mutable detail::LastOccupancy last_;
};

/// Returns name and handle for messages and logs. Makes no driver call.
[[nodiscard]] CUPRUM_API std::string to_string(const Kernel& kernel);

} // namespace cuprum

/// Hashes what operator== compares.
template <>
struct std::hash<cuprum::Kernel> {
    [[nodiscard]] CUPRUM_API std::size_t operator()(const cuprum::Kernel& kernel) const noexcept;
};
