// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Single instructions: those that only compute, and those that run by their handler.

#include "bytecode/forms.hpp"
#include "jit_llvm/emit_values.hpp"
#include "jit_llvm/kernel_emitter.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <limits>

namespace cuprum::emulator::jit {

using bytecode::Family;
using bytecode::Instruction;
using bytecode::WARP_SIZE;
using bytecode::Width;

namespace {

/// What an instruction makes wider: whether the narrow value is signed, and which sources it is.
struct Widening {
    bool is_signed = false;
    std::uint32_t sources = 0; // mask of narrow sources; 0: it widens nothing
};

Widening widening_of(const Instruction& at) {
    if (at.form.family() == Family::Integer) {
        const auto form = at.form.as<IntegerForm>();
        if ((form.op == IntegerOp::MulWide || form.op == IntegerOp::MadWide) &&
            (form.type == ptx::Type::S32 || form.type == ptx::Type::U32)) {
            return {form.type == ptx::Type::S32, 3};
        }
    }
    if (at.form.family() == Family::Convert) {
        const auto form = at.form.as<ConvertForm>();
        if (form.to_width == Width::B64 && (form.from == Format::S32 || form.from == Format::U32)) {
            return {form.from == Format::S32, 1};
        }
    }
    return {};
}

} // namespace

/// Returns the lanes of a mask in which the guard of a node holds. Sets `guard` to the guard, a
/// scalar or a vector, or to null if there is none.
KernelEmitter::Mask KernelEmitter::guarded(const Node& node, Mask mask, IR& guard) {
    guard = nullptr;
    if (node.guard.kind == Ref::Kind::None) {
        return mask;
    }
    const bool is_negated = (at(node).flags & bytecode::GUARD_NEGATED) != 0;
    const bool is_uniform = !lanes_of(graph_, node.guard, version_).is_varying();
    guard =
        is_uniform ? scalar(node.guard, Width::Predicate) : vector(node.guard, Width::Predicate);
    if (is_negated) {
        guard = ir_.CreateNot(guard);
    }
    return both(mask, is_uniform ? splat(guard) : guard);
}

void KernelEmitter::emit_node(std::uint32_t block, std::size_t node, Mask mask) {
    const Node& about = graph_.blocks[block].nodes[node];
    if (!about.is_needed) {
        return;
    }
    if (at(about).form.is(FixedOp::Rendezvous)) {
        (void)emit_rendezvous(block, node, mask);
        return;
    }
    guard_widening(block, node, mask);
    if (emit_value(about, mask)) {
        return;
    }
    IR guard = nullptr;
    const Mask here = guarded(about, mask, guard);
    if ((at(about).form.family() == Family::Memory && emit_memory(about, here)) ||
        (at(about).form.family() == Family::Warp && emit_warp(about, here))) {
        return;
    }
    run_handler(about, here);
}

/// Returns whether a word plus each of the numbers from `least` to `most` is in its range, with a
/// sign or without.
KernelEmitter::IR KernelEmitter::stays_in_range(IR base, std::int64_t least, std::int64_t most,
                                                bool is_signed) {
    const auto limit = [&](std::int64_t value) {
        return ir_.getInt32(static_cast<std::uint32_t>(value));
    };
    const std::int64_t above = std::max<std::int64_t>(most, 0);
    if (is_signed) {
        constexpr std::int64_t top = std::numeric_limits<std::int32_t>::max();
        constexpr std::int64_t bottom = std::numeric_limits<std::int32_t>::min();
        IR const fits = ir_.CreateICmpSLE(base, limit(top - above));
        return least >= 0 ? fits
                          : ir_.CreateAnd(fits, ir_.CreateICmpSGE(base, limit(bottom - least)));
    }
    constexpr std::int64_t top = std::numeric_limits<std::uint32_t>::max();
    IR const fits = ir_.CreateICmpULE(base, limit(top - above));
    return least >= 0 ? fits : ir_.CreateAnd(fits, ir_.CreateICmpUGE(base, limit(-least)));
}

/// Makes sure that no lane of a pattern leaves the range of the narrow type: the wide value would
/// not follow the pattern. Such a gang stops before the instruction.
void KernelEmitter::guard_widening(std::uint32_t block, std::size_t node, Mask mask) {
    const Node& about = graph_.blocks[block].nodes[node];
    if (!about.must_not_wrap[static_cast<std::size_t>(version_)]) {
        return;
    }
    const Widening widening = widening_of(at(about));
    for (std::size_t s = 0; s < about.sources.size() && s < 2; ++s) {
        if ((widening.sources >> s & 1) == 0) {
            continue;
        }
        const Lanes found = lanes_of(graph_, about.sources[s], version_);
        if (found.kind != Lanes::Kind::Pattern) {
            continue;
        }
        const auto [least, most] = std::ranges::minmax(found.offsets);
        IR const base = scalar(about.sources[s], Width::B32);
        IR const fits = stays_in_range(base, least, most, widening.is_signed);
        llvm::BasicBlock* const wide = new_block("fits");
        llvm::BasicBlock* const wraps = new_block("wraps");
        ir_.CreateCondBr(ir_.CreateNot(fits), wraps, wide, unlikely_);
        const Known kept = known_;
        begin(wraps);
        bail(block, node, mask);
        known_ = kept;
        begin(wide);
    }
}

/// Sets a value from its lanes.
void KernelEmitter::define_lanes(std::uint32_t value, IR vector) {
    const Lanes& about = lanes(value);
    if (about.is_varying() || !vector->getType()->isVectorTy()) {
        define(value, vector);
        return;
    }
    IR base = ir_.CreateExtractElement(vector, std::uint64_t{0});
    if (about.kind == Lanes::Kind::Pattern && about.offsets[0] != 0) {
        base = ir_.CreateSub(
            base,
            llvm::ConstantInt::get(base->getType(), static_cast<std::uint64_t>(about.offsets[0])));
    }
    define(value, base);
}

/// Sets the results of a node, which keep what they were where the guard does not hold.
void KernelEmitter::merge_results(const Node& node, IR guard, llvm::ArrayRef<IR> results,
                                  bool are_scalars) {
    for (std::size_t r = 0; r < node.results.size(); ++r) {
        const std::uint32_t value = node.results[r];
        if (value == NONE || results[r] == nullptr) {
            continue;
        }
        const Width width = graph_.values[value].width;
        IR result = as_width(results[r], width);
        if (guard != nullptr) {
            const std::uint32_t before = node.previous[r];
            const Ref old{.kind = Ref::Kind::Value, .operand = {}, .value = before};
            if (are_scalars) {
                result = ir_.CreateSelect(guard, result, first_lane(old, width));
            } else {
                if (!result->getType()->isVectorTy()) {
                    result = splat(result);
                }
                result = ir_.CreateSelect(guard, result, vector(old, width));
            }
        }
        if (!are_scalars) {
            define_lanes(value, result);
            continue;
        }
        const Lanes& about = lanes(value);
        if (about.kind == Lanes::Kind::Pattern && about.offsets[0] != 0) {
            result = ir_.CreateSub(
                result, llvm::ConstantInt::get(result->getType(),
                                               static_cast<std::uint64_t>(about.offsets[0])));
        }
        define(value, result);
    }
}

/// Emits an instruction that only computes. Returns false if it is something else.
bool KernelEmitter::emit_value(const Node& node, Mask mask) {
    const Instruction& instruction = at(node);
    if (!ValueEmitter::can_emit(instruction, target_)) {
        return false;
    }
    const bool are_scalars = std::ranges::all_of(node.results, [&](std::uint32_t value) {
        return value == NONE || !lanes(value).is_varying();
    });
    IR guard = nullptr;
    (void)guarded(node, mask, guard);
    ValueEmitter emitter(ir_, *graph_.kernel, are_scalars ? 1 : width_, target_);
    llvm::SmallVector<IR, 4> results;
    const bool reads_bits = ValueEmitter::reads_bits(instruction);
    const bool is_done = emitter.emit(
        instruction,
        [&](unsigned index, Width width) {
            return are_scalars ? first_lane(node.sources[index], width, reads_bits)
                               : vector(node.sources[index], width, reads_bits);
        },
        results, !leaves_raw(node));
    if (!is_done) {
        return false;
    }
    merge_results(node, guard, results, are_scalars);
    return true;
}

/// Runs a node by its handler, for lanes of a mask. Appends what its results are in the frame then:
/// a scalar where the lanes do not vary.
void KernelEmitter::call_handler(const Node& node, Mask mask, const Access* access,
                                 llvm::SmallVectorImpl<IR>& results) {
    const Mask live = live_mask(); // other lanes of the gang may stand elsewhere
    for (const Ref& source : node.sources) {
        if (source.kind != Ref::Kind::Value) {
            continue;
        }
        const Value& value = graph_.values[source.value];
        if (value.kind != Value::Kind::Entry && value.kind != Value::Kind::Undefined) {
            store_slot(value.slot, value.width, canonical_vector(source.value), live);
        }
    }
    IR const is_fine = access == nullptr ? call_run(node, mask) : call_access(node, mask, *access);
    llvm::BasicBlock* const fine = new_block("fine");
    llvm::BasicBlock* const faulted = new_block("faulted");
    ir_.CreateCondBr(is_fine, fine, faulted);
    begin(faulted);
    ir_.CreateRetVoid(); // no lane stands anywhere
    begin(fine);
    for (const std::uint32_t each : node.results) {
        if (each == NONE) {
            results.push_back(nullptr);
            continue;
        }
        const Value& value = graph_.values[each];
        const Lanes& about = lanes(each);
        results.push_back(about.is_uniform()
                              ? load_slot_lane(value.slot, value.width, first_active(mask))
                              : load_slot(value.slot, value.width));
    }
}

void KernelEmitter::run_handler(const Node& node, Mask mask) {
    llvm::SmallVector<IR, 4> results;
    IR guard = nullptr;
    if (node.guard.kind != Ref::Kind::None) {
        (void)guarded(node, {}, guard);
        if (!guard->getType()->isVectorTy()) {
            guard = splat(guard);
        }
    }
    call_handler(node, mask, nullptr, results);
    merge_results(node, guard, results, false);
}

/// Lanes of a member mask meet. If all lanes of the warp are here, they have met; otherwise the
/// interpreter decides.
bool KernelEmitter::emit_rendezvous(std::uint32_t block, std::size_t node, Mask mask) {
    if (mask.is_full() && width_ == WARP_SIZE) {
        return true;
    }
    IR const present = field(warp_, offsetof(WarpContext, present), ir_.getInt32Ty(), "present");
    IR const exited =
        field(warp_, offsetof(WarpContext, exited), ir_.getInt32Ty(), "exited", false);
    IR const left = version_ == Version::Full
                        ? static_cast<IR>(ir_.getInt32(0))
                        : warp_mask({ir_.CreateLoad(vector_of(Width::Predicate), left_)});
    IR const alive = ir_.CreateAnd(present, ir_.CreateNot(ir_.CreateOr(exited, left)));
    llvm::BasicBlock* const met = new_block("met");
    llvm::BasicBlock* const waits = new_block("waits");
    const Ref& members = graph_.blocks[block].nodes[node].sources[0];
    IR missing = ir_.CreateAnd(alive, ir_.CreateNot(warp_mask(mask)));
    if (lanes_of(graph_, members, version_).is_uniform()) { // lanes that nobody names need not come
        missing = ir_.CreateAnd(missing, scalar(members, Width::B32));
    }
    ir_.CreateCondBr(ir_.CreateICmpEQ(missing, ir_.getInt32(0)), met, waits);
    const Known kept = known_;
    begin(waits);
    bail(block, node, mask);
    known_ = kept;
    begin(met);
    return true;
}

} // namespace cuprum::emulator::jit
