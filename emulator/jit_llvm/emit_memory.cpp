// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Loads and stores. The lanes of an address decide how:
//
//   uniform     one scalar access
//   a pattern   one vector access, with a shuffle unless the lanes are adjacent
//   varying     a gather or a scatter, of a uniform base and indices of 32 bits if it can be taken
//               apart (jit/address.hpp); before that, a test whether the lanes are adjacent after
//               all, if that is probable
//
// At the edges of an array, lanes that do not run may be outside: there, only what the first to the
// last of the lanes that run need is accessed, under a mask.
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
#include <limits>

namespace cuprum::emulator::jit {

using bytecode::Instruction;
using bytecode::WARP_SIZE;
using bytecode::Width;
using ptx::Space;

namespace {

/// The longest stretch of memory, in vectors of the gang, that one access with a pattern loads.
constexpr std::uint32_t MAX_PATTERN_VECTORS = 4;

constexpr std::uint32_t CACHE_LINE_BYTES = 64;

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
    // Varying, of device memory, if it can be taken apart: the address of each lane is `base` plus
    // its index times the scale, a power of two. Indices have a sign.
    IR base = nullptr;
    IR indices = nullptr;
    std::int64_t scale = 1;
    // Adjacent, under a mask: the first byte of the first lane that runs, where it is from the
    // first byte of the first lane on, and the end of the last lane that runs.
    IR active_start = nullptr;
    IR active_offset = nullptr;
    IR active_end = nullptr;
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
    IR address = access.start;
    if (access.kind == Kind::Varying) {
        address = ir_.CreateExtractElement(access.starts, first_active(mask));
    } else if (access.active_start != nullptr) {
        address = access.active_start;
    }
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

/// What an access may reach: in units from `begin` on.
struct KernelEmitter::Reach {
    IR begin = nullptr; // null: 0
    IR limit = nullptr; // the number of units at which an access may begin
};

KernelEmitter::Reach KernelEmitter::reach_of(Access& access) {
    if (!access.is_shared() && !access.is_local()) {
        access.site = access.site == NONE ? site_count_++ : access.site;
        const std::size_t place = access.site * sizeof(Site);
        auto* const number = ir_.getInt64Ty();
        return {field(sites_, place + offsetof(Site, begin), number, "begin", false),
                field(sites_, place + offsetof(Site, limit), number, "limit", false)};
    }
    IR const bytes =
        access.is_shared() ? ir_.CreateZExt(shared_bytes_, ir_.getInt64Ty()) : local_stride_;
    IR const room = ir_.CreateSub(bytes, ir_.getInt64(access.span));
    IR const count = ir_.CreateAdd(ir_.CreateLShr(room, access.unit_shift()), ir_.getInt64(1));
    return {nullptr, ir_.CreateSelect(ir_.CreateICmpUGE(bytes, ir_.getInt64(access.span)), count,
                                      ir_.getInt64(0))};
}

/// Returns whether all lanes of an access may access their memory.
KernelEmitter::IR KernelEmitter::is_accessible(Access& access) {
    const Reach reach = reach_of(access);
    const unsigned shift = access.unit_shift();
    if (access.active_start != nullptr) {
        return is_active_accessible(access, reach);
    }
    if (access.indices != nullptr) {
        return are_indices_accessible(access, reach);
    }
    const bool is_vector = access.kind == Kind::Varying;
    IR offset = is_vector ? access.starts : access.start;
    if (reach.begin != nullptr) {
        offset = ir_.CreateSub(offset, is_vector ? splat(reach.begin) : reach.begin);
    }
    if (shift != 0) { // an offset that is no multiple of the unit becomes a huge one
        llvm::Type* const type = offset->getType();
        offset = ir_.CreateIntrinsic(llvm::Intrinsic::fshr, {type},
                                     {offset, offset, llvm::ConstantInt::get(type, shift)});
    }
    if (!is_vector) {
        return ir_.CreateICmpULT(offset, reach.limit);
    }
    IR bad = ir_.CreateICmpUGE(offset, splat(reach.limit));
    if (!access.mask.is_full()) {
        bad = ir_.CreateAnd(bad, access.mask.bits);
    }
    return ir_.CreateNot(any({bad}));
}

/// As is_accessible(), for the adjacent lanes of a mask.
KernelEmitter::IR KernelEmitter::is_active_accessible(const Access& access, const Reach& reach) {
    const auto relative = [&](IR address) {
        return reach.begin == nullptr ? address : ir_.CreateSub(address, reach.begin);
    };
    IR const begin = relative(access.active_start);
    IR const end = relative(access.active_end);
    // The last byte that may be accessed: an access of the whole span may begin at the last unit.
    IR const room = ir_.CreateAdd(
        ir_.CreateShl(ir_.CreateSub(reach.limit, ir_.getInt64(1)), access.unit_shift()),
        ir_.getInt64(access.span));
    IR fits = ir_.CreateAnd(ir_.CreateICmpULE(begin, end), ir_.CreateICmpULE(end, room));
    fits = ir_.CreateAnd(fits, ir_.CreateICmpNE(reach.limit, ir_.getInt64(0)));
    IR const rest = ir_.CreateAnd(begin, ir_.getInt64((1u << access.unit_shift()) - 1));
    return ir_.CreateAnd(fits, ir_.CreateICmpEQ(rest, ir_.getInt64(0)));
}

/// As is_accessible(), for a base and indices: finds the least and the greatest index that fit.
KernelEmitter::IR KernelEmitter::are_indices_accessible(const Access& access, const Reach& reach) {
    const auto shift =
        static_cast<unsigned>(std::countr_zero(static_cast<std::uint64_t>(access.scale)));
    const auto number = [&](std::int64_t value) {
        return ir_.getInt64(static_cast<std::uint64_t>(value));
    };
    IR const distance = ir_.CreateSub(access.base, reach.begin);
    IR const last = ir_.CreateShl(ir_.CreateSub(reach.limit, ir_.getInt64(1)), access.unit_shift());
    IR least = ir_.CreateNeg(ir_.CreateAShr(distance, shift));
    IR most = ir_.CreateAShr(ir_.CreateSub(last, distance), shift);
    least = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smax, least,
                                      number(std::numeric_limits<std::int32_t>::min()));
    most = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::smin, most,
                                     number(std::numeric_limits<std::int32_t>::max()));
    IR const rest = ir_.CreateAnd(distance, ir_.getInt64((1u << access.unit_shift()) - 1));
    IR const is_possible =
        ir_.CreateAnd(ir_.CreateICmpSLE(least, most), ir_.CreateICmpEQ(rest, ir_.getInt64(0)));
    const auto word = [&](IR value) { return splat(ir_.CreateTrunc(value, ir_.getInt32Ty())); };
    IR bad = ir_.CreateICmpUGT(ir_.CreateSub(access.indices, word(least)),
                               word(ir_.CreateSub(most, least)));
    if (!access.mask.is_full()) {
        bad = ir_.CreateAnd(bad, access.mask.bits);
    }
    return ir_.CreateAnd(is_possible, ir_.CreateNot(any({bad})));
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
        IR const offsets = access.kind == Kind::Varying ? access.starts : splat(access.start);
        return ir_.CreateGEP(ir_.getInt8Ty(), local_, ir_.CreateAdd(begins, offsets));
    }
    if (access.indices != nullptr) {
        llvm::Type* const element =
            llvm::ArrayType::get(ir_.getInt8Ty(), static_cast<std::uint64_t>(access.scale));
        IR const indices = ir_.CreateSExt(access.indices, vector_of(Width::B64));
        return ir_.CreateGEP(element, ir_.CreateIntToPtr(access.base, ir_.getPtrTy()), indices);
    }
    if (access.kind != Kind::Varying) {
        IR const start = access.active_start == nullptr
                             ? access.start
                             : ir_.CreateSub(access.active_start, access.active_offset);
        return access.is_shared() ? ir_.CreateGEP(ir_.getInt8Ty(), shared_, start)
                                  : ir_.CreateIntToPtr(start, ir_.getPtrTy());
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

/// Fetches what the next gang is likely to load. Processors do not see it coming if a gang computes
/// for long, or jumps to another place in each round of a grid-stride loop.
void KernelEmitter::prefetch(const Access& access, IR host) {
    if (access.kind != Kind::Adjacent || access.is_shared() || version_ != Version::Full) {
        return;
    }
    for (std::uint32_t line = 0; line < access.span; line += CACHE_LINE_BYTES) {
        IR const place = ir_.CreateConstGEP1_64(ir_.getInt8Ty(), host, access.span + line);
        ir_.CreateIntrinsic(llvm::Intrinsic::prefetch, {ir_.getPtrTy()},
                            {place, ir_.getInt32(0), ir_.getInt32(3), ir_.getInt32(1)});
    }
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
        prefetch(access, host);
        const std::uint32_t elements = access.span / bytes;
        auto* const type = llvm::FixedVectorType::get(access.element, elements);
        IR all = nullptr;
        if (access.active_start != nullptr) {
            IR const mask = count == 1 ? access.mask.bits : repeated(access.mask.bits, count);
            all = in_device(ir_.CreateMaskedLoad(type, host, alignment, mask,
                                                 llvm::Constant::getNullValue(type)),
                            false);
        } else {
            all = in_device(ir_.CreateAlignedLoad(type, host, alignment), is_constant);
        }
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
    // Without gathers under a mask, the other lanes load what the first lane loads.
    Mask mask = access.mask;
    IR places = host;
    if (!target_.has_avx512 && !mask.is_full()) {
        places = ir_.CreateSelect(mask.bits, host,
                                  splat(ir_.CreateExtractElement(host, first_active(mask))));
        mask = {};
    }
    const bool is_widened = bytes < 4 && !access.is_local(); // local memory has no room behind it
    auto* const gathered =
        llvm::FixedVectorType::get(is_widened ? ir_.getInt32Ty() : access.element, width_);
    auto* const wanted = llvm::FixedVectorType::get(access.element, width_);
    for (std::uint32_t c = 0; c < count; ++c) {
        IR const from =
            c == 0 ? places : ir_.CreateGEP(ir_.getInt8Ty(), places, ir_.getInt64(c * bytes));
        IR const result = in_device(
            ir_.CreateMaskedGather(gathered, from, llvm::Align(is_widened ? 1 : bytes),
                                   mask_or_all(mask), llvm::Constant::getNullValue(gathered)),
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
    const bool has_edge = access.kind == Kind::Adjacent && !mask.is_full() && !access.is_local() &&
                          access.active_start == nullptr;
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
    if (has_edge) {
        Access edge = access;
        find_active(edge);
        emit_access(edge, slow_results);
    } else {
        call_handler(node, mask, &access, slow_results);
    }
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

/// Returns the parts of a varying address, if all of them are at hand here.
const Address* KernelEmitter::parts_of(const Ref& address) {
    if (address.kind != Ref::Kind::Value) {
        return nullptr;
    }
    std::unique_ptr<Addresses>& addresses = addresses_[static_cast<std::size_t>(version_)];
    if (addresses == nullptr) {
        addresses = std::make_unique<Addresses>(graph_, version_);
    }
    const Address* const parts = addresses->parts(address.value);
    const auto& live = graph_.blocks[current_].live_in;
    const auto is_at_hand = [&](const Ref& ref) {
        return ref.kind != Ref::Kind::Value || known_.own.contains(ref.value) ||
               std::ranges::find(live, ref.value) != live.end();
    };
    const bool are_all =
        parts != nullptr && is_at_hand(parts->index) &&
        std::ranges::all_of(parts->base, [&](const Summand& summand) {
            return summand.phi == NONE && is_at_hand(summand.value) && is_at_hand(summand.other);
        });
    return are_all ? parts : nullptr;
}

/// Returns the uniform part of an address.
KernelEmitter::IR KernelEmitter::base_of(const Address& parts, Width width) {
    const auto number = [&](std::int64_t value) {
        return llvm::ConstantInt::get(type_of(width), static_cast<std::uint64_t>(value), true);
    };
    IR sum = number(parts.constant);
    for (const Summand& summand : parts.base) {
        IR part = scalar(summand.value, width);
        if (summand.other.kind != Ref::Kind::None) {
            part = ir_.CreateMul(part, scalar(summand.other, width));
        }
        if (summand.factor != 1) {
            part = ir_.CreateMul(part, number(summand.factor));
        }
        sum = ir_.CreateAdd(sum, part);
    }
    return sum;
}

/// Takes a varying address of device memory apart into a base and indices.
void KernelEmitter::take_apart(Access& access, const Address& parts) {
    const auto scale = static_cast<std::uint64_t>(parts.scale);
    const Lanes about = lanes_of(graph_, parts.index, version_);
    const bool has_offsets =
        std::ranges::any_of(parts.offsets, [](std::int64_t x) { return x != 0; });
    const bool is_signed = parts.is_signed || about.most <= 0x7fffffffu;
    if (access.is_shared() || access.is_local() || access.form.address_width != Width::B64 ||
        parts.scale <= 0 || parts.scale > 8 || !std::has_single_bit(scale) ||
        scale < access.lane_bytes || has_offsets || !is_signed) {
        return;
    }
    access.base =
        ir_.CreateAdd(base_of(parts, Width::B64),
                      ir_.getInt64(static_cast<std::uint64_t>(at(*access.node).immediate)));
    access.indices = vector(parts.index, Width::B32);
    access.scale = parts.scale;
}

/// Emits the test whether the lanes of a varying access are adjacent. Sets where the first of them
/// is then. Returns the lanes in which they are not, or null if there is no such test.
KernelEmitter::IR KernelEmitter::test_adjacency(Access& adjacent, const Address& parts) {
    const std::int64_t bytes = adjacent.lane_bytes;
    const bool is_narrow = adjacent.form.address_width == Width::B32;
    const auto offset = [&](std::size_t lane) {
        return parts.offsets.empty() ? 0 : parts.offsets[lane];
    };
    // Lanes are adjacent if their indices, less these steps, are the same.
    std::vector<std::int64_t> steps;
    for (std::uint32_t l = 0; l < width_; ++l) {
        const std::int64_t step = std::int64_t{l} * bytes - (offset(l) - offset(0));
        if (parts.scale == 0 || step % parts.scale != 0) {
            return nullptr;
        }
        steps.push_back(step / parts.scale);
    }
    llvm::SmallVector<llvm::Constant*, 32> constants;
    for (const std::int64_t step : steps) {
        constants.push_back(ir_.getInt32(static_cast<std::uint32_t>(step)));
    }
    IR const origins =
        ir_.CreateSub(vector(parts.index, Width::B32), llvm::ConstantVector::get(constants));
    IR const origin = ir_.CreateExtractElement(origins, first_active(adjacent.mask));
    IR differs = ir_.CreateICmpNE(origins, splat(origin));
    const Width width = adjacent.form.address_width;
    IR distance = origin;
    if (!is_narrow) { // no index may wrap around
        const auto [least, most] = std::ranges::minmax(steps);
        IR const wraps = ir_.CreateNot(stays_in_range(origin, least, most, parts.is_signed));
        differs = ir_.CreateOr(differs, splat(wraps));
        distance = parts.is_signed ? ir_.CreateSExt(origin, ir_.getInt64Ty())
                                   : ir_.CreateZExt(origin, ir_.getInt64Ty());
    }
    if (!adjacent.mask.is_full()) {
        differs = ir_.CreateAnd(differs, adjacent.mask.bits);
    }
    const auto number = [&](std::int64_t value) {
        return llvm::ConstantInt::get(type_of(width), static_cast<std::uint64_t>(value), true);
    };
    IR start =
        ir_.CreateAdd(base_of(parts, width), number(at(*adjacent.node).immediate + offset(0)));
    start = ir_.CreateAdd(start, ir_.CreateMul(distance, number(parts.scale)));
    adjacent.start = is_narrow ? ir_.CreateZExt(start, ir_.getInt64Ty()) : start;
    return differs;
}

/// Finds what adjacent lanes of a mask access.
void KernelEmitter::find_active(Access& access) {
    IR const word = ir_.CreateZExt(bits(access.mask), ir_.getInt64Ty());
    IR const first = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, word, ir_.getFalse());
    IR const zeros = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, word, ir_.getFalse());
    IR const count = ir_.CreateSub(ir_.CreateSub(ir_.getInt64(64), zeros), first);
    IR const unit = ir_.getInt64(access.lane_bytes);
    access.active_offset = ir_.CreateMul(first, unit);
    access.active_start = ir_.CreateAdd(access.start, access.active_offset);
    if (access.form.address_width == Width::B32) { // modulo 2^32
        access.active_start = ir_.CreateAnd(access.active_start, ir_.getInt64(0xffffffffu));
    }
    access.active_end = ir_.CreateAdd(access.active_start, ir_.CreateMul(count, unit));
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
    IR differs = nullptr;
    Access adjacent = access;
    const Address* const parts =
        access.kind == Kind::Varying && !access.is_local() ? parts_of(node.sources[0]) : nullptr;
    if (parts != nullptr) {
        take_apart(access, *parts);
        if (addresses_[static_cast<std::size_t>(version_)]->is_probably_adjacent(
                *parts, access.lane_bytes)) {
            adjacent.kind = Kind::Adjacent;
            adjacent.span = access.lane_bytes * width_;
            for (std::uint32_t l = 0; l < width_; ++l) {
                adjacent.offsets.push_back(std::int64_t{l} * access.lane_bytes);
            }
            differs = test_adjacency(adjacent, *parts);
        }
    }
    if (differs != nullptr) {
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
