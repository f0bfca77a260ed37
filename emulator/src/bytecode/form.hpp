// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The form of an instruction: what it does, independent of the handler that runs it.
//
// Every instruction keeps its form. Passes look at forms only. The last pass selects the handlers,
// and it can select other ones for the same code later (passes/select_handlers.cpp).

#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace cuprum::emulator {

/// Instructions whose handlers are the same at every instruction-set level. The headers that
/// declare the handlers describe their operands.
enum class FixedOp : std::uint8_t {
    // interp/control.hpp
    Branch,
    BranchGuarded,
    BranchToWait,
    BranchIndexed,
    Exit,
    Trap,
    BarrierSync,
    BarrierArrive,
    BarrierReduce,
    Rendezvous,
    Sleep,
    Call,
    CallIndirect,
    Return,
    PassBytes,
    FetchBytes,
    LocalAddress,
    ReadLocal,
    WriteLocal,
    AllocateStack,
    ReadClock32,
    ReadClock64,
    ReadTimer32,
    ReadTimer64,
    // interp/cluster.hpp
    MapAddress,
    RankOf,
    IsOwnShared,
    ClusterArrive,
    ClusterWait,
    // interp/mbarrier.hpp
    MbarrierInit,
    MbarrierInvalidate,
    MbarrierArrive,
    MbarrierWait,
    MbarrierExpect,
    MbarrierComplete,
    MbarrierCheck,
    MbarrierPendingCount,
    // interp/bulk_copy.hpp
    BulkToShared,
    BulkToSharedTrimmed,
    BulkToGlobal,
    BulkToMany,
    BulkBetweenShared,
    BulkReduce,
    BulkToGlobalMasked,
    BulkMaskedExtent,
    BulkClear,
    // interp/tensor_copy.hpp
    TensorLoad,
    TensorLoadMany,
    TensorStore,
    TensorReduce,
    TensorPrefetch,
    TensorMapReplace,
    TensorMapCopy,
    // interp/texture.hpp
    TextureQuery,
    TextureIsType,
    SurfaceAccess,
    // interp/launch_control.hpp, interp/video.hpp
    TryCancel,
    Video,
    // builtins/builtins.hpp
    Print,
    FailAssert,
    HeapAllocate,
    HeapRelease,
    SetConditional,
    LaunchGraph,
    FindCurrentGraph,
    MakeLaunch,
    LaunchKernel,
    LaunchCopy,
    LaunchFill,
    AskLauncher,
    // check/handlers.hpp
    CheckAccess,
    CheckAccessAsync,
    CheckTensorLoad,
    CheckTensorStore,
    CheckTensorReduction,
    CheckWaited,
    CheckRelease,
    CheckAcquire,
    CheckFenceProxy,
    CheckCommitGroup,
    CheckWaitGroup,
    CheckReleaseBlock,
    CheckAcquireBlock,
    CheckMeet,
    CheckMembership,
    CheckMarkLocal,
    CheckShake,
    CheckUseRegisters,
    CheckOrderProducts,
    Count,
};

namespace bytecode {

/// The kinds of forms. Each one but Fixed has a structure in forms.hpp, image_forms.hpp or
/// matrix_forms.hpp.
enum class Family : std::uint8_t {
    None,
    Fixed, // a FixedOp
    Move,
    Integer,
    Dot,
    Bits,
    Carry,
    Float, // also halves
    Compare,
    Convert,
    Memory,
    Atomic,
    Warp,
    Matrix,
    Copy,
    Pack,
    Sample,
    Spread,
    Settle,
};

/// Which of an instruction's handlers runs it.
enum class Variant : std::uint8_t {
    Plain,
    Linear, // reads or writes the heads of linear registers; find_linear
    // A linear load that also runs the load and the multiply-add behind it; fuse_loads. The names
    // say how the sum uses the two values: bytecode/fused_forms.hpp.
    FusedProduct,
    FusedAddsSecond,
    FusedAddsFirst,
    // As FusedProduct, and the sum is used only by the next such load, which follows after linear
    // additions of 64 bits (LinkedAdd). One handler runs the whole chain, and the linear additions
    // behind it.
    FusedChain,
    LinkedAdd,
    LinkedAdd32, // only behind a chain
    // An f32 instruction whose handler also runs the next one, the only reader of the result;
    // find_pairs. No code jumps between them.
    FusedPair,
};

/// The family of a form's structure; specialised beside each structure.
template <typename T>
constexpr Family FAMILY_OF = Family::None;

template <>
constexpr inline Family FAMILY_OF<FixedOp> = Family::Fixed;

/// What an instruction does. Converts from the structure of every family.
class Form {
public:
    static constexpr std::size_t MAX_BYTES = 14;

    constexpr Form() = default;

    template <typename T>
        requires(FAMILY_OF<T> != Family::None)
    Form(const T& form) : family_(FAMILY_OF<T>) { // NOLINT(google-explicit-constructor)
        static_assert(sizeof(T) <= MAX_BYTES && std::is_trivially_copyable_v<T>);
        std::memcpy(bytes_, &form, sizeof form);
    }

    [[nodiscard]] Family family() const { return family_; }

    /// Returns the structure. Call it only for a form of this family.
    template <typename T>
    [[nodiscard]] T as() const {
        T form;
        std::memcpy(&form, bytes_, sizeof form);
        return form;
    }

    /// Returns whether this is one of the instructions without a structure.
    [[nodiscard]] bool is(FixedOp op) const {
        return family_ == Family::Fixed && bytes_[0] == static_cast<std::uint8_t>(op);
    }

    Variant variant = Variant::Plain;

private:
    Family family_ = Family::None;
    std::uint8_t bytes_[MAX_BYTES] = {};
};

static_assert(sizeof(Form) == 16);

} // namespace bytecode

} // namespace cuprum::emulator
