// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Instructions compiled one by one give the bits that the interpreter's handlers give.
//
// By default each form is compiled in a few ways that change from form to form. With
// CUPRUM_TEST_VALUES=all each form is compiled in every way, which takes minutes.

#include "decode/levels.hpp"
#include "interp/warp.hpp"
#include "jit_llvm/emit_values.hpp"
#include "jit_llvm/value_cases.hpp"

#include <gtest/gtest.h>
#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <map>
#include <memory>
#include <random>

namespace cuprum::emulator::test {

namespace {

using bytecode::Family;
using bytecode::Instruction;
using bytecode::WARP_SIZE;
using bytecode::Width;
using jit::Target;
using jit::ValueEmitter;

/// How one form is compiled.
struct Way {
    unsigned lanes;
    bool is_optimized;
    unsigned constants;   // mask of sources that are constants
    bool flushes = false; // the processor flushes subnormal numbers
    // `constants` are the same in all lanes, but unknown while compiling.
    bool are_uniform = false;
};

/// Runs one gang: the slots, and its first lane.
using GangOfOne = void (*)(std::byte* slots, std::uint32_t first_lane);

// ---- inputs
// --------------------------------------------------------------------------------------

class Inputs {
public:
    explicit Inputs(unsigned seed) : random_(seed) {}

    /// Fills a slot with 64-bit patterns. Narrower readers see each half as a lane.
    void fill(std::byte* slot, Numbers numbers) {
        for (unsigned i = 0; i < SLOT_BYTES / 8; ++i) {
            const std::uint64_t value =
                numbers == Numbers::Reals ? real() : word(numbers) | word(numbers) << 32;
            std::memcpy(slot + 8 * i, &value, 8);
        }
    }

    /// Returns the bits of a constant: the same in every lane, whatever the width of its reader.
    std::uint64_t constant(Numbers numbers) {
        return numbers == Numbers::Reals ? real() : word(numbers) * 0x100000001u;
    }

private:
    std::uint64_t word(Numbers numbers) {
        switch (numbers) {
        case Numbers::Integers:
            return integer();
        case Numbers::Amounts:
            return pick() < 50 ? random_() % 70 : integer();
        case Numbers::Singles:
            return single();
        case Numbers::Halves:
            return half() | half() << 16;
        default:
            return single() >> 16 | (single() >> 16 << 16);
        }
    }

    unsigned pick() { return random_() % 100; }

    std::uint64_t integer() {
        constexpr std::uint32_t edges[] = {
            0,       1,          2,          3,          7,          10,
            0x7f,    0x80,       0xff,       0x7fff,     0x8000,     0xffff,
            0x10000, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe};
        const unsigned choice = pick();
        return choice < 50   ? edges[random_() % std::size(edges)]
               : choice < 70 ? random_() & 0xff
                             : static_cast<std::uint32_t>(random_());
    }

    std::uint64_t single() {
        constexpr std::uint32_t edges[] = {
            0,          0x80000000, 0x3f800000, 0xbf800000, 0x3f000000, 0x3fc00000, 0x40200000,
            0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f812345, 0x7fffffff, 1,
            0x80000001, 0x007fffff, 0x00800000, 0x80800000, 0x00800001, 0x7f7fffff, 0xff7fffff,
            0x4b000000, 0x4b400001, 0x4f000000, 0xcf000000, 0x4effffff, 0x4f800000, 0x5f000000,
            0xdf000000, 0x5f800000, 0x33000000, 0x33800000, 0x387fffff, 0x38800000, 0x477fe000,
            0x477ff000, 0x3b800000, 0x437f0000, 0x1f800000, 0x20000000, 0x00400000, 0x3f7fffff,
            0x0bffffff, 0x7e800000, 0x7e800001, 0x3f800001, 0x34000000};
        const unsigned choice = pick();
        const auto bits = static_cast<std::uint32_t>(random_());
        return choice < 45   ? edges[random_() % std::size(edges)]
               : choice < 60 ? bits
               : choice < 85 ? (bits & 0x80ffffffu) | (0x3c + random_() % 8) << 24
                             : (bits & 0x807fffffu) | (random_() % 4) << 23;
    }

    std::uint64_t half() {
        constexpr std::uint32_t edges[] = {0,      0x8000, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00,
                                           0xfe01, 0x7d01, 0x7fff, 0x7ff7, 0xfff7, 1,      0x8001,
                                           0x03ff, 0x0400, 0x8400, 0x7bff, 0xfbff, 0x3800, 0x4200};
        return pick() < 40 ? edges[random_() % std::size(edges)] : random_() & 0xffff;
    }

