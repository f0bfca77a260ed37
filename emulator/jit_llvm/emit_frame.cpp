// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Where compiled code meets the interpreter: the frame of the warp, entries and stops.

#include "jit_llvm/kernel_emitter.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

namespace cuprum::emulator::jit {

using bytecode::LinearHead;
using bytecode::WARP_SIZE;
using bytecode::Width;

/// Loads a field of memory that kernels cannot reach. `is_constant`: nothing writes it while the
/// gang runs.
KernelEmitter::IR KernelEmitter::field(IR base, std::size_t offset, llvm::Type* type,
                                       const char* name, bool is_constant) {
    IR const place = ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), base, offset);
    llvm::LoadInst* const load = ir_.CreateAlignedLoad(type, place, llvm::Align(4), name);
    load->setMetadata(llvm::LLVMContext::MD_alias_scope, engine_scope_);
    load->setMetadata(llvm::LLVMContext::MD_noalias, device_scope_);
    if (is_constant) {
        load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    }
    return load;
}

/// Returns where the gang's lanes of a register are; for predicates, the warp's word.
KernelEmitter::IR KernelEmitter::slot_pointer(std::uint32_t slot, Width width) {
    IR offset = ir_.getInt64(slot);
    if (width != Width::Predicate && width_ != WARP_SIZE) {
        offset = ir_.CreateAdd(
            offset, ir_.CreateMul(first64_, ir_.getInt64(static_cast<std::uint64_t>(width))));
    }
    return ir_.CreateInBoundsGEP(ir_.getInt8Ty(), bank_[0], offset);
}

namespace {

template <typename Access>
Access* in_engine(Access* access, llvm::MDNode* engine, llvm::MDNode* device) {
    access->setMetadata(llvm::LLVMContext::MD_alias_scope, engine);
    access->setMetadata(llvm::LLVMContext::MD_noalias, device);
    return access;
}

} // namespace

KernelEmitter::IR KernelEmitter::load_slot(std::uint32_t slot, Width width) {
    IR const place = slot_pointer(slot, width);
    if (width == Width::Predicate) {
        IR const word = in_engine(ir_.CreateAlignedLoad(ir_.getInt32Ty(), place, llvm::Align(4)),
                                  engine_scope_, device_scope_);
        IR const part = ir_.CreateTrunc(ir_.CreateLShr(word, first_), ir_.getIntNTy(width_));
        return ir_.CreateBitCast(part, vector_of(width));
    }
    return in_engine(ir_.CreateAlignedLoad(vector_of(width), place, llvm::Align(16)), engine_scope_,
                     device_scope_);
}

/// Loads the value of one lane of the gang.
KernelEmitter::IR KernelEmitter::load_slot_lane(std::uint32_t slot, Width width, IR lane) {
    IR const place = slot_pointer(slot, width);
    if (width == Width::Predicate) {
        IR const word = in_engine(ir_.CreateAlignedLoad(ir_.getInt32Ty(), place, llvm::Align(4)),
                                  engine_scope_, device_scope_);
        IR const at = ir_.CreateAdd(ir_.CreateTrunc(lane, ir_.getInt32Ty()), first_);
        return ir_.CreateTrunc(ir_.CreateLShr(word, at), ir_.getInt1Ty());
    }
    IR const element =
        ir_.CreateInBoundsGEP(ir_.getInt8Ty(), place,
                              ir_.CreateMul(lane, ir_.getInt64(static_cast<std::uint64_t>(width))));
    return in_engine(ir_.CreateAlignedLoad(type_of(width), element, llvm::Align(4)), engine_scope_,
                     device_scope_);
}

bool KernelEmitter::is_linear(std::uint32_t slot) const {
    for (const bytecode::SlotRange& range : graph_.kernel->slot_ranges) {
        if (slot >= range.begin && slot < range.end) {
            return range.is_linear;
        }
    }
    return false;
}

