// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Loads and stores. The lanes of an address decide how:
//
//   uniform     one scalar access
//   a pattern   one vector access, with a shuffle unless the lanes are adjacent
//   varying     a gather or a scatter
//
// Each access first makes sure that its memory may be accessed: shared memory by its size, device
// memory by what its site knows (jit/plugin.hpp). Anything unusual runs by the handler, which also
// reports faults.

#include "bytecode/forms.hpp"
#include "interp/cluster.hpp"
#include "jit_llvm/kernel_emitter.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <bit>

namespace cuprum::emulator::jit {

using bytecode::Instruction;
using bytecode::WARP_SIZE;
using bytecode::Width;
using ptx::Space;

namespace {

/// The longest stretch of memory, in vectors of the gang, that one access with a pattern loads.
constexpr std::uint32_t MAX_PATTERN_VECTORS = 4;

/// The most bytes of one lane.
constexpr std::uint32_t MAX_LANE_BYTES = 16;

enum class Kind : std::uint8_t { Uniform, Adjacent, Pattern, Varying };

} // namespace

/// One load or store.
struct KernelEmitter::Access {
    const Node* node = nullptr;
    MemoryForm form;
    Mask mask;
    Kind kind{};
    std::uint32_t lane_bytes = 0;      // all components of a lane
    std::uint32_t span = 0;            // bytes from the first one accessed to the last one
    std::vector<std::int64_t> offsets; // of Pattern: of the lanes, from the first byte on
    IR start = nullptr;                // scalar: where the first byte is, in its space
    IR starts = nullptr;               // Varying: of all lanes
    std::uint32_t site = NONE;
    llvm::Type* element = nullptr;

    [[nodiscard]] bool is_shared() const { return form.space == Space::Shared; }

    [[nodiscard]] bool is_local() const { return form.space == Space::Local; }