    std::uint64_t real() {
        constexpr std::uint64_t edges[] = {
            0,
            0x8000000000000000,
            0x3ff0000000000000,
            0xbff0000000000000,
            0x3fe0000000000000,
            0x4004000000000000,
            0x7ff0000000000000,
            0xfff0000000000000,
            0x7ff8000000000000,
            0x7ff8123456789abc,
            0xfff8123456789abc,
            0x7ff0000012345678,
            1,
            0x000fffffffffffff,
            0x0010000000000000,
            0x7fefffffffffffff,
            0x41dfffffffc00000,
            0x41e0000000000000,
            0xc1e0000000000000,
            0x41f0000000000000,
            0x43e0000000000000,
            0xc3e0000000000000,
            0x43f0000000000000,
            0x380fffffe0000000,
            0x380ffffff0000000,
            0x3810000000000000,
            0x47efffffe0000000,
            0x47efffffefffffff,
            0x47effffff0000000,
            0x36a0000000000000,
            0x3690000000000001,
            0x3690000000000000,
        };
        const unsigned choice = pick();
        if (choice < 45) {
            return edges[random_() % std::size(edges)];
        }
        const std::uint64_t bits = std::uint64_t{random_()} << 32 | random_();
        if (choice < 55) {
            return bits;
        }
        if (choice < 75) {
            std::uint32_t narrow = static_cast<std::uint32_t>(single());
            float value = 0;
            std::memcpy(&value, &narrow, 4);
            const double wide = value;
            std::uint64_t result = 0;
            std::memcpy(&result, &wide, 8);
            return result ^ (random_() % 3);
        }
        return (bits & 0x800fffffffffffffu) | (std::uint64_t{0x3f0} + random_() % 0x40) << 52;
    }

    std::mt19937 random_;
};

// ---- compiling
// -----------------------------------------------------------------------------------

const char* cpu_of(const std::string& level) {
    return level == "v4" ? "x86-64-v4" : level == "v3" ? "x86-64-v3" : "x86-64-v2";
}

Target target_of(const std::string& level, const Way& way) {
    Target target = Target::of("isa_" + level);
    target.flushes = way.flushes;
    return target;
}

/// One module of functions for one level.
class Module {
public:
    explicit Module(const std::string& level, bool is_optimized)
        : level_(level), is_optimized_(is_optimized),
          context_(std::make_unique<llvm::LLVMContext>()),
          module_(std::make_unique<llvm::Module>("values", *context_)) {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
        auto builder = llvm::cantFail(llvm::orc::JITTargetMachineBuilder::detectHost());
        builder.setCPU(cpu_of(level));
        builder.getFeatures() = llvm::SubtargetFeatures();
        builder.setCodeGenOptLevel(is_optimized ? llvm::CodeGenOptLevel::Default
                                                : llvm::CodeGenOptLevel::None);
        jit_ = llvm::cantFail(llvm::orc::LLJITBuilder()
                                  .setLinkProcessSymbolsByDefault(false) // code calls no function
                                  .setPlatformSetUp(llvm::orc::setUpInactivePlatform)
                                  .setJITTargetMachineBuilder(builder)
                                  .create());
        module_->setDataLayout(jit_->getDataLayout());
        module_->setTargetTriple(builder.getTargetTriple().str());
    }

