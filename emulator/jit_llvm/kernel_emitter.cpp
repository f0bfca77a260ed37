// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "jit_llvm/kernel_emitter.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/MDBuilder.h>

namespace cuprum::emulator::jit {

using bytecode::WARP_SIZE;
using bytecode::Width;

KernelEmitter::KernelEmitter(const Graph& graph, const Target& target, llvm::Module& module)
    : graph_(graph), width_(graph.shape.lanes), target_(target), module_(module),
      context_(module.getContext()), ir_(context_), allocas_(context_) {
    llvm::MDBuilder metadata(context_);
    unlikely_ = metadata.createBranchWeights(1, 1u << 20);
    llvm::MDNode* const domain = metadata.createAnonymousAliasScopeDomain("cuprum");
    llvm::MDNode* const engine = metadata.createAnonymousAliasScope(domain, "engine");
    llvm::MDNode* const device = metadata.createAnonymousAliasScope(domain, "device");
    engine_scope_ = llvm::MDNode::get(context_, {engine});
    device_scope_ = llvm::MDNode::get(context_, {device});
}

void KernelEmitter::run(const std::string& name) {
    auto* const pointer = ir_.getPtrTy();
    auto* const type = llvm::FunctionType::get(ir_.getVoidTy(), {pointer, pointer}, false);
    function_ = llvm::Function::Create(type, llvm::Function::ExternalLinkage, name, module_);
    function_->addFnAttr(llvm::Attribute::NoUnwind);
    warp_ = function_->getArg(0);
    call_ = function_->getArg(1);
    auto* const top = llvm::BasicBlock::Create(context_, "top", function_);
    auto* const dispatch = llvm::BasicBlock::Create(context_, "dispatch", function_);
    begin(top);
    allocas_.SetInsertPoint(ir_.CreateBr(dispatch));
    begin(dispatch);
    for (std::size_t i = 0; i < 4; ++i) {
        bank_[i] =
            field(warp_, offsetof(WarpContext, banks) + i * sizeof(std::byte*), pointer, "bank");
    }
    first_ = width_ == WARP_SIZE
                 ? static_cast<IR>(ir_.getInt32(0))
                 : field(call_, offsetof(GangCall, first_lane), ir_.getInt32Ty(), "first");
    first64_ = ir_.CreateZExt(first_, ir_.getInt64Ty());
    IR const block = field(warp_, offsetof(WarpContext, block), pointer, "block");
    shared_ = field(block, offsetof(BlockContext, shared), pointer, "shared");
    shared_bytes_ =
        field(block, offsetof(BlockContext, shared_bytes), ir_.getInt32Ty(), "shared_bytes");
    local_stride_ = ir_.CreateZExt(
        field(block, offsetof(BlockContext, local_stride_bytes), ir_.getInt32Ty(), "stride"),
        ir_.getInt64Ty());
    IR const warp_index = field(warp_, offsetof(WarpContext, index), ir_.getInt32Ty(), "index");
    IR const thread = ir_.CreateAdd(
        ir_.CreateMul(ir_.CreateZExt(warp_index, ir_.getInt64Ty()), ir_.getInt64(WARP_SIZE)),
        first64_);
    local_ = ir_.CreateGEP(ir_.getInt8Ty(),
                           field(block, offsetof(BlockContext, local), pointer, "local"),
                           ir_.CreateMul(thread, local_stride_));
    sites_ = field(call_, offsetof(GangCall, sites), pointer, "sites");
    budget_ = allocas_.CreateAlloca(ir_.getInt32Ty());
    ir_.CreateStore(field(call_, offsetof(GangCall, budget), ir_.getInt32Ty(), "budget", false),
                    budget_);
    auto* const mask_type = vector_of(Width::Predicate);
    live_ = allocas_.CreateAlloca(mask_type);
    left_ = allocas_.CreateAlloca(mask_type);
    ir_.CreateStore(llvm::Constant::getNullValue(mask_type), left_);
    find_raw();
    find_waiting_places();
    blocks_.resize(graph_.blocks.size());

    // The entries, in the order of their instructions.
    std::map<std::uint32_t, std::uint32_t> by_pc;
    for (std::uint32_t b = 0; b < graph_.blocks.size(); ++b) {
        if (graph_.blocks[b].is_entry) {
            by_pc.try_emplace(graph_.blocks[b].pc, b);
        }
    }
    IR const entry = field(call_, offsetof(GangCall, entry), ir_.getInt32Ty(), "entry", false);
    auto* const nowhere = llvm::BasicBlock::Create(context_, "nowhere", function_);
    llvm::SwitchInst* const choice =
        ir_.CreateSwitch(entry, nowhere, static_cast<unsigned>(by_pc.size()));
    begin(nowhere);
    ir_.CreateUnreachable();
    for (const auto& [pc, b] : by_pc) {
        llvm::BasicBlock* const from = new_block("entry");
        choice->addCase(ir_.getInt32(static_cast<std::uint32_t>(entries_.size())), from);
        emit_entry(b, from);
    }
    for (const Version version : {Version::Full, Version::Partial}) {
        for (std::uint32_t b = 0; b < graph_.blocks.size(); ++b) {
            if (version == Version::Full || has_partial()) {
                emit_block(b, version);
            }
        }
    }
    // Blocks of a version that nothing reaches stay without code: they must not.
    for (const auto& versions : blocks_) {
        for (llvm::BasicBlock* const each : versions) {
            if (each != nullptr && each->empty()) {
                begin(each);
                ir_.CreateUnreachable();
            }
        }
    }
}

llvm::Type* KernelEmitter::type_of(Width width) const {
    switch (width) {
    case Width::Predicate:
        return llvm::Type::getInt1Ty(context_);
    case Width::B32:
        return llvm::Type::getInt32Ty(context_);
    case Width::B64:
        return llvm::Type::getInt64Ty(context_);
    case Width::B128:
        break;
    }
    return llvm::Type::getInt128Ty(context_);
}

llvm::Type* KernelEmitter::vector_of(Width width) const {
    return llvm::FixedVectorType::get(type_of(width), width_);
}

/// Returns where a value lives between blocks, or where the blocks before a phi put its input.
KernelEmitter::IR KernelEmitter::home(std::uint32_t value, Version version, bool is_input) {
    const bool is_vector = graph_.lanes(value, version).is_varying();
    const std::uint32_t kind = (is_vector ? 1u : 0u) + (is_input ? 2u : 0u);
    llvm::AllocaInst*& place = homes_[{value, kind}];
    if (place == nullptr) {
        const Width width = graph_.values[value].width;
        place = allocas_.CreateAlloca(is_vector ? vector_of(width) : type_of(width));
    }
    return place;
}

KernelEmitter::IR KernelEmitter::own(std::uint32_t value) {
    const auto found = known_.own.find(value);
    if (found != known_.own.end()) {
        return found->second;
    }
    const Value& about = graph_.values[value];
    const bool is_vector = lanes(value).is_varying();
    auto* const type = is_vector ? vector_of(about.width) : type_of(about.width);
    IR const result = about.kind == Value::Kind::Undefined
                          ? static_cast<IR>(llvm::Constant::getNullValue(type))
                          : ir_.CreateLoad(type, home(value, version_, false));
    known_.own[value] = result;
    return result;
}

KernelEmitter::IR KernelEmitter::as_width(IR value, Width width) {
    llvm::Type* type = type_of(width);
    if (value->getType()->isVectorTy()) {
        type = vector_of(width);
    }
    if (value->getType() == type) {
        return value;
    }
    return ir_.CreateZExtOrTrunc(value, type);
}

/// Returns a value of a bank that is the same in all lanes.
KernelEmitter::IR KernelEmitter::bank_scalar(const Ref& ref, Width width) {
    IR const bank = bank_[static_cast<std::size_t>(ref.operand.bank())];
    if (width == Width::Predicate) {
        IR const word = field(bank, ref.operand.offset(), ir_.getInt32Ty(), "word");
        return ir_.CreateTrunc(word, ir_.getInt1Ty());
    }
    return field(bank, ref.operand.offset(), type_of(width), "bank_value");
}

KernelEmitter::IR KernelEmitter::scalar(const Ref& ref, Width width, bool reads_bits) {
    switch (ref.kind) {
    case Ref::Kind::Value:
        return as_width(reads_bits && is_raw(ref) ? canonical(own(ref.value)) : own(ref.value),
                        width);
    case Ref::Kind::Constant: {
        const std::uint64_t bits = constant_of(graph_, ref, width);
        if (width == Width::B128) {
            break;
        }
        return llvm::ConstantInt::get(type_of(width), width == Width::Predicate ? bits & 1 : bits);
    }
    case Ref::Kind::Lanes: { // a pattern
        const Lanes about = lanes_of(graph_, ref, version_);
        IR const lane0 = first_lane(ref, width);
        return about.offsets.empty() || about.offsets[0] == 0
                   ? lane0
                   : ir_.CreateSub(
                         lane0, llvm::ConstantInt::get(
                                    type_of(width), static_cast<std::uint64_t>(about.offsets[0])));
    }
    default:
        break;
    }
    return bank_scalar(ref, width);
}

KernelEmitter::IR KernelEmitter::first_lane(const Ref& ref, Width width, bool reads_bits) {
    if (ref.kind == Ref::Kind::Lanes) {
        IR const place = ir_.CreateGEP(
            ir_.getInt8Ty(), bank_[1],
            ir_.CreateAdd(ir_.CreateMul(first64_, ir_.getInt64(static_cast<std::uint64_t>(width))),
                          ir_.getInt64(ref.operand.offset())));
        return ir_.CreateLoad(type_of(width), place);
    }
    if (ref.kind == Ref::Kind::Value && lanes(ref.value).is_varying()) {
        return ir_.CreateExtractElement(vector(ref, width, reads_bits), std::uint64_t{0});
    }
    IR const base = scalar(ref, width, reads_bits);
    if (ref.kind != Ref::Kind::Value) {
        return base;
    }
    const Lanes& about = lanes(ref.value);
    if (about.kind != Lanes::Kind::Pattern || about.offsets[0] == 0) {
        return base;
    }
    return ir_.CreateAdd(base, llvm::ConstantInt::get(
                                   base->getType(), static_cast<std::uint64_t>(about.offsets[0])));
}

KernelEmitter::IR KernelEmitter::splat(IR value) {
    if (auto* const constant = llvm::dyn_cast<llvm::Constant>(value)) {
        return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(width_), constant);
    }
    return ir_.CreateVectorSplat(width_, value);
}