    [[nodiscard]] unsigned unit_shift() const {
        return static_cast<unsigned>(std::countr_zero(lane_bytes));
    }
};

/// Calls the service that runs a node by its handler. Returns whether there was no fault.
KernelEmitter::IR KernelEmitter::call_run(const Node& node, Mask mask) {
    auto* const pointer = ir_.getPtrTy();
    auto* const word = ir_.getInt32Ty();
    IR const services = field(call_, offsetof(GangCall, services), pointer, "services");
    IR const function = field(services, offsetof(Services, run), pointer, "service");
    auto* const type =
        llvm::FunctionType::get(ir_.getInt8Ty(), {pointer, pointer, word, word}, false);
    return ir_.CreateICmpNE(
        ir_.CreateCall(type, function, {warp_, call_, ir_.getInt32(node.pc), warp_mask(mask)}),
        ir_.getInt8(0));
}

/// Calls the service for accesses that are not plain. Returns whether there was no fault.
KernelEmitter::IR KernelEmitter::call_access(const Node& node, Mask mask, const Access& access) {
    auto* const pointer = ir_.getPtrTy();
    auto* const word = ir_.getInt32Ty();
    auto* const number = ir_.getInt64Ty();
    IR const address = access.starts != nullptr
                           ? ir_.CreateExtractElement(access.starts, first_active(mask))
                           : access.start;
    IR const index = ir_.getInt32(static_cast<std::uint32_t>(accesses_.size()));
    accesses_.push_back({.pc = node.pc,
                         .site = access.site,
                         .unit_shift = access.unit_shift(),
                         .span = access.span,
                         .is_write = access.form.is_store ? 1u : 0u});
    const bool is_preserving = target_.is_x86 && target_.has_fma; // XSAVE comes with AVX
    IR const services = field(call_, offsetof(GangCall, services), pointer, "services");
    IR const function = field(services,
                              is_preserving ? offsetof(Services, run_access_preserving)
                                            : offsetof(Services, run_access),
                              pointer, "service");
    if (!is_preserving) {
        auto* const type =
            llvm::FunctionType::get(ir_.getInt8Ty(), {pointer, pointer, word, word, number}, false);
        return ir_.CreateICmpNE(
            ir_.CreateCall(type, function, {warp_, call_, index, warp_mask(mask), address}),
            ir_.getInt8(0));
    }
    // NOTE: LLVM has no calling convention for a function that preserves all vectors. It does not
    // see that this is a call, so the function must have no red zone.
    auto* const type =
        llvm::FunctionType::get(word, {pointer, pointer, pointer, word, word, number}, false);
    auto* const call = llvm::InlineAsm::get(
        type, "call *$1",
        "={eax},{r11},{rdi},{rsi},{edx},{ecx},{r8},~{memory},~{dirflag},~{fpsr},~{flags}", true);
    return ir_.CreateICmpNE(
        ir_.CreateCall(type, call, {function, warp_, call_, index, warp_mask(mask), address}),
        ir_.getInt32(0));
}

/// Finds out how a node accesses memory. Returns false if only its handler can run it.
bool KernelEmitter::find_access(const Node& node, Access& access) {
    const Instruction& instruction = at(node);
    access.node = &node;
    access.form = instruction.form.as<MemoryForm>();
    const MemoryForm& form = access.form;
    const bool is_device =
        form.space == Space::Global || form.space == Space::Constant || form.space == Space::None;
    if (form.is_ordered || form.element_bytes > 8 ||
        (!is_device && !access.is_shared() && !access.is_local()) ||
        (instruction.tag & REACHES_CLUSTER) != 0 || form.register_width == Width::B128) {
        return false;
    }
    access.lane_bytes = std::uint32_t{form.element_bytes} * form.count;
    if (access.lane_bytes > MAX_LANE_BYTES || !std::has_single_bit(access.lane_bytes)) {
        return false;
    }
    access.element = ir_.getIntNTy(form.element_bytes * 8u);
    const Ref& address = node.sources[0];
    const Lanes lanes = lanes_of(graph_, address, version_);
    const bool is_narrow = form.address_width == Width::B32;
    const auto displacement = static_cast<std::uint64_t>(instruction.immediate);
    const auto add = [&](IR to, std::uint64_t value) {
        return value == 0
                   ? to
                   : ir_.CreateAdd(to, llvm::ConstantInt::get(
                                           to->getType(), is_narrow ? value & 0xffffffffu : value));
    };
    const auto widen = [&](IR value) {
        if (!is_narrow) {
            return value;
        }
        llvm::Type* type = ir_.getInt64Ty();
        if (value->getType()->isVectorTy()) {
            type = llvm::FixedVectorType::get(type, width_);
        }
        return ir_.CreateZExt(value, type);
    };
    access.span = access.lane_bytes;
    if (lanes.kind == Lanes::Kind::Uniform) {
        access.kind = Kind::Uniform;
        access.start = widen(add(scalar(address, form.address_width), displacement));
        return true;
    }
    if (lanes.kind == Lanes::Kind::Pattern && !access.is_local()) {
        const auto [least, most] = std::ranges::minmax(lanes.offsets);
        bool is_adjacent = true;
        bool is_aligned = true;
        for (std::uint32_t l = 0; l < width_; ++l) {
            const std::int64_t offset = lanes.offsets[l] - least;
            access.offsets.push_back(offset);
            is_adjacent &= offset == std::int64_t{l} * access.lane_bytes;
            is_aligned &= offset % access.lane_bytes == 0;
        }
        const auto span = static_cast<std::uint64_t>(most - least) + access.lane_bytes;
        const std::uint64_t room = std::uint64_t{MAX_PATTERN_VECTORS} * width_ * form.element_bytes;
        if (is_aligned && (is_adjacent || (!form.is_store && span <= room))) {
            access.kind = is_adjacent ? Kind::Adjacent : Kind::Pattern;
            access.span = static_cast<std::uint32_t>(span);
            access.start = widen(add(scalar(address, form.address_width),
                                     displacement + static_cast<std::uint64_t>(least)));
            return true;
        }
    }
    access.kind = Kind::Varying;
    if (!form.is_store &&
        !access.is_local()) { // narrow elements are gathered with what follows them
        access.span = std::max(access.span, 4u);
    }
    IR starts = vector(address, form.address_width);
    if (displacement != 0) {
        starts = ir_.CreateAdd(starts, splat(llvm::ConstantInt::get(
                                           type_of(form.address_width),
                                           is_narrow ? displacement & 0xffffffffu : displacement)));
    }
    access.starts = widen(starts);
    return true;
}

/// Returns whether all lanes of an access may access their memory.
KernelEmitter::IR KernelEmitter::is_accessible(Access& access) {
    IR const begins = access.starts != nullptr ? access.starts : access.start;
    const bool is_vector = access.starts != nullptr;
    const unsigned shift = access.unit_shift();
    IR limit = nullptr;
    IR offset = begins;
    if (access.is_shared()) {
        IR const bytes = ir_.CreateZExt(shared_bytes_, ir_.getInt64Ty());
        IR const room = ir_.CreateSub(bytes, ir_.getInt64(access.span));
        IR const count = ir_.CreateAdd(ir_.CreateLShr(room, shift), ir_.getInt64(1));
        limit = ir_.CreateSelect(ir_.CreateICmpUGE(bytes, ir_.getInt64(access.span)), count,
                                 ir_.getInt64(0));
    } else if (access.is_local()) {
        IR const room = ir_.CreateSub(local_stride_, ir_.getInt64(access.span));
        IR const count = ir_.CreateAdd(ir_.CreateLShr(room, shift), ir_.getInt64(1));
        limit = ir_.CreateSelect(ir_.CreateICmpUGE(local_stride_, ir_.getInt64(access.span)), count,
                                 ir_.getInt64(0));
    } else {
        access.site = site_count_++;
        IR const begin = field(sites_, access.site * sizeof(Site) + offsetof(Site, begin),
                               ir_.getInt64Ty(), "begin", false);
        limit = field(sites_, access.site * sizeof(Site) + offsetof(Site, limit), ir_.getInt64Ty(),
                      "limit", false);
        offset = ir_.CreateSub(begins, is_vector ? splat(begin) : begin);
    }
    if (shift != 0) { // an offset that is no multiple of the unit becomes a huge one
        llvm::Type* const type = offset->getType();
        offset = ir_.CreateIntrinsic(llvm::Intrinsic::fshr, {type},
                                     {offset, offset, llvm::ConstantInt::get(type, shift)});
    }
    if (!is_vector) {
        return ir_.CreateICmpULT(offset, limit);
    }
    IR bad = ir_.CreateICmpUGE(offset, splat(limit));
    if (!access.mask.is_full()) {
        bad = ir_.CreateAnd(bad, access.mask.bits);
    }
    return ir_.CreateNot(any({bad}));
}

template <typename Instruction>
Instruction* KernelEmitter::in_device(Instruction* access, bool is_constant) {
    access->setMetadata(llvm::LLVMContext::MD_alias_scope, device_scope_);
    access->setMetadata(llvm::LLVMContext::MD_noalias, engine_scope_);
    if (is_constant) {
        access->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
    }
    return access;
}

/// Returns the host address of the first byte, or of each lane.
KernelEmitter::IR KernelEmitter::host_of(const Access& access) {
    if (access.is_local()) { // each lane has memory of its own
        llvm::SmallVector<llvm::Constant*, 32> numbers;
        for (std::uint32_t l = 0; l < width_; ++l) {
            numbers.push_back(ir_.getInt64(l));
        }
        IR const begins = ir_.CreateMul(llvm::ConstantVector::get(numbers), splat(local_stride_));
        IR const offsets = access.starts != nullptr ? access.starts : splat(access.start);
        return ir_.CreateGEP(ir_.getInt8Ty(), local_, ir_.CreateAdd(begins, offsets));
    }
    if (access.starts == nullptr) {
        return access.is_shared() ? ir_.CreateGEP(ir_.getInt8Ty(), shared_, access.start)
                                  : ir_.CreateIntToPtr(access.start, ir_.getPtrTy());
    }
    if (access.is_shared()) {
        return ir_.CreateGEP(ir_.getInt8Ty(), shared_, access.starts);
    }
    return ir_.CreateIntToPtr(access.starts, llvm::FixedVectorType::get(ir_.getPtrTy(), width_));
}

/// Repeats each lane of a mask for the components of a lane.
KernelEmitter::IR KernelEmitter::repeated(IR mask, std::uint32_t count) {
    llvm::SmallVector<int, 128> order;
    for (std::uint32_t i = 0; i < width_ * count; ++i) {
        order.push_back(static_cast<int>(i / count));
    }
    return ir_.CreateShuffleVector(mask, order);
}

/// Loads all components: scalars for a uniform address, else vectors.
void KernelEmitter::load_components(const Access& access, llvm::SmallVectorImpl<IR>& results) {
    const std::uint32_t count = access.form.count;
    const std::uint32_t bytes = access.form.element_bytes;
    const bool is_constant = access.form.is_read_only;
    IR const host = host_of(access);
    const auto alignment = llvm::Align(bytes);
    switch (access.is_local() ? Kind::Varying : access.kind) {
    case Kind::Uniform:
        for (std::uint32_t c = 0; c < count; ++c) {
            IR const place = ir_.CreateConstGEP1_64(ir_.getInt8Ty(), host, c * bytes);
            results.push_back(
                in_device(ir_.CreateAlignedLoad(access.element, place, alignment), is_constant));
        }
        return;
    case Kind::Adjacent:
    case Kind::Pattern: {
        const std::uint32_t elements = access.span / bytes;
        auto* const type = llvm::FixedVectorType::get(access.element, elements);
        IR const all = in_device(ir_.CreateAlignedLoad(type, host, alignment), is_constant);
        for (std::uint32_t c = 0; c < count; ++c) {
            if (access.kind == Kind::Adjacent && count == 1) {
                results.push_back(all);
                return;
            }
            llvm::SmallVector<int, 32> order;
            for (std::uint32_t l = 0; l < width_; ++l) {
                order.push_back(static_cast<int>(access.offsets[l] / bytes + c));
            }
            results.push_back(ir_.CreateShuffleVector(all, order));
        }
        return;
    }
    case Kind::Varying:
        break;
    }
    const bool is_widened = bytes < 4 && !access.is_local(); // local memory has no room behind it
    auto* const gathered =
        llvm::FixedVectorType::get(is_widened ? ir_.getInt32Ty() : access.element, width_);
    auto* const wanted = llvm::FixedVectorType::get(access.element, width_);
    for (std::uint32_t c = 0; c < count; ++c) {
        IR const places =
            c == 0 ? host : ir_.CreateGEP(ir_.getInt8Ty(), host, ir_.getInt64(c * bytes));
        IR const result =
            in_device(ir_.CreateMaskedGather(gathered, places, llvm::Align(is_widened ? 1 : bytes),
                                             mask_or_all(access.mask),
                                             llvm::Constant::getNullValue(gathered)),
                      false);
        results.push_back(is_widened ? ir_.CreateTrunc(result, wanted) : result);
    }
}

void KernelEmitter::store_components(const Access& access) {
    const std::uint32_t count = access.form.count;
    const std::uint32_t bytes = access.form.element_bytes;
    const auto alignment = llvm::Align(bytes);
    const auto& sources = access.node->sources;
    IR const host = host_of(access);
    if (access.kind == Kind::Uniform && !access.is_local()) { // the last lane wins
        IR last = ir_.getInt64(width_ - 1);
        if (!access.mask.is_full()) {
            IR const word = ir_.CreateZExt(bits(access.mask), ir_.getInt64Ty());
            last = ir_.CreateSub(ir_.getInt64(63), ir_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz,
                                                                             word, ir_.getTrue()));
        }
        for (std::uint32_t c = 0; c < count; ++c) {
            const Ref& source = sources[1 + c];
            IR value = nullptr;
            if (lanes_of(graph_, source, version_).is_uniform()) {
                value = scalar(source, access.form.register_width);
            } else {
                value = ir_.CreateExtractElement(vector(source, access.form.register_width), last);
            }
            IR const place = ir_.CreateConstGEP1_64(ir_.getInt8Ty(), host, c * bytes);
            in_device(
                ir_.CreateAlignedStore(ir_.CreateTrunc(value, access.element), place, alignment),
                false);
        }
        return;
    }
    auto* const element_type = llvm::FixedVectorType::get(access.element, width_);
    llvm::SmallVector<IR, 4> values;
    for (std::uint32_t c = 0; c < count; ++c) {
        values.push_back(
            ir_.CreateTrunc(vector(sources[1 + c], access.form.register_width), element_type));
    }
    if (access.kind == Kind::Varying || access.is_local()) {
        for (std::uint32_t c = 0; c < count; ++c) {
            IR const places =
                c == 0 ? host : ir_.CreateGEP(ir_.getInt8Ty(), host, ir_.getInt64(c * bytes));
            in_device(
                ir_.CreateMaskedScatter(values[c], places, alignment, mask_or_all(access.mask)),
                false);
        }
        return;
    }
    // Interleaves the components: pairs first, then pairs of pairs.
    IR all = values[0];
    if (count > 1) {
        llvm::SmallVector<IR, 4> parts(values);
        while (parts.size() > 1) { // one after the other
            llvm::SmallVector<IR, 4> longer;
            for (std::size_t i = 0; i < parts.size(); i += 2) {
                const auto size = static_cast<int>(width_ * (values.size() / parts.size()));
                llvm::SmallVector<int, 128> order;
                for (int e = 0; e < 2 * size; ++e) {
                    order.push_back(e);
                }
                longer.push_back(ir_.CreateShuffleVector(parts[i], parts[i + 1], order));
            }
            parts = std::move(longer);
        }
        llvm::SmallVector<int, 128> order;
        for (std::uint32_t e = 0; e < width_ * count; ++e) {
            order.push_back(static_cast<int>(e % count * width_ + e / count));
        }
        all = ir_.CreateShuffleVector(parts[0], order);
    }
    if (access.mask.is_full()) {
        in_device(ir_.CreateAlignedStore(all, host, alignment), false);
        return;
    }
    IR const mask = count == 1 ? access.mask.bits : repeated(access.mask.bits, count);
    in_device(ir_.CreateMaskedStore(all, host, alignment, mask), false);
}