    /// Adds a function that runs an instruction. Returns false if only the handler can.
    bool add(const ValueCase& one, const Way& way,
             const std::array<std::uint64_t, SOURCES>& constants, const std::string& name) {
        const Target target = target_of(level_, way);
        llvm::IRBuilder<> ir(*context_);
        auto* const function = llvm::Function::Create(
            llvm::FunctionType::get(ir.getVoidTy(), {ir.getPtrTy(), ir.getInt32Ty()}, false),
            llvm::Function::ExternalLinkage, name, *module_);
        function->addFnAttr("prefer-vector-width", level_ == "v4" ? "512" : "256");
        ir.SetInsertPoint(llvm::BasicBlock::Create(*context_, "", function));
        const auto type_of = [&](Width width) -> llvm::Type* {
            auto* const lane =
                ir.getIntNTy(width == Width::Predicate ? 1 : static_cast<unsigned>(width) * 8);
            return way.lanes == 1 ? static_cast<llvm::Type*>(lane)
                                  : llvm::FixedVectorType::get(lane, way.lanes);
        };
        llvm::Value* const slots = function->getArg(0);
        llvm::Value* const first = function->getArg(1);
        const auto place = [&](std::uint32_t slot, Width width) {
            llvm::Value* const offset = ir.CreateAdd(
                ir.CreateMul(
                    first,
                    ir.getInt32(width == Width::Predicate ? 0 : static_cast<std::uint32_t>(width))),
                ir.getInt32(slot * SLOT_BYTES));
            return ir.CreateGEP(ir.getInt8Ty(), slots, ir.CreateZExt(offset, ir.getInt64Ty()));
        };
        const auto source = [&](unsigned index, Width width) -> llvm::Value* {
            if (width == Width::Predicate) {
                auto* const all = ir.CreateLoad(ir.getInt32Ty(), place(index, width));
                auto* const gang =
                    ir.CreateTrunc(ir.CreateLShr(all, first), ir.getIntNTy(way.lanes));
                return ir.CreateBitCast(gang, type_of(width));
            }
            if ((way.constants >> index & 1) != 0 && width != Width::B128) {
                const std::uint64_t bits = constants[index];
                if (way.are_uniform && way.lanes != 1) {
                    llvm::Type* const lane = type_of(width)->getScalarType();
                    return ir.CreateVectorSplat(way.lanes,
                                                ir.CreateLoad(lane, place(index, width)));
                }
                return llvm::ConstantInt::get(type_of(width),
                                              width == Width::B32 ? bits & 0xffffffffu : bits);
            }
            return ir.CreateAlignedLoad(type_of(width), place(index, width), llvm::Align(4));
        };
        llvm::SmallVector<llvm::Value*> results;
        const bytecode::Kernel kernel;
        if (!ValueEmitter(ir, kernel, way.lanes, target).emit(one.at, source, results)) {
            function->eraseFromParent();
            return false;
        }
        EXPECT_EQ(results.size(), one.at.dst_count) << one.name;
        for (std::uint32_t i = 0; i < results.size(); ++i) {
            llvm::Value* value = results[i];
            const unsigned bits = value->getType()->getScalarSizeInBits();
            if (bits == 1) {
                auto* const mask = place(SOURCES + i, Width::Predicate);
                auto* gang = ir.CreateBitCast(value, ir.getIntNTy(way.lanes));
                gang = ir.CreateShl(ir.CreateZExt(gang, ir.getInt32Ty()), first);
                ir.CreateStore(ir.CreateOr(ir.CreateLoad(ir.getInt32Ty(), mask), gang), mask);
            } else {
                ir.CreateAlignedStore(value, place(SOURCES + i, static_cast<Width>(bits / 8)),
                                      llvm::Align(4));
            }
        }
        ir.CreateRetVoid();
        return true;
    }

    void compile() {
        ASSERT_FALSE(llvm::verifyModule(*module_, &llvm::errs()));
        if (is_optimized_) {
            optimize();
        }
        llvm::cantFail(jit_->addIRModule({std::move(module_), std::move(context_)}));
    }

    GangOfOne find(const std::string& name) {
        return llvm::cantFail(jit_->lookup(name)).toPtr<GangOfOne>();
    }

private:
    void optimize() {
        llvm::LoopAnalysisManager loops;
        llvm::FunctionAnalysisManager functions;
        llvm::CGSCCAnalysisManager components;
        llvm::ModuleAnalysisManager modules;
        llvm::PassBuilder passes;
        passes.registerModuleAnalyses(modules);
        passes.registerCGSCCAnalyses(components);
        passes.registerFunctionAnalyses(functions);
        passes.registerLoopAnalyses(loops);
        passes.crossRegisterProxies(loops, functions, components, modules);
        llvm::ModulePassManager manager;
        llvm::cantFail(passes.parsePassPipeline(
            manager, "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,gvn)"));
        manager.run(*module_, modules);
    }

    std::string level_;
    bool is_optimized_;
    std::unique_ptr<llvm::LLVMContext> context_;
    std::unique_ptr<llvm::Module> module_;
    std::unique_ptr<llvm::orc::LLJIT> jit_;
};

// ---- comparing
// -----------------------------------------------------------------------------------

/// A scope in which the processor treats subnormal numbers as zeros.
class ProcessorFlushes {
public:
    explicit ProcessorFlushes(bool flushes) : flushes_(flushes) { set(flushes_ ? 0x9fc0 : 0x1f80); }