/// Returns the offsets of a pattern as a constant vector.
KernelEmitter::IR KernelEmitter::pattern(const Lanes& lanes, llvm::Type* element) {
    llvm::SmallVector<llvm::Constant*, 32> all;
    for (std::uint32_t l = 0; l < width_; ++l) {
        all.push_back(
            llvm::ConstantInt::get(element, static_cast<std::uint64_t>(lanes.offsets[l]), true));
    }
    return llvm::ConstantVector::get(all);
}

KernelEmitter::IR KernelEmitter::vector_of_value(std::uint32_t value) {
    const Lanes& about = lanes(value);
    if (about.is_varying()) {
        return own(value);
    }
    const auto found = known_.vectors.find(value);
    if (found != known_.vectors.end()) {
        return found->second;
    }
    IR const base = own(value);
    IR result = splat(base);
    if (about.kind == Lanes::Kind::Pattern) {
        result = ir_.CreateAdd(result, pattern(about, base->getType()));
    }
    known_.vectors[value] = result;
    return result;
}

/// Returns the lanes of a value with the bits that the interpreter has.
KernelEmitter::IR KernelEmitter::canonical_vector(std::uint32_t value) {
    IR const lanes_now = vector_of_value(value);
    return raw_[value] ? canonical(lanes_now) : lanes_now;
}

