// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Gives every instruction the handler of its form and variant. This is the only place where a
// kernel's handlers are chosen.

#include "builtins/builtins.hpp"
#include "bytecode/forms.hpp"
#include "check/handlers.hpp"
#include "decode/select.hpp"
#include "interp/bulk_copy.hpp"
#include "interp/cluster.hpp"
#include "interp/control.hpp"
#include "interp/launch_control.hpp"
#include "interp/mbarrier.hpp"
#include "interp/tensor_copy.hpp"
#include "interp/texture.hpp"
#include "interp/video.hpp"
#include "jit/tiers.hpp"
#include "passes/build.hpp"

#include <array>
#include <span>
#include <unordered_set>

namespace cuprum::emulator::passes {

using bytecode::Family;
using bytecode::Handler;
using bytecode::Instruction;
using bytecode::Variant;

namespace {

struct FixedHandler {
    FixedOp op;
    Handler handler;
};

/// In the order of FixedOp.
constexpr std::array FIXED_HANDLERS{
    FixedHandler{FixedOp::Branch, control::branch},
    FixedHandler{FixedOp::BranchGuarded, control::branch_guarded},
    FixedHandler{FixedOp::BranchToWait, control::branch_to_wait},
    FixedHandler{FixedOp::BranchIndexed, control::branch_indexed},
    FixedHandler{FixedOp::Exit, control::exit_lanes},
    FixedHandler{FixedOp::Trap, control::trap},
    FixedHandler{FixedOp::BarrierSync, control::barrier_sync},
    FixedHandler{FixedOp::BarrierArrive, control::barrier_arrive},
    FixedHandler{FixedOp::BarrierReduce, control::barrier_reduce},
    FixedHandler{FixedOp::Rendezvous, control::rendezvous},
    FixedHandler{FixedOp::Sleep, control::sleep},
    FixedHandler{FixedOp::Call, control::call},
    FixedHandler{FixedOp::CallIndirect, control::call_indirect},
    FixedHandler{FixedOp::Return, control::return_lanes},
    FixedHandler{FixedOp::PassBytes, control::pass_bytes},
    FixedHandler{FixedOp::FetchBytes, control::fetch_bytes},
    FixedHandler{FixedOp::LocalAddress, control::local_address},
    FixedHandler{FixedOp::ReadLocal, control::read_local},
    FixedHandler{FixedOp::WriteLocal, control::write_local},
    FixedHandler{FixedOp::AllocateStack, control::allocate_stack},
    FixedHandler{FixedOp::ReadClock32, control::read_clock32},
    FixedHandler{FixedOp::ReadClock64, control::read_clock64},
    FixedHandler{FixedOp::ReadTimer32, control::read_timer32},
    FixedHandler{FixedOp::ReadTimer64, control::read_timer64},
    FixedHandler{FixedOp::MapAddress, cluster::map_address},
    FixedHandler{FixedOp::RankOf, cluster::rank_of},
    FixedHandler{FixedOp::IsOwnShared, cluster::is_own_shared},
    FixedHandler{FixedOp::ClusterArrive, cluster::arrive},
    FixedHandler{FixedOp::ClusterWait, cluster::wait},
    FixedHandler{FixedOp::MbarrierInit, mbarrier::init},
    FixedHandler{FixedOp::MbarrierInvalidate, mbarrier::invalidate},
    FixedHandler{FixedOp::MbarrierArrive, mbarrier::arrive},
    FixedHandler{FixedOp::MbarrierWait, mbarrier::wait},
    FixedHandler{FixedOp::MbarrierExpect, mbarrier::expect_tx},
    FixedHandler{FixedOp::MbarrierComplete, mbarrier::complete_tx},
    FixedHandler{FixedOp::MbarrierCheck, mbarrier::check},
    FixedHandler{FixedOp::MbarrierPendingCount, mbarrier::pending_count},
    FixedHandler{FixedOp::BulkToShared, bulk_copy::to_shared},
    FixedHandler{FixedOp::BulkToSharedTrimmed, bulk_copy::to_shared_trimmed},
    FixedHandler{FixedOp::BulkToGlobal, bulk_copy::to_global},
    FixedHandler{FixedOp::BulkToMany, bulk_copy::to_many},
    FixedHandler{FixedOp::BulkBetweenShared, bulk_copy::between_shared},
    FixedHandler{FixedOp::BulkReduce, bulk_copy::reduce},
    FixedHandler{FixedOp::BulkToGlobalMasked, bulk_copy::to_global_masked},
    FixedHandler{FixedOp::BulkMaskedExtent, bulk_copy::masked_extent},
    FixedHandler{FixedOp::BulkClear, bulk_copy::clear},
    FixedHandler{FixedOp::TensorLoad, tensor_copy::load},
    FixedHandler{FixedOp::TensorLoadMany, tensor_copy::load_many},
    FixedHandler{FixedOp::TensorStore, tensor_copy::store},
    FixedHandler{FixedOp::TensorReduce, tensor_copy::reduce},
    FixedHandler{FixedOp::TensorPrefetch, tensor_copy::prefetch},
    FixedHandler{FixedOp::TensorMapReplace, tensor_map::replace},
    FixedHandler{FixedOp::TensorMapCopy, tensor_map::copy},
    FixedHandler{FixedOp::TextureQuery, texture::query},
    FixedHandler{FixedOp::TextureIsType, texture::is_type},
    FixedHandler{FixedOp::SurfaceAccess, surface::access},
    FixedHandler{FixedOp::TryCancel, launch_control::try_cancel},
    FixedHandler{FixedOp::Video, video::run},
    FixedHandler{FixedOp::Print, builtins::print},
    FixedHandler{FixedOp::FailAssert, builtins::fail_assert},
    FixedHandler{FixedOp::HeapAllocate, builtins::allocate},
    FixedHandler{FixedOp::HeapRelease, builtins::release},
    FixedHandler{FixedOp::SetConditional, builtins::set_conditional},
    FixedHandler{FixedOp::LaunchGraph, builtins::launch_graph},
    FixedHandler{FixedOp::FindCurrentGraph, builtins::find_current_graph},
    FixedHandler{FixedOp::MakeLaunch, builtins::make_launch},
    FixedHandler{FixedOp::LaunchKernel, builtins::launch_kernel},
    FixedHandler{FixedOp::LaunchCopy, builtins::launch_copy},
    FixedHandler{FixedOp::LaunchFill, builtins::launch_fill},
    FixedHandler{FixedOp::AskLauncher, builtins::ask_launcher},
    FixedHandler{FixedOp::CheckAccess, check::access},
    FixedHandler{FixedOp::CheckAccessAsync, check::access_async},
    FixedHandler{FixedOp::CheckTensorLoad, check::tensor_load},
    FixedHandler{FixedOp::CheckTensorStore, check::tensor_store},
    FixedHandler{FixedOp::CheckTensorReduction, check::tensor_reduction},
    FixedHandler{FixedOp::CheckWaited, check::waited},
    FixedHandler{FixedOp::CheckRelease, check::release},
    FixedHandler{FixedOp::CheckAcquire, check::acquire},
    FixedHandler{FixedOp::CheckFenceProxy, check::fence_proxy},
    FixedHandler{FixedOp::CheckCommitGroup, check::commit_group},
    FixedHandler{FixedOp::CheckWaitGroup, check::wait_group},
    FixedHandler{FixedOp::CheckReleaseBlock, check::release_block},
    FixedHandler{FixedOp::CheckAcquireBlock, check::acquire_block},
    FixedHandler{FixedOp::CheckMeet, check::meet},
    FixedHandler{FixedOp::CheckMembership, check::membership},
    FixedHandler{FixedOp::CheckMarkLocal, check::mark_local},
    FixedHandler{FixedOp::CheckShake, check::shake},
    FixedHandler{FixedOp::CheckUseRegisters, check::use_registers},
    FixedHandler{FixedOp::CheckOrderProducts, check::order_products},
};

constexpr bool is_in_order() {
    for (std::size_t i = 0; i < FIXED_HANDLERS.size(); ++i) {
        if (FIXED_HANDLERS[i].op != static_cast<FixedOp>(i)) {
            return false;
        }
    }
    return FIXED_HANDLERS.size() == static_cast<std::size_t>(FixedOp::Count);
}

static_assert(is_in_order());

Handler handler_of(const bytecode::Form& form) {
    return form.family() == Family::Fixed
               ? FIXED_HANDLERS[static_cast<std::size_t>(form.as<FixedOp>())].handler
               : plain_handler(form);
}

/// Gives every instruction its handler for warps.
void select_for_warps(std::vector<Instruction>& code) {
    for (std::size_t i = 0; i < code.size(); ++i) {
        Instruction& instruction = code[i];
        const Variant variant = instruction.form.variant;
        instruction.handler = handler_of(instruction.form);
        if (variant == Variant::Plain) {
            continue;
        }
        instruction.plain = instruction.handler;
        const bool is_single = variant == Variant::Linear || variant == Variant::LinkedAdd ||
                               variant == Variant::LinkedAdd32;
        instruction.handler = is_single ? linear_handler(instruction.form)
                              : variant == Variant::FusedPair
                                  ? pair_handler(instruction, code[i + 1])
                                  : fused_handler(instruction.form, code[i + 1].form);
    }
}

/// How many instructions of a kernel may run in lockstep: enough for the start of any kernel.
constexpr std::size_t MAX_LOCKSTEP = 1024;

/// Finds the handlers that run the first instructions for whole blocks, up to the first one that
/// has none.
std::vector<bytecode::LockstepHandler> lockstep_handlers(const std::vector<Instruction>& code) {
    std::vector<bytecode::LockstepHandler> handlers;
    for (std::size_t i = 0; i < std::min(code.size(), MAX_LOCKSTEP); ++i) {
        const bytecode::LockstepHandler handler = lockstep_handler(std::span(code).subspan(i));
        if (handler == nullptr) {
            break;
        }
        handlers.push_back(handler);
    }
    handlers.shrink_to_fit();
    return handlers;
}

/// Returns how many instructions, from the first of `code` on, have results that a fused handler
/// does not write to registers.
std::size_t skipped_results(std::span<const Instruction> code) {
    const auto is_global = [](const Instruction& load) {
        return load.form.as<MemoryForm>().space == ptx::Space::Global;
    };
    switch (code[0].form.variant) {
    case Variant::FusedPair:
        return 1;
    case Variant::FusedProduct:
    case Variant::FusedAddsSecond:
    case Variant::FusedAddsFirst:
    case Variant::FusedChain: {
        const bool runs_store =
            (code[2].flags & bytecode::RUNS_NEXT) != 0 && is_global(code[0]) && is_global(code[1]);
        return runs_store ? 3 : 2;
    }
    default:
        return 0;
    }
}

/// Returns the size of the registers in a frame that receive nothing but skipped results.
std::uint32_t skipped_bytes_of(const bytecode::Kernel& kernel) {
    std::unordered_set<std::uint32_t> skipped;
    std::unordered_set<std::uint32_t> written;
    const std::vector<Instruction>& code = kernel.code;
    std::size_t left = 0; // skipped results from here on
    for (std::size_t i = 0; i < std::min(code.size(), MAX_LOCKSTEP); ++i) {
        left = std::max(left, skipped_results(std::span(code).subspan(i)));
        for (std::uint32_t each = 0; each < code[i].dst_count; ++each) {
            (left != 0 ? skipped : written).insert(code[i].dst[each].bits);
        }
        for (std::uint32_t each = 0; each < code[i].extra_dst_count; ++each) {
            written.insert(kernel.operands[code[i].extra + each].bits);
        }
        left -= left != 0 ? 1 : 0;
    }
    const auto is_untouched = [&](std::uint32_t operand) { return !written.contains(operand); };
    return static_cast<std::uint32_t>(std::ranges::count_if(skipped, is_untouched)) *
           bytecode::slot_bytes(bytecode::Width::B32);
}

/// Returns whether several blocks may run in lockstep (exec/team.hpp): every instruction has a
/// handler, there is no loop, and nothing treats blocks as a whole.
bool can_run_in_teams(const bytecode::Kernel& kernel) {
    if (kernel.lockstep.size() != kernel.code.size() || kernel.local_bytes != 0 ||
        kernel.max_frames != 1 || kernel.uses_grid_sync) {
        return false;
    }
    for (const Instruction& instruction : kernel.code) {
        const bytecode::Form& form = instruction.form;
        const bool is_loop = (instruction.flags & bytecode::IS_BRANCH) != 0 &&
                             instruction.immediate <= 0; // the distance to the target
        const bool is_barrier =
            form.family() == Family::Fixed && form.as<FixedOp>() == FixedOp::BarrierSync;
        const bool is_chain = form.variant == Variant::FusedChain ||
                              form.variant == Variant::LinkedAdd ||
                              form.variant == Variant::LinkedAdd32;
        if (is_loop || is_barrier || is_chain) {
            return false;
        }
    }
    return true;
}

/// Returns the index of the first instruction that changes more than registers.
std::uint32_t first_effect_of(const std::vector<Instruction>& code) {
    std::uint32_t index = 0;
    while (index < code.size() && ((code[index].flags & bytecode::HAS_SIDE_EFFECT) == 0 ||
                                   (code[index].flags & bytecode::ENDS_BLOCK) != 0)) {
        ++index;
    }
    return index;
}

/// The code of the interpreter: the kernel's own. Handlers whose work depends on the shape of
/// blocks look at WarpContext::row_mask.
class InterpreterCode final : public bytecode::CodeSource {
public:
    explicit InterpreterCode(const bytecode::Kernel& kernel)
        : code_{.instructions = kernel.code.data(), .lockstep = kernel.lockstep}, slot_(code_),
          compiled_(kernel) {}

    [[nodiscard]] const bytecode::CodeSlot& code() override { return slot_; }

    [[nodiscard]] jit::CodeCache* compiled_code() noexcept override { return &compiled_; }

private:
    bytecode::Code code_;
    bytecode::CodeSlot slot_;
    jit::CodeCache compiled_;
};

} // namespace

void select_handlers(KernelBuild& build) {
    select_for_warps(build.kernel.code);
    if (build.options.memory == nullptr || build.options.memory->checks == 0) {
        build.kernel.lockstep = lockstep_handlers(build.kernel.code);
        build.kernel.skipped_bytes = skipped_bytes_of(build.kernel);
        build.kernel.can_run_in_teams = can_run_in_teams(build.kernel);
        build.kernel.first_effect = first_effect_of(build.kernel.code);
    }
}

std::shared_ptr<bytecode::CodeSource> code_source_of(const bytecode::Kernel& kernel) {
    return std::make_shared<InterpreterCode>(kernel);
}

} // namespace cuprum::emulator::passes