    ~ProcessorFlushes() { set(0x1f80); }

    ProcessorFlushes(const ProcessorFlushes&) = delete;
    ProcessorFlushes& operator=(const ProcessorFlushes&) = delete;

private:
    void set([[maybe_unused]] unsigned control) const {
#if defined(__x86_64__)
        if (flushes_) {
            _mm_setcsr(control);
        }
#endif
    }

    bool flushes_;
};

struct alignas(64) Slots {
    std::byte bytes[(SOURCES + DESTINATIONS) * SLOT_BYTES] = {};

    std::byte* slot(std::uint32_t index) { return bytes + std::size_t{index} * SLOT_BYTES; }
};

bool is_real_nan(std::uint64_t bits) {
    return (bits & 0x7fffffffffffffffu) > 0x7ff0000000000000u;
}

/// Whether a result is of double precision. Which NaN an operation of several gives, and with
/// which sign, is open there.
bool is_real_result(const Instruction& at) {
    return at.form.family() == Family::Float && at.form.as<FloatForm>().type == ptx::Type::F64;
}

class ValuesTest : public testing::TestWithParam<const char*> {
protected:
    ~ValuesTest() override { (void)use_selectors_of(nullptr); }

    void SetUp() override {
        if (!use_selectors_of(GetParam())) {
            GTEST_SKIP() << "no handlers for level " << GetParam() << " here";
        }
    }

    /// Compiles and compares every form of some families.
    void check(std::initializer_list<Family> families);

private:
    /// Compares all results of a compiled function with the handler's.
    static void compare(const ValueCase& one, const Way& way,
                        const std::array<std::uint64_t, SOURCES>& constants, GangOfOne code,
                        unsigned seed) {
        constexpr unsigned rounds = 24;
        Inputs inputs(seed);
        for (unsigned round = 0; round < rounds; ++round) {
            Slots expected;
            for (std::uint32_t i = 0; i < SOURCES; ++i) {
                inputs.fill(expected.slot(i), one.numbers);
                if ((way.constants >> i & 1) != 0) {
                    for (unsigned lane = 0; lane < SLOT_BYTES / 8; ++lane) {
                        std::memcpy(expected.slot(i) + 8 * lane, &constants[i], 8);
                    }
                }
            }
            Slots actual = expected;
            WarpContext warp;
            warp.banks.fill(expected.bytes);
            ASSERT_EQ(one.at.handler(warp, &one.at, bytecode::FULL_MASK), &one.at + 1);
            {
                const ProcessorFlushes scope(way.flushes);
                for (std::uint32_t lane = 0; lane < WARP_SIZE; lane += way.lanes) {
                    code(actual.bytes, lane);
                }
            }
            if (!is_equal(one, expected, actual)) {
                describe(one, way, expected, actual);
                return;
            }
        }
    }

    static unsigned lane_bytes(const ValueCase& one, std::uint32_t destination) {
        const bytecode::Form& form = one.at.form;
        switch (form.family()) {
        case Family::Move: {
            const auto move = form.as<MoveForm>();
            if (move.op == MoveOp::Unpack) {
                return move.part_bytes <= 4 ? 4 : move.part_bytes;
            }
            return move.op == MoveOp::Pack ? std::max<unsigned>(move.bytes, 4)
                                           : static_cast<unsigned>(move.width);
        }
        case Family::Integer: {
            const auto integer = form.as<IntegerForm>();
            const bool is_wide =
                integer.op == IntegerOp::MulWide || integer.op == IntegerOp::MadWide;
            const bool is_word = ptx::size_of(integer.type) == 4;
            return ptx::size_of(integer.type) == 8 || (is_wide && is_word) ? 8 : 4;
        }
        case Family::Carry:
            return destination == 1
                       ? 0
                       : static_cast<unsigned>(ptx::size_of(form.as<CarryForm>().type));
        case Family::Bits: {
            const auto bits = form.as<BitsForm>();
            const bool is_count = bits.op >= BitsOp::Popc && bits.op <= BitsOp::BfindSignedShift;
            return bits.op >= BitsOp::PredicateAnd ? 0 : bits.bits == 64 && !is_count ? 8 : 4;
        }
        case Family::Float: {
            const auto number = form.as<FloatForm>();
            return number.op >= FloatOp::TestFinite ? 0 : number.type == ptx::Type::F64 ? 8 : 4;
        }
        case Family::Compare:
            return form.as<CompareForm>().result == CompareResult::Predicate ? 0 : 4;
        case Family::Convert:
            return static_cast<unsigned>(form.as<ConvertForm>().to_width);
        default:
            return 4;
        }
    }