/// Stores lanes of a mask to a register.
void KernelEmitter::store_slot(std::uint32_t slot, Width width, IR value, Mask mask) {
    IR const place = slot_pointer(slot, width);
    const auto store = [&](IR what, IR where, unsigned alignment) {
        in_engine(ir_.CreateAlignedStore(what, where, llvm::Align(alignment)), engine_scope_,
                  device_scope_);
    };
    if (width == Width::Predicate) {
        IR const word = ir_.CreateShl(ir_.CreateZExt(bits({value}), ir_.getInt32Ty()), first_);
        if (mask.is_full() && width_ == WARP_SIZE) {
            store(word, place, 4);
            return;
        }
        IR const keep = warp_mask(mask);
        IR const old = in_engine(ir_.CreateAlignedLoad(ir_.getInt32Ty(), place, llvm::Align(4)),
                                 engine_scope_, device_scope_);
        store(ir_.CreateOr(ir_.CreateAnd(old, ir_.CreateNot(keep)), ir_.CreateAnd(word, keep)),
              place, 4);
        return;
    }
    if (!mask.is_full()) {
        value = ir_.CreateSelect(mask.bits, value, load_slot(slot, width));
    }
    store(value, place, 16);
    if (is_linear(slot)) { // only the lanes hold the value
        constexpr std::int64_t head = sizeof(LinearHead);
        for (const std::size_t flag :
             {offsetof(LinearHead, has_lanes), offsetof(LinearHead, is_varied)}) {
            const std::int64_t offset = std::int64_t{slot} - head + static_cast<std::int64_t>(flag);
            store(ir_.getInt64(1),
                  ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), bank_[0],
                                                 static_cast<std::uint64_t>(offset)),
                  8);
        }
    }
}

/// Stores values to their registers for lanes of a mask. Phis of block `phis_of` are still where
/// the block before has put them.
void KernelEmitter::spill(const std::vector<std::uint32_t>& values, Mask mask,
                          std::uint32_t phis_of) {
    for (const std::uint32_t each : values) {
        const Value& value = graph_.values[each];
        if (value.kind == Value::Kind::Undefined || value.kind == Value::Kind::Entry) {
            continue; // what the kernel finds in its frame is there still
        }
        IR lanes_now = nullptr;
        if (value.kind == Value::Kind::Phi && value.block == phis_of) {
            const bool is_vector = lanes(each).is_varying();
            lanes_now = ir_.CreateLoad(is_vector ? vector_of(value.width) : type_of(value.width),
                                       home(each, version_, true));
            if (!is_vector) {
                lanes_now = splat(lanes_now);
                if (lanes(each).kind == Lanes::Kind::Pattern) {
                    lanes_now =
                        ir_.CreateAdd(lanes_now, pattern(lanes(each), type_of(value.width)));
                }
            }
        } else {
            lanes_now = vector_of_value(each);
        }
        if (raw_[each]) {
            lanes_now = canonical(lanes_now);
        }
        store_slot(value.slot, value.width, lanes_now, mask);
    }
}

/// Says that lanes stand at an instruction.
void KernelEmitter::stand(std::uint32_t pc, Mask mask, bool is_perhaps_empty) {
    IR const lanes_here = warp_mask(mask);
    IR const count_place =
        ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), call_, offsetof(GangCall, stand_count));
    IR const count = ir_.CreateLoad(ir_.getInt32Ty(), count_place);
    IR const offset = ir_.CreateAdd(
        ir_.CreateMul(ir_.CreateZExt(count, ir_.getInt64Ty()), ir_.getInt64(sizeof(Stand))),
        ir_.getInt64(offsetof(GangCall, stands)));
    IR const place = ir_.CreateInBoundsGEP(ir_.getInt8Ty(), call_, offset);
    ir_.CreateStore(ir_.getInt32(pc), place);
    ir_.CreateStore(lanes_here,
                    ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), place, offsetof(Stand, mask)));
    IR more = ir_.getInt32(1);
    if (is_perhaps_empty) {
        more = ir_.CreateZExt(ir_.CreateICmpNE(lanes_here, ir_.getInt32(0)), ir_.getInt32Ty());
    }
    ir_.CreateStore(ir_.CreateAdd(count, more), count_place);
}

/// Ends the run: lanes of `mask` stand at `pc`, where the values `live` are live; others wait for
/// later blocks.
void KernelEmitter::stop(std::uint32_t pc, const std::vector<std::uint32_t>& live,
                         std::uint32_t phis_of, std::uint32_t block, Mask mask) {
    if (version_ == Version::Full) {
        ir_.CreateStore(ir_.getInt32(1),
                        ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), call_,
                                                       offsetof(GangCall, has_stopped_full)));
    }
    mask = opaque(mask);
    spill(live, mask, phis_of);
    stand(pc, mask, !flow().waiting[block].empty());
    const std::vector<std::uint32_t>& all = flow().waiting[block];
    for (const std::uint32_t each : all) {
        const Mask waiting = waiting_mask(each, all, mask);
        spill(graph_.blocks[each].live_in, waiting, each);
        stand(graph_.blocks[each].pc, waiting, true);
    }
    if (graph_.exit != NONE && version_ == Version::Partial) {
        stand(graph_.blocks[graph_.exit].pc, {ir_.CreateLoad(vector_of(Width::Predicate), left_)},
              true);
    }
    ir_.CreateStore(
        ir_.CreateLoad(ir_.getInt32Ty(), budget_),
        ir_.CreateConstInBoundsGEP1_64(ir_.getInt8Ty(), call_, offsetof(GangCall, budget)));
    ir_.CreateRetVoid();
}