/// Emits an access, and what its results are behind it.
void KernelEmitter::emit_access(Access& access, llvm::SmallVectorImpl<IR>& results) {
    const Node& node = *access.node;
    const Mask mask = access.mask;
    IR const is_fine = is_accessible(access);
    llvm::BasicBlock* const quick = new_block("access");
    llvm::BasicBlock* const slow = new_block("slow_access");
    llvm::BasicBlock* const done = new_block("accessed");
    ir_.CreateCondBr(ir_.CreateNot(is_fine), slow, quick, unlikely_);
    const Known kept = known_;
    begin(quick);
    llvm::SmallVector<IR, 4> quick_results;
    if (access.form.is_store) {
        store_components(access);
    } else {
        load_components(access, quick_results);
        for (std::size_t c = 0; c < quick_results.size(); ++c) {
            IR& result = quick_results[c];
            const std::uint32_t value = c < node.results.size() ? node.results[c] : NONE;
            if (value == NONE) {
                result = nullptr;
                continue;
            }
            llvm::Type* type = type_of(graph_.values[value].width);
            if (result->getType()->isVectorTy()) {
                type = llvm::FixedVectorType::get(type, width_);
            }
            result =
                access.form.is_signed ? ir_.CreateSExt(result, type) : ir_.CreateZExt(result, type);
            if (lanes(value).is_varying() && !result->getType()->isVectorTy()) {
                result = splat(result);
            }
        }
    }
    llvm::BasicBlock* const quick_end = ir_.GetInsertBlock();
    ir_.CreateBr(done);
    known_ = kept;
    begin(slow);
    llvm::SmallVector<IR, 4> slow_results;
    call_handler(node, mask, &access, slow_results);
    llvm::BasicBlock* const slow_end = ir_.GetInsertBlock();
    ir_.CreateBr(done);
    known_ = kept;
    begin(done);
    join(quick_results, quick_end, slow_results, slow_end, results);
}