    static std::uint64_t read(const std::byte* slot, unsigned bytes, unsigned lane, unsigned bits) {
        std::uint64_t value = 0;
        if (bytes == 0) {
            std::memcpy(&value, slot, 4);
            return value >> lane & 1;
        }
        std::memcpy(&value, slot + std::size_t{bytes} * lane, std::min(bytes, 8u));
        return bits < 64 ? value & ((std::uint64_t{1} << bits) - 1) : value;
    }

    static bool differs(const ValueCase& one, std::uint64_t want, std::uint64_t got) {
        return want != got && !(is_real_result(one.at) && is_real_nan(want) && is_real_nan(got));
    }

    static bool is_equal(const ValueCase& one, Slots& expected, Slots& actual) {
        for (std::uint32_t i = 0; i < one.at.dst_count; ++i) {
            const unsigned bytes = lane_bytes(one, i);
            for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
                for (unsigned part = 0; part < (bytes == 16 ? 2 : 1); ++part) {
                    const std::size_t skip = std::size_t{part} * 8;
                    if (differs(
                            one,
                            read(expected.slot(SOURCES + i) + skip, bytes, lane, one.result_bits),
                            read(actual.slot(SOURCES + i) + skip, bytes, lane, one.result_bits))) {
                        return false;
                    }
                }
            }
        }
        return true;
    }