/// Returns the values that are live before a node of a block.
const std::vector<std::uint32_t>& KernelEmitter::live_before(std::uint32_t block,
                                                             std::size_t node) {
    const auto [found, is_new] = live_before_.try_emplace({block, node});
    if (!is_new) {
        return found->second;
    }
    const Block& about = graph_.blocks[block];
    std::map<std::uint32_t, std::uint32_t> by_slot;
    const auto use = [&](std::uint32_t value) {
        if (value != NONE) {
            by_slot[graph_.values[value].slot] = value;
        }
    };
    for (const std::uint32_t value : about.live_out) {
        use(value);
    }
    for (std::size_t n = about.nodes.size(); n-- > node;) {
        const Node& each = about.nodes[n];
        for (const std::uint32_t result : each.results) {
            if (result != NONE) {
                by_slot.erase(graph_.values[result].slot);
            }
        }
        for (const Ref& source : each.sources) {
            use(source.kind == Ref::Kind::Value ? source.value : NONE);
        }
        use(each.guard.kind == Ref::Kind::Value ? each.guard.value : NONE);
        for (const std::uint32_t value : each.previous) {
            use(value);
        }
    }
    for (const auto& [slot, value] : by_slot) {
        found->second.push_back(value);
    }
    return found->second;
}

/// Stops before a node, which the interpreter runs.
void KernelEmitter::bail(std::uint32_t block, std::size_t node, Mask mask) {
    stop(graph_.blocks[block].nodes[node].pc, live_before(block, node), NONE, block, mask);
}

/// Returns what is live for lanes of masks that stand before blocks.
std::vector<KernelEmitter::LiveEntry>
KernelEmitter::live_for(const std::vector<std::pair<std::uint32_t, IR>>& lanes_before) {
    std::vector<LiveEntry> live;
    std::map<std::pair<std::uint32_t, bool>, std::size_t> places;
    std::map<std::pair<IR, IR>, IR> unions;
    for (const auto& [block, mask] : lanes_before) {
        for (const std::uint32_t each : graph_.blocks[block].live_in) {
            const Value& value = graph_.values[each];
            if (value.kind == Value::Kind::Undefined) {
                continue;
            }
            const bool is_input = value.kind == Value::Kind::Phi && value.block == block;
            const auto [place, is_new] = places.try_emplace({each, is_input}, live.size());
            if (is_new) {
                live.push_back(
                    {.value = each, .is_input = is_input, .mask = mask, .lane = nullptr});
            } else if (!lanes(each).is_varying()) {
                IR& known = live[place->second].mask;
                IR& both = unions[{known, mask}];
                both = both == nullptr ? opaque({ir_.CreateOr(known, mask)}).bits : both;
                known = both;
            }
        }
    }
    std::map<IR, IR> lane_of;
    for (LiveEntry& each : live) {
        if (lanes(each.value).is_varying()) {
            continue;
        }
        IR& lane = lane_of[each.mask];
        if (lane == nullptr) { // no lane may wait
            IR const word = ir_.CreateZExt(bits({each.mask}), ir_.getInt64Ty());
            lane = ir_.CreateBinaryIntrinsic(
                llvm::Intrinsic::umin,
                ir_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, word, ir_.getFalse()),
                ir_.getInt64(width_ - 1));
        }
        each.lane = lane;
    }
    return live;
}