KernelEmitter::IR KernelEmitter::vector(const Ref& ref, Width width, bool reads_bits) {
    if (ref.kind == Ref::Kind::Value) {
        return as_width(reads_bits ? canonical_vector(ref.value) : vector_of_value(ref.value),
                        width);
    }
    if (ref.kind != Ref::Kind::Lanes) {
        return splat(scalar(ref, width));
    }
    if (width == Width::Predicate) {
        IR const word = field(bank_[1], ref.operand.offset(), ir_.getInt32Ty(), "word");
        IR const part = ir_.CreateTrunc(ir_.CreateLShr(word, first_), ir_.getIntNTy(width_));
        return ir_.CreateBitCast(part, vector_of(width));
    }
    IR const place = ir_.CreateGEP(
        ir_.getInt8Ty(), bank_[1],
        ir_.CreateAdd(ir_.CreateMul(first64_, ir_.getInt64(static_cast<std::uint64_t>(width))),
                      ir_.getInt64(ref.operand.offset())));
    return ir_.CreateAlignedLoad(vector_of(width), place, llvm::Align(4));
}

/// Sets a value: a scalar (uniform, or the base of a pattern), or a vector if its lanes vary.
void KernelEmitter::define(std::uint32_t value, IR result) {
    const bool is_vector = lanes(value).is_varying();
    result = as_width(result, graph_.values[value].width);
    if (is_vector && !result->getType()->isVectorTy()) {
        result = splat(result);
    }
    known_.own[value] = result;
    known_.vectors.erase(value);
    if (graph_.values[value].is_used_elsewhere) {
        ir_.CreateStore(result, home(value, version_, false));
    }
}

