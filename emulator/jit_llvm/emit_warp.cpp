// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Instructions that look at other lanes of the warp. The gang is the whole warp then, and the lanes
// of the mask have met (interp/handlers/warp.cpp).

#include "bytecode/forms.hpp"
#include "jit_llvm/kernel_emitter.hpp"

#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/MDBuilder.h>

#include <optional>

namespace cuprum::emulator::jit {

using bytecode::WARP_SIZE;
using bytecode::Width;

namespace {

/// How lanes of a team combine their values, or nothing if only the handler knows.
struct Reduction {
    llvm::Intrinsic::ID function;
    std::uint32_t neutral;
};

std::optional<Reduction> reduction_of(WarpOp op) {
    using namespace llvm::Intrinsic;
    switch (op) {
    case WarpOp::ReduxAdd:
        return Reduction{vector_reduce_add, 0};
    case WarpOp::ReduxMinUnsigned:
        return Reduction{vector_reduce_umin, 0xffffffffu};
    case WarpOp::ReduxMaxUnsigned:
        return Reduction{vector_reduce_umax, 0};
    case WarpOp::ReduxMinSigned:
        return Reduction{vector_reduce_smin, 0x7fffffffu};
    case WarpOp::ReduxMaxSigned:
        return Reduction{vector_reduce_smax, 0x80000000u};
    case WarpOp::ReduxAnd:
        return Reduction{vector_reduce_and, 0xffffffffu};
    case WarpOp::ReduxOr:
        return Reduction{vector_reduce_or, 0};
    case WarpOp::ReduxXor:
        return Reduction{vector_reduce_xor, 0};
    default:
        return std::nullopt;
    }
}

} // namespace

/// Returns the lanes of `values`, 32 words, in the order that `from` says.
KernelEmitter::IR KernelEmitter::permuted(IR values, IR from) {
    if (auto* const constant = llvm::dyn_cast<llvm::Constant>(from)) {
        llvm::SmallVector<int, WARP_SIZE> order;
        for (unsigned l = 0; l < WARP_SIZE; ++l) {
            const auto* const lane =
                llvm::dyn_cast<llvm::ConstantInt>(constant->getAggregateElement(l));
            order.push_back(lane == nullptr ? -1 : static_cast<int>(lane->getZExtValue()));
        }
        return ir_.CreateShuffleVector(values, order);
    }
    const auto half = [&](IR of, int first) {
        llvm::SmallVector<int, 16> order;
        for (int l = 0; l < 16; ++l) {
            order.push_back(first + l);
        }
        return ir_.CreateShuffleVector(of, order);
    };
    if (target_.has_avx512) {
        IR const low = half(values, 0);
        IR const high = half(values, 16);
        IR parts[2];
        for (int h = 0; h < 2; ++h) {
            parts[h] = ir_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
                                           {low, half(from, h * 16), high});
        }
        llvm::SmallVector<int, WARP_SIZE> order;
        for (int l = 0; l < static_cast<int>(WARP_SIZE); ++l) {
            order.push_back(l);
        }
        return ir_.CreateShuffleVector(parts[0], parts[1], order);
    }
    if (exchange_ == nullptr) {
        exchange_ = allocas_.CreateAlloca(vector_of(Width::B32));
        exchange_->setAlignment(llvm::Align(64));
    }
    ir_.CreateStore(values, exchange_);
    IR result = llvm::PoisonValue::get(vector_of(Width::B32));
    for (unsigned l = 0; l < WARP_SIZE; ++l) {
        IR const index = ir_.CreateZExt(ir_.CreateExtractElement(from, l), ir_.getInt64Ty());
        IR const place = ir_.CreateInBoundsGEP(ir_.getInt32Ty(), exchange_, index);
        result = ir_.CreateInsertElement(result, ir_.CreateLoad(ir_.getInt32Ty(), place), l);
    }
    return result;
}