/// Joins the results of two ways.
void KernelEmitter::join(llvm::ArrayRef<IR> left, llvm::BasicBlock* left_end,
                         llvm::ArrayRef<IR> right, llvm::BasicBlock* right_end,
                         llvm::SmallVectorImpl<IR>& results) {
    for (std::size_t r = 0; r < left.size(); ++r) {
        if (left[r] == nullptr) {
            results.push_back(nullptr);
            continue;
        }
        llvm::PHINode* const both_ways = ir_.CreatePHI(left[r]->getType(), 2);
        both_ways->addIncoming(left[r], left_end);
        both_ways->addIncoming(right[r], right_end);
        results.push_back(both_ways);
    }
}

/// Returns whether the lanes of a varying address are probably adjacent.
bool KernelEmitter::is_probably_adjacent(const Access& access) {
    const Ref& address = access.node->sources[0];
    if (access.kind != Kind::Varying || access.is_local() || address.kind != Ref::Kind::Value) {
        return false;
    }
    std::unique_ptr<Addresses>& addresses = addresses_[static_cast<std::size_t>(version_)];
    if (addresses == nullptr) {
        addresses = std::make_unique<Addresses>(graph_, version_);
    }
    const Address* const parts = addresses->parts(address.value);
    return parts != nullptr && addresses->is_probably_adjacent(*parts, access.lane_bytes);
}