/// Gives a NaN of single precision, in words, the bits that every NaN has here.
KernelEmitter::IR KernelEmitter::canonical(IR bits) {
    llvm::Type* number = ir_.getFloatTy();
    IR nan = ir_.getInt32(0x7fffffffu);
    if (bits->getType()->isVectorTy()) {
        number = llvm::FixedVectorType::get(number, width_);
        nan = splat(nan);
    }
    IR const value = ir_.CreateBitCast(bits, number);
    return ir_.CreateSelect(ir_.CreateFCmpUNO(value, value), nan, bits);
}

/// Finds the values whose NaNs need not be canonical: results of arithmetic in single precision,
/// and phis of these.
void KernelEmitter::find_raw() {
    raw_.assign(graph_.values.size(), false);
    std::vector<std::vector<std::uint32_t>> phis_of(graph_.values.size());
    std::vector<std::uint32_t> pending;
    for (std::uint32_t v = 0; v < graph_.values.size(); ++v) {
        const Value& value = graph_.values[v];
        if (value.kind == Value::Kind::Phi) {
            for (const std::uint32_t input : value.inputs) {
                phis_of[input].push_back(v);
            }
        } else if (value.kind == Value::Kind::Result && value.width == Width::B32 &&
                   leaves_raw(graph_.blocks[value.block].nodes[value.node])) {
            raw_[v] = true;
            pending.push_back(v);
        }
    }
    while (!pending.empty()) {
        const std::uint32_t value = pending.back();
        pending.pop_back();
        for (const std::uint32_t phi : phis_of[value]) {
            if (!raw_[phi]) {
                raw_[phi] = true;
                pending.push_back(phi);
            }
        }
    }
}

/// Returns whether a node computes in single precision, so that its NaNs can wait.
bool KernelEmitter::leaves_raw(const Node& node) const {
    const bytecode::Instruction& instruction = at(node);
    return instruction.form.family() == bytecode::Family::Float &&
           instruction.form.as<FloatForm>().type == ptx::Type::F32 &&
           !ValueEmitter::reads_bits(instruction) && ValueEmitter::can_emit(instruction, target_);
}

KernelEmitter::IR KernelEmitter::all_lanes() {
    return llvm::Constant::getAllOnesValue(vector_of(Width::Predicate));
}

KernelEmitter::IR KernelEmitter::bits(Mask mask) {
    auto* const type = ir_.getIntNTy(width_);
    return mask.is_full() ? static_cast<IR>(llvm::Constant::getAllOnesValue(type))
                          : ir_.CreateBitCast(mask.bits, type);
}

KernelEmitter::IR KernelEmitter::any(Mask mask) {
    return ir_.CreateICmpNE(bits(mask), llvm::Constant::getNullValue(ir_.getIntNTy(width_)));
}

/// Returns a mask of the gang as one of its warp.
KernelEmitter::IR KernelEmitter::warp_mask(Mask mask) {
    return ir_.CreateShl(ir_.CreateZExt(bits(mask), ir_.getInt32Ty()), first_);
}

KernelEmitter::Mask KernelEmitter::both(Mask mask, IR condition) {
    return {mask.is_full() ? condition : ir_.CreateAnd(mask.bits, condition)};
}

/// Returns the number of the first lane of a mask that is not empty, as 64 bits.
KernelEmitter::IR KernelEmitter::first_active(Mask mask) {
    if (mask.is_full()) {
        return ir_.getInt64(0);
    }
    IR const word = ir_.CreateZExt(bits(mask), ir_.getInt64Ty());
    return ir_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, word, ir_.getTrue());
}

llvm::BasicBlock* KernelEmitter::new_block(const char* name) {
    return llvm::BasicBlock::Create(context_, name, function_);
}

llvm::BasicBlock* KernelEmitter::block_of(std::uint32_t block, Version version) {
    llvm::BasicBlock*& place = blocks_[block][static_cast<std::size_t>(version)];
    if (place == nullptr) {
        place = new_block(version == Version::Full ? "F" : "P");
    }
    return place;
}

} // namespace cuprum::emulator::jit