/// Emits a shuffle. Results: the values and, if wanted, which lanes were in range.
void KernelEmitter::emit_shuffle(const Node& node, WarpOp op, llvm::SmallVectorImpl<IR>& results) {
    const auto constant = [&](std::uint32_t value) { return splat(ir_.getInt32(value)); };
    llvm::SmallVector<llvm::Constant*, WARP_SIZE> numbers;
    for (std::uint32_t l = 0; l < WARP_SIZE; ++l) {
        numbers.push_back(ir_.getInt32(l));
    }
    IR const lane = llvm::ConstantVector::get(numbers);
    IR const distance = ir_.CreateAnd(vector(node.sources[1], Width::B32), constant(31));
    IR const control = vector(node.sources[2], Width::B32);
    IR const clamp = ir_.CreateAnd(control, constant(31));
    IR const segment = ir_.CreateAnd(ir_.CreateLShr(control, constant(8)), constant(31));
    IR const rest = ir_.CreateNot(segment);
    IR const last = ir_.CreateOr(ir_.CreateAnd(lane, segment), ir_.CreateAnd(clamp, rest));
    IR source = nullptr;
    switch (op) {
    case WarpOp::ShuffleUp:
        source = ir_.CreateSub(lane, distance);
        break;
    case WarpOp::ShuffleDown:
        source = ir_.CreateAdd(lane, distance);
        break;
    case WarpOp::ShuffleButterfly:
        source = ir_.CreateXor(lane, distance);
        break;
    default:
        source = ir_.CreateOr(ir_.CreateAnd(lane, segment), ir_.CreateAnd(distance, rest));
        break;
    }
    IR const is_in_range =
        op == WarpOp::ShuffleUp ? ir_.CreateICmpSGE(source, last) : ir_.CreateICmpSLE(source, last);
    IR const from = ir_.CreateAnd(ir_.CreateSelect(is_in_range, source, lane), constant(31));
    results.push_back(permuted(vector(node.sources[0], Width::B32), from));
    if (node.results.size() == 2) {
        results.push_back(is_in_range);
    }
}

/// Emits an instruction of a whole warp. Returns false if only the handler can run it.
bool KernelEmitter::emit_warp(const Node& node, Mask mask) {
    const WarpOp op = at(node).form.as<WarpForm>().op;
    if (op == WarpOp::Fence) {
        ir_.CreateFence(llvm::AtomicOrdering::SequentiallyConsistent);
        return true;
    }
    if (width_ != WARP_SIZE) {
        return false;
    }
    IR guard = nullptr;
    if (node.guard.kind != Ref::Kind::None) {
        (void)guarded(node, {}, guard);
        if (!guard->getType()->isVectorTy()) {
            guard = splat(guard);
        }
    }
    llvm::SmallVector<IR, 2> results;
    if (op == WarpOp::ShuffleUp || op == WarpOp::ShuffleDown || op == WarpOp::ShuffleButterfly ||
        op == WarpOp::ShuffleIndex) {
        emit_shuffle(node, op, results);
        merge_results(node, guard, results, false);
        return true;
    }
    const std::size_t members = op == WarpOp::Elect ? 0 : 1;
    if (node.sources.size() <= members ||
        !lanes_of(graph_, node.sources[members], version_).is_uniform()) {
        return false; // several teams
    }
    IR const team = bits(mask);
    if (const auto reduction = reduction_of(op)) {
        IR values = vector(node.sources[0], Width::B32);
        if (!mask.is_full()) {
            values = ir_.CreateSelect(mask.bits, values, splat(ir_.getInt32(reduction->neutral)));
        }
        results.push_back(
            splat(ir_.CreateIntrinsic(reduction->function, {values->getType()}, {values})));
        merge_results(node, guard, results, false);
        return true;
    }
    if (op == WarpOp::Elect) {
        IR const leader = ir_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, team, ir_.getFalse());
        results.push_back(splat(leader));
        IR const first = ir_.CreateAnd(team, ir_.CreateNeg(team));
        results.push_back(ir_.CreateBitCast(first, vector_of(Width::Predicate)));
        if (node.results.size() != 2) {
            return false;
        }
        merge_results(node, guard, results, false);
        return true;
    }
    if (op != WarpOp::VoteAll && op != WarpOp::VoteAny && op != WarpOp::VoteUni &&
        op != WarpOp::VoteBallot) {
        return false;
    }
    IR votes = vector(node.sources[0], Width::Predicate);
    if ((at(node).tag & 1) != 0) {
        votes = ir_.CreateNot(votes);
    }
    IR const yes = ir_.CreateAnd(bits({votes}), team);
    IR const none = llvm::Constant::getNullValue(yes->getType());
    IR result = nullptr;
    switch (op) {
    case WarpOp::VoteBallot:
        result = yes;
        break;
    case WarpOp::VoteAll:
        result = ir_.CreateICmpEQ(yes, team);
        break;
    case WarpOp::VoteAny:
        result = ir_.CreateICmpNE(yes, none);
        break;
    default:
        result = ir_.CreateOr(ir_.CreateICmpEQ(yes, team), ir_.CreateICmpEQ(yes, none));
        break;
    }
    results.push_back(splat(result));
    merge_results(node, guard, results, false);
    return true;
}

} // namespace cuprum::emulator::jit