bool KernelEmitter::emit_memory(const Node& node, Mask mask) {
    Access access;
    access.mask = mask;
    if (!find_access(node, access)) {
        return false;
    }
    const bool is_guarded = node.guard.kind != Ref::Kind::None;
    if (is_guarded && access.kind == Kind::Uniform) {
        return false; // perhaps no lane accesses anything
    }
    llvm::SmallVector<IR, 4> results;
    if (is_probably_adjacent(access)) {
        llvm::SmallVector<llvm::Constant*, 32> steps;
        Access adjacent = access;
        adjacent.kind = Kind::Adjacent;
        adjacent.span = access.lane_bytes * width_;
        for (std::uint32_t l = 0; l < width_; ++l) {
            adjacent.offsets.push_back(std::int64_t{l} * access.lane_bytes);
            steps.push_back(ir_.getInt64(std::uint64_t{l} * access.lane_bytes));
        }
        IR const offsets = llvm::ConstantVector::get(steps);
        IR const begins = ir_.CreateSub(access.starts, offsets);
        adjacent.start = ir_.CreateExtractElement(begins, first_active(mask));
        adjacent.starts = nullptr;
        IR differs = ir_.CreateICmpNE(begins, splat(adjacent.start));
        if (!mask.is_full()) {
            differs = ir_.CreateAnd(differs, mask.bits);
        }
        llvm::BasicBlock* const together = new_block("together");
        llvm::BasicBlock* const apart = new_block("apart");
        llvm::BasicBlock* const done = new_block("both");
        ir_.CreateCondBr(any({differs}), apart, together);
        const Known kept = known_;
        begin(together);
        llvm::SmallVector<IR, 4> of_adjacent;
        emit_access(adjacent, of_adjacent);
        llvm::BasicBlock* const together_end = ir_.GetInsertBlock();
        ir_.CreateBr(done);
        known_ = kept;
        begin(apart);
        llvm::SmallVector<IR, 4> of_scattered;
        emit_access(access, of_scattered);
        llvm::BasicBlock* const apart_end = ir_.GetInsertBlock();
        ir_.CreateBr(done);
        known_ = kept;
        begin(done);
        join(of_adjacent, together_end, of_scattered, apart_end, results);
    } else {
        emit_access(access, results);
    }
    IR guard = nullptr;
    if (is_guarded && !results.empty()) {
        (void)guarded(node, {}, guard);
        if (!guard->getType()->isVectorTy()) {
            guard = splat(guard);
        }
    }
    // A uniform result is a scalar in both ways.
    const bool are_scalars = !results.empty() && std::ranges::all_of(results, [](IR result) {
        return result == nullptr || !result->getType()->isVectorTy();
    });
    merge_results(node, guard, results, are_scalars);
    return true;
}

} // namespace cuprum::emulator::jit