/// Returns the lanes in which values are not as P expects; null if no value can be so. Values that
/// do not vary must be the same for all lanes that need them, those that wait included.
KernelEmitter::IR KernelEmitter::find_strange(const std::vector<LiveEntry>& live) {
    IR strange = nullptr;
    for (const LiveEntry& each : live) {
        const Value& value = graph_.values[each.value];
        if (lanes(each.value).is_varying() || is_set_at_start(each.value)) {
            continue;
        }
        IR found = load_slot(value.slot, value.width);
        if (lanes(each.value).kind == Lanes::Kind::Pattern) {
            found = ir_.CreateSub(found, pattern(lanes(each.value), type_of(value.width)));
        }
        IR const base = ir_.CreateExtractElement(found, each.lane);
        IR const differs =
            ir_.CreateAnd(ir_.CreateICmpNE(found, ir_.CreateVectorSplat(width_, base)), each.mask);
        strange = strange == nullptr ? differs : ir_.CreateOr(strange, differs);
    }
    return strange;
}

/// Loads values as P has them.
void KernelEmitter::load_live(const std::vector<LiveEntry>& live) {
    for (const LiveEntry& each : live) {
        const Value& value = graph_.values[each.value];
        const Lanes& about = lanes(each.value);
        IR result = nullptr;
        if (about.is_varying()) {
            result = load_slot(value.slot, value.width);
        } else {
            result = load_slot_lane(value.slot, value.width, each.lane);
            if (about.kind == Lanes::Kind::Pattern) {
                IR const offsets = pattern(about, type_of(value.width));
                result = ir_.CreateSub(result, ir_.CreateExtractElement(offsets, each.lane));
            }
        }
        ir_.CreateStore(result, home(each.value, version_, each.is_input));
    }
}