    static void describe(const ValueCase& one, const Way& way, Slots& expected, Slots& actual) {
        for (std::uint32_t i = 0; i < one.at.dst_count; ++i) {
            const unsigned bytes = lane_bytes(one, i);
            for (unsigned lane = 0; lane < WARP_SIZE; ++lane) {
                const std::uint64_t want =
                    read(expected.slot(SOURCES + i), bytes, lane, one.result_bits);
                const std::uint64_t got =
                    read(actual.slot(SOURCES + i), bytes, lane, one.result_bits);
                if (!differs(one, want, got)) {
                    continue;
                }
                std::string sources;
                for (std::uint32_t source = 0; source < SOURCES; ++source) {
                    char text[64];
                    std::snprintf(
                        text, sizeof text, " %08llx or %016llx",
                        static_cast<unsigned long long>(read(expected.slot(source), 4, lane, 32)),
                        static_cast<unsigned long long>(read(expected.slot(source), 8, lane, 64)));
                    sources += text;
                }
                ADD_FAILURE() << one.name << " with " << way.lanes << " lanes"
                              << (way.is_optimized ? ", optimized" : "")
                              << (way.flushes ? ", flushing" : "") << ", constants "
                              << way.constants << std::hex << ": result " << i << " of lane "
                              << lane << " is 0x" << got << ", the handler's is 0x" << want
                              << "; sources" << sources;
                return;
            }
        }
    }
};

const char* name_of(Family family) {
    switch (family) {
    case Family::Move:
        return "Move";
    case Family::Integer:
        return "Integer";
    case Family::Dot:
        return "Dot";
    case Family::Bits:
        return "Bits";
    case Family::Carry:
        return "Carry";
    case Family::Float:
        return "Float";
    case Family::Compare:
        return "Compare";
    case Family::Convert:
        return "Convert";
    default:
        return "Pack";
    }
}

/// Divisors that all lanes share are inverted, so each way tries another one.
constexpr std::size_t SHARED_DIVISORS = 40;

bool is_division(const bytecode::Form& form) {
    return form.family() == Family::Integer && (form.as<IntegerForm>().op == IntegerOp::Div ||
                                                form.as<IntegerForm>().op == IntegerOp::Rem);
}

/// Returns in which ways a form is compiled.
std::vector<Way> ways_of(std::size_t index, const bytecode::Form& form) {
    const char* const setting = std::getenv("CUPRUM_TEST_VALUES");
    std::vector<Way> ways;
    if (setting != nullptr && std::string(setting) == "all") {
        for (const unsigned lanes : {1, 8, 16, 32}) {
            for (const bool is_optimized : {false, true}) {
                for (const unsigned constants : {0, 1, 2, 4, 6}) {
                    ways.push_back({lanes, is_optimized, constants});
                }
                ways.push_back({lanes, is_optimized, 0, true});
            }
        }
        return ways;
    }
    constexpr unsigned lanes[] = {16, 8, 32, 1};
    constexpr unsigned constants[] = {2, 4, 1, 6};
    ways.push_back({16, true, 0});
    ways.push_back({lanes[(index + 1) % 4], index % 3 == 0, 0});
    ways.push_back({lanes[index % 4], true, constants[index / 4 % 4]});
    ways.push_back({16, true, 0, true});
    const std::size_t shared = is_division(form) ? SHARED_DIVISORS : 1;
    for (std::size_t i = 0; i < shared; ++i) {
        ways.push_back({16, true, 2, false, true});
    }
    return ways;
}

void ValuesTest::check(std::initializer_list<Family> families) {
    const std::string level = GetParam();
    const std::vector<ValueCase> cases = ValueCases().cases;
    const char* const only = std::getenv("CUPRUM_TEST_VALUES_ONLY");

    struct Planned {
        const ValueCase* one;
        Way way;
        std::array<std::uint64_t, SOURCES> constants;
        std::string name;
        std::size_t module;
    };

    std::vector<Planned> plan;
    std::vector<std::unique_ptr<Module>> modules;
    std::array<std::size_t, 2> open{~std::size_t{0}, ~std::size_t{0}};
    std::array<unsigned, 2> sizes{};
    constexpr unsigned module_size = 400;
    std::map<std::string, std::pair<unsigned, unsigned>> counts; // emitted, left to handlers
    Inputs inputs(1);
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const bool is_wanted = only == nullptr || cases[i].name.find(only) != std::string::npos;
        if (!is_wanted || !std::ranges::count(families, cases[i].at.form.family())) {
            continue;
        }
        const bool can = ValueEmitter::can_emit(cases[i].at, Target::of("isa_" + level));
        auto& count = counts[name_of(cases[i].at.form.family())];
        ++(can ? count.first : count.second);
        if (!can) {
            if (std::getenv("CUPRUM_TEST_VALUES_LEFT") != nullptr) {
                std::printf("left: %s\n", cases[i].name.c_str());
            }
            continue;
        }
        for (const Way& way : ways_of(i, cases[i].at.form)) {
            const Target target = target_of(level, way);
            if (way.flushes &&
                (!target.is_x86 || !ValueEmitter::allows_flushing(cases[i].at, target) ||
                 !ValueEmitter::can_emit(cases[i].at, target))) {
                continue;
            }
            const std::size_t kind = way.is_optimized ? 1 : 0;
            if (open[kind] == ~std::size_t{0} || sizes[kind] == module_size) {
                open[kind] = modules.size();
                sizes[kind] = 0;
                modules.push_back(std::make_unique<Module>(level, way.is_optimized));
            }
            Planned planned{.one = &cases[i],
                            .way = way,
                            .constants = {},
                            .name = "f" + std::to_string(plan.size()),
                            .module = open[kind]};
            for (std::uint64_t& constant : planned.constants) {
                constant = inputs.constant(cases[i].numbers);
            }
            ASSERT_TRUE(modules[open[kind]]->add(cases[i], way, planned.constants, planned.name));
            ++sizes[kind];
            plan.push_back(planned);
        }
    }
    for (const auto& module : modules) {
        module->compile();
    }
    for (std::size_t i = 0; i < plan.size(); ++i) {
        const Planned& planned = plan[i];
        compare(*planned.one, planned.way, planned.constants,
                modules[planned.module]->find(planned.name), static_cast<unsigned>(i));
    }
    for (const auto& [family, count] : counts) {
        std::printf("%s: %u forms compiled, %u left to handlers\n", family.c_str(), count.first,
                    count.second);
    }
}

INSTANTIATE_TEST_SUITE_P(levels, ValuesTest, testing::Values("v2", "v3", "v4"));

} // namespace

TEST_P(ValuesTest, of_integers_have_the_bits_of_the_handlers) {
    check({Family::Move, Family::Integer, Family::Dot, Family::Carry, Family::Pack});
}

TEST_P(ValuesTest, of_bits_have_the_bits_of_the_handlers) {
    check({Family::Bits});
}

TEST_P(ValuesTest, of_floats_have_the_bits_of_the_handlers) {
    check({Family::Float});
}

TEST_P(ValuesTest, of_comparisons_have_the_bits_of_the_handlers) {
    check({Family::Compare});
}

TEST_P(ValuesTest, of_conversions_have_the_bits_of_the_handlers) {
    check({Family::Convert});
}

} // namespace cuprum::emulator::test