/// Begins at a block: loads what is live there, and goes to one of its versions.
void KernelEmitter::emit_entry(std::uint32_t block, llvm::BasicBlock* at) {
    const Block& about = graph_.blocks[block];
    begin(at);
    known_ = Known();
    const auto lanes_at = [&](std::size_t offset) {
        IR const word = field(call_, offset, ir_.getInt32Ty(), "mask", false);
        return ir_.CreateTrunc(ir_.CreateLShr(word, first_), ir_.getIntNTy(width_));
    };
    auto* const mask_type = vector_of(Width::Predicate);
    IR const mask_bits = lanes_at(offsetof(GangCall, mask));
    Entry entry{.pc = about.pc, .waiting = {}, .linear_slots = {}};
    const std::vector<std::uint32_t>& waiting = graph_.flow(Version::Partial).waiting[block];
    std::vector<std::pair<std::uint32_t, IR>> others;
    IR all_waiting = llvm::Constant::getNullValue(ir_.getIntNTy(width_));
    for (const std::uint32_t each : waiting) {
        const std::uint32_t pc = graph_.blocks[each].pc;
        if (entry.waiting.size() == MAX_WAITING || std::ranges::count(entry.waiting, pc) != 0) {
            continue;
        }
        IR const other =
            lanes_at(offsetof(GangCall, waiting) + entry.waiting.size() * sizeof(std::uint32_t));
        entry.waiting.push_back(pc);
        others.emplace_back(each, other);
        all_waiting = ir_.CreateOr(all_waiting, other);
    }
    const auto note_linear = [&](std::uint32_t of) {
        for (const std::uint32_t each : graph_.blocks[of].live_in) {
            const std::uint32_t slot = graph_.values[each].slot;
            if (is_linear(slot) && std::ranges::count(entry.linear_slots, slot) == 0) {
                entry.linear_slots.push_back(slot);
            }
        }
    };
    note_linear(block);
    for (const auto& [each, mask] : others) {
        note_linear(each);
    }
    entries_.push_back(std::move(entry));

    const auto is_input = [&](std::uint32_t value) {
        const Value& about_value = graph_.values[value];
        return about_value.kind == Value::Kind::Phi && about_value.block == block;
    };
    // Returns the lanes in which what is live is not as F expects.
    const auto find_strange_in_full = [&] {
        version_ = Version::Full;
        IR strange = nullptr;
        for (const std::uint32_t each : about.live_in) {
            const Value& value = graph_.values[each];
            if (value.kind == Value::Kind::Undefined || lanes(each).is_varying() ||
                is_set_at_start(each)) {
                continue;
            }
            IR found = load_slot(value.slot, value.width);
            if (lanes(each).kind == Lanes::Kind::Pattern) {
                found = ir_.CreateSub(found, pattern(lanes(each), type_of(value.width)));
            }
            IR const base = ir_.CreateExtractElement(found, std::uint64_t{0});
            IR const differs = ir_.CreateICmpNE(found, ir_.CreateVectorSplat(width_, base));
            strange = strange == nullptr ? differs : ir_.CreateOr(strange, differs);
        }
        return strange;
    };
    llvm::BasicBlock* const full = new_block("full_entry");
    llvm::BasicBlock* const full_check = new_block("full_check");
    llvm::BasicBlock* const full_load = new_block("full_load");
    llvm::BasicBlock* const partial = new_block("partial_entry");
    IR const is_full =
        ir_.CreateICmpEQ(mask_bits, llvm::Constant::getAllOnesValue(ir_.getIntNTy(width_)));
    IR const trust = field(call_, offsetof(GangCall, trust), ir_.getInt32Ty(), "trust", false);
    const auto has_trust = [&](GangCall::Trust wanted) {
        return ir_.CreateICmpUGE(trust, ir_.getInt32(static_cast<std::uint32_t>(wanted)));
    };
    ir_.CreateCondBr(is_full, full, partial);

    begin(full);
    ir_.CreateCondBr(has_trust(GangCall::Trust::Full), full_load, full_check);
    begin(full_check);
    if (IR const strange = find_strange_in_full()) {
        ir_.CreateCondBr(any({strange}), partial, full_load);
    } else {
        ir_.CreateBr(full_load);
    }
    begin(full_load);
    version_ = Version::Full;
    for (const std::uint32_t each : about.live_in) {
        const Value& value = graph_.values[each];
        if (value.kind == Value::Kind::Undefined) {
            continue;
        }
        const Lanes& now = lanes(each);
        IR result = nullptr;
        if (now.is_varying()) {
            result = load_slot(value.slot, value.width);
        } else {
            result = load_slot_lane(value.slot, value.width, ir_.getInt64(0));
            if (now.kind == Lanes::Kind::Pattern && now.offsets[0] != 0) {
                result = ir_.CreateSub(
                    result, llvm::ConstantInt::get(result->getType(),
                                                   static_cast<std::uint64_t>(now.offsets[0])));
            }
        }
        ir_.CreateStore(result, home(each, Version::Full, is_input(each)));
    }
    ir_.CreateBr(block_of(block, Version::Full));

    begin(partial);
    version_ = Version::Partial;
    known_ = Known();
    IR const mask = ir_.CreateBitCast(mask_bits, mask_type);
    const auto refuse = [&] { // the interpreter goes on
        stand(about.pc, {mask}, false);
        for (const auto& [each, bits_there] : others) {
            stand(graph_.blocks[each].pc, {ir_.CreateBitCast(bits_there, mask_type)}, true);
        }
        ir_.CreateRetVoid();
    };
    if (!has_partial()) {
        refuse();
        return;
    }
    std::vector<std::pair<std::uint32_t, IR>> lanes_before{{block, mask}};
    for (const auto& [each, bits_there] : others) {
        lanes_before.emplace_back(each, ir_.CreateBitCast(bits_there, mask_type));
    }
    const std::vector<LiveEntry> live = live_for(lanes_before);
    llvm::BasicBlock* const partial_check = new_block("partial_check");
    llvm::BasicBlock* const partial_load = new_block("partial_load");
    ir_.CreateCondBr(has_trust(GangCall::Trust::Partial), partial_load, partial_check);
    begin(partial_check);
    if (IR const strange = find_strange(live)) {
        llvm::BasicBlock* const refused = new_block("refuse");
        ir_.CreateCondBr(any({strange}), refused, partial_load);
        begin(refused);
        refuse();
    } else {
        ir_.CreateBr(partial_load);
    }
    begin(partial_load);
    ir_.CreateStore(ir_.CreateBitCast(ir_.CreateOr(mask_bits, all_waiting), mask_type), live_);
    load_live(live);
    for (const std::uint32_t each : waiting) { // masks are 0 unless set
        if (!flow().waiting[each].empty()) {
            store_waiting(each, llvm::Constant::getNullValue(mask_type));
        }
    }
    for (const auto& [each, bits_there] : others) {
        IR const there = ir_.CreateBitCast(bits_there, mask_type);
        if (!flow().waiting[each].empty()) {
            store_waiting(each, there);
        }
    }
    if (!waiting.empty()) {
        store_waiting(block, mask);
    }
    ir_.CreateBr(block_of(block, Version::Partial));
}

/// Returns whether a value is set when the warp or the activation starts.
bool KernelEmitter::is_set_at_start(std::uint32_t value) const {
    return graph_.values[value].kind == Value::Kind::Entry && graph_.values[value].block == NONE;
}

} // namespace cuprum::emulator::jit
