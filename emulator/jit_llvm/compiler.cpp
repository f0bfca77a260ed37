// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// The plug-in: from a kernel to an object, and from an object to code.

#include "jit_llvm/kernel_emitter.hpp"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LoopAnalysisManager.h>
#include <llvm/ExecutionEngine/RTDyldMemoryManager.h>
#include <llvm/ExecutionEngine/RuntimeDyld.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/IR/Verifier.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Object/ObjectFile.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SHA256.h>
#include <llvm/Support/SmallVectorMemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/TargetParser/Host.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>
#include <llvm/Transforms/Scalar/DeadStoreElimination.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/GVN.h>
#include <llvm/Transforms/Scalar/LICM.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string_view>
#include <sys/mman.h>

namespace cuprum::emulator::jit {

namespace {

constexpr const char* FUNCTION_NAME = "cuprum_gang";

/// Kernels with more instructions than this stay interpreted, and those for which more instructions
/// of LLVM are emitted: compiling takes too long. Every entry and every stop of compiled code emits
/// some for each live value, so kernels with many barriers can reach the second limit first.
constexpr std::size_t MAX_INSTRUCTIONS = 8000;
constexpr std::size_t MAX_EMITTED = 100'000;

void initialize() {
    static std::once_flag once;
    std::call_once(once, [] {
        llvm::InitializeNativeTarget();
        llvm::InitializeNativeTargetAsmPrinter();
        llvm::InitializeNativeTargetAsmParser(); // for the call in KernelEmitter::call_access()
    });
}

std::string processor_of(std::string_view level) {
    if (level == "isa_v4") {
        return "x86-64-v4";
    }
    if (level == "isa_v3") {
        return "x86-64-v3";
    }
    return level == "isa_v2" ? "x86-64-v2" : "generic";
}

std::unique_ptr<llvm::TargetMachine> machine_for(std::string_view level, std::string& problem) {
    const std::string triple = llvm::sys::getProcessTriple();
    const llvm::Target* const target = llvm::TargetRegistry::lookupTarget(triple, problem);
    if (target == nullptr) {
        return nullptr;
    }
    llvm::TargetOptions options;
    options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
    const std::string features = level == "isa_v4" ? "-prefer-256-bit" : "";
    return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
        triple, processor_of(level), features, options, llvm::Reloc::PIC_, llvm::CodeModel::Small,
        llvm::CodeGenOptLevel::Default));
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
    llvm::LoopAnalysisManager loops;
    llvm::FunctionAnalysisManager functions;
    llvm::CGSCCAnalysisManager components;
    llvm::ModuleAnalysisManager modules;
    llvm::PassBuilder builder(&machine);
    builder.registerModuleAnalyses(modules);
    builder.registerCGSCCAnalyses(components);
    builder.registerFunctionAnalyses(functions);
    builder.registerLoopAnalyses(loops);
    builder.crossRegisterProxies(loops, functions, components, modules);
    llvm::FunctionPassManager passes;
    passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
    passes.addPass(llvm::EarlyCSEPass(true));
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SimplifyCFGPass());
    passes.addPass(llvm::createFunctionToLoopPassAdaptor(llvm::LICMPass(llvm::LICMOptions()),
                                                         /*UseMemorySSA=*/true));
    passes.addPass(llvm::GVNPass());
    passes.addPass(llvm::InstCombinePass());
    passes.addPass(llvm::SimplifyCFGPass());
    for (llvm::Function& function : module) {
        if (!function.isDeclaration()) {
            passes.run(function, functions);
        }
    }
}

/// Hides from LLVM's selection of instructions which masks a condition was joined from. With
/// AVX-512, LLVM 19 may join and split nested selections by such conditions forever.
void hide_joined_masks(llvm::Function& function) {
    using namespace llvm::PatternMatch;
    const auto is_condition = [](const llvm::Value* value) {
        return llvm::any_of(value->users(), [&](const llvm::User* user) {
            const auto* const select = llvm::dyn_cast<llvm::SelectInst>(user);
            return select != nullptr && select->getCondition() == value &&
                   !select->getType()->isIntOrIntVectorTy(1);
        });
    };
    std::vector<llvm::Instruction*> joined;
    for (llvm::Instruction& each : llvm::instructions(function)) {
        llvm::Value* left = nullptr;
        llvm::Value* right = nullptr;
        if (each.getType()->isVectorTy() &&
            (joined.empty() || joined.front()->getType() == each.getType()) &&
            match(&each, m_LogicalOr(m_Value(left), m_Value(right))) && is_condition(&each) &&
            (is_condition(left) || is_condition(right))) {
            joined.push_back(&each);
        }
    }
    if (joined.empty()) {
        return;
    }
    llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstInsertionPt());
    auto* const type = builder.getIntNTy(
        llvm::cast<llvm::FixedVectorType>(joined.front()->getType())->getNumElements());
    llvm::AllocaInst* const place = builder.CreateAlloca(type);
    for (llvm::Instruction* const each : joined) {
        builder.SetInsertPoint(each->getNextNode());
        auto* const word = llvm::cast<llvm::Instruction>(builder.CreateBitCast(each, type));
        builder.CreateStore(word, place, /*isVolatile=*/true);
        llvm::Value* const hidden = builder.CreateBitCast(
            builder.CreateLoad(type, place, /*isVolatile=*/true), each->getType());
        each->replaceUsesWithIf(hidden,
                                [&](const llvm::Use& use) { return use.getUser() != word; });
    }
}

std::string compile_now(const Request& request, Object& object) {
    initialize();
    const bytecode::Kernel& kernel = *request.kernel;
    if (kernel.code.size() > MAX_INSTRUCTIONS) {
        return "it has more than " + std::to_string(MAX_INSTRUCTIONS) + " instructions";
    }
    if (!kernel.functions.empty()) {
        return "it calls functions that are not inlined";
    }
    Graph graph;
    if (std::string problem = build(kernel, request.shape, graph); !problem.empty()) {
        return problem;
    }
    std::string problem;
    const auto machine = machine_for(request.level, problem);
    if (machine == nullptr) {
        return problem;
    }
    llvm::LLVMContext context;
    llvm::Module module("kernel", context);
    module.setTargetTriple(machine->getTargetTriple().str());
    module.setDataLayout(machine->createDataLayout());
    Target target = Target::of(request.level);
    target.flushes = ValueEmitter::can_flush(kernel, target);
    KernelEmitter emitter(graph, target, module);
    emitter.run(FUNCTION_NAME);
    llvm::Function& function = *module.getFunction(FUNCTION_NAME);
    if (function.getInstructionCount() > MAX_EMITTED) {
        return "compiling it would take too long";
    }
    function.addFnAttr("target-cpu", machine->getTargetCPU());
    function.addFnAttr("target-features", machine->getTargetFeatureString());
    if (std::string_view(request.level) == "isa_v4") {
        function.addFnAttr("prefer-vector-width", "512");
        function.addFnAttr("min-legal-vector-width", "512");
    }
    function.addFnAttr(llvm::Attribute::NoRedZone); // run_access_preserving() is no call to LLVM
    if (target.flushes) {
        function.addFnAttr("denormal-fp-math", "preserve-sign,preserve-sign");
    }
    std::string report;
    llvm::raw_string_ostream stream(report);
    if (llvm::verifyModule(module, &stream)) {
        return "the emitted code is wrong, please report this: " + report;
    }
    optimize(module, *machine);
    if (std::string_view(request.level) == "isa_v4") {
        hide_joined_masks(function);
    }
    llvm::SmallVector<char, 0> bytes;
    llvm::raw_svector_ostream out(bytes);
    llvm::legacy::PassManager emission;
    if (machine->addPassesToEmitFile(emission, out, nullptr, llvm::CodeGenFileType::ObjectFile)) {
        return "this processor is not supported";
    }
    emission.run(module);
    object.code.resize(bytes.size());
    std::memcpy(object.code.data(), bytes.data(), bytes.size());
    object.entries = emitter.take_entries();
    object.lanes = request.shape.lanes;
    object.site_count = emitter.site_count();
    object.accesses = emitter.take_accesses();
    object.flushes = target.flushes;
    return {};
}

std::string compile(const Request& request, Object& object) {
    if (request.use == nullptr) {
        return compile_now(request, object);
    }
    request.use->store(CompilerUse::Inside);
    std::string problem = compile_now(request, object);
    auto inside = CompilerUse::Inside;
    if (!request.use->compare_exchange_strong(inside, CompilerUse::Outside)) {
        for (;;) { // the emulated device, which called this, may be gone
            ::pause();
        }
    }
    return problem;
}

/// Finds the few functions that compiled code may call: those that compilers call by themselves.
class Symbols final : public llvm::LegacyJITSymbolResolver {
public:
    llvm::JITSymbol findSymbolInLogicalDylib(const std::string& /*name*/) override {
        return nullptr;
    }

    llvm::JITSymbol findSymbol(const std::string& name) override {
        const void* address = nullptr;
        if (name == "memcpy") {
            address = reinterpret_cast<const void*>(&std::memcpy);
        } else if (name == "memset") {
            address = reinterpret_cast<const void*>(&std::memset);
        } else if (name == "memmove") {
            address = reinterpret_cast<const void*>(&std::memmove);
        }
        if (address == nullptr) {
            return nullptr;
        }
        return {reinterpret_cast<llvm::JITTargetAddress>(address), llvm::JITSymbolFlags::Exported};
    }
};

/// Memory of one object, all of it in one piece: code reaches its constants by 32-bit distances.
/// Never writable and executable at the same time.
class ObjectMemory final : public llvm::RTDyldMemoryManager {
public:
    ObjectMemory() = default;
    ObjectMemory(const ObjectMemory&) = delete;
    ObjectMemory& operator=(const ObjectMemory&) = delete;

    ~ObjectMemory() override {
        if (base_ != nullptr) {
            ::munmap(base_, code_bytes_ + read_only_bytes_ + data_bytes_);
        }
    }

    bool needsToReserveAllocationSpace() override { return true; }

    void reserveAllocationSpace(std::uintptr_t code, llvm::Align /*code_alignment*/,
                                std::uintptr_t read_only, llvm::Align /*read_only_alignment*/,
                                std::uintptr_t data, llvm::Align /*data_alignment*/) override {
        code_bytes_ = rounded(code);
        read_only_bytes_ = rounded(read_only);
        data_bytes_ = rounded(data);
        void* const memory = ::mmap(nullptr, code_bytes_ + read_only_bytes_ + data_bytes_,
                                    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) {
            return; // allocate() finds no room
        }
        base_ = static_cast<std::uint8_t*>(memory);
        next_code_ = base_;
        next_read_only_ = base_ + code_bytes_;
        next_data_ = next_read_only_ + read_only_bytes_;
    }

    std::uint8_t* allocateCodeSection(std::uintptr_t bytes, unsigned alignment, unsigned /*id*/,
                                      llvm::StringRef /*name*/) override {
        return allocate(next_code_, base_ + code_bytes_, bytes, alignment);
    }

    std::uint8_t* allocateDataSection(std::uintptr_t bytes, unsigned alignment, unsigned /*id*/,
                                      llvm::StringRef /*name*/, bool is_read_only) override {
        std::uint8_t* const end = base_ + code_bytes_ + read_only_bytes_;
        return is_read_only ? allocate(next_read_only_, end, bytes, alignment)
                            : allocate(next_data_, end + data_bytes_, bytes, alignment);
    }

    void registerEHFrames(std::uint8_t* /*place*/, std::uint64_t /*load_place*/,
                          std::size_t /*bytes*/) override {}

    void deregisterEHFrames() override {}

    /// Returns whether the system refuses.
    bool finalizeMemory(std::string* problem) override {
        if (base_ == nullptr || ::mprotect(base_, code_bytes_, PROT_READ | PROT_EXEC) != 0 ||
            (read_only_bytes_ != 0 &&
             ::mprotect(base_ + code_bytes_, read_only_bytes_, PROT_READ) != 0)) {
            *problem = "the system gives no executable memory";
            return true;
        }
        return false;
    }

private:
    static constexpr std::uintptr_t PAGE = 4096;
    // What the alignment of sections may take.
    static constexpr std::uintptr_t SLACK = 1024;

    static std::uintptr_t rounded(std::uintptr_t bytes) {
        return bytes == 0 ? 0 : (bytes + SLACK + PAGE - 1) / PAGE * PAGE;
    }

    static std::uint8_t* allocate(std::uint8_t*& next, const std::uint8_t* end,
                                  std::uintptr_t bytes, unsigned alignment) {
        const std::uintptr_t mask = std::max(alignment, 1u) - 1;
        auto* const place = reinterpret_cast<std::uint8_t*>(
            (reinterpret_cast<std::uintptr_t>(next) + mask) & ~mask);
        if (next == nullptr || place > end || bytes > static_cast<std::uintptr_t>(end - place)) {
            return nullptr;
        }
        next = place + bytes;
        return place;
    }

    std::uint8_t* base_ = nullptr;
    std::uintptr_t code_bytes_ = 0;
    std::uintptr_t read_only_bytes_ = 0;
    std::uintptr_t data_bytes_ = 0;
    std::uint8_t* next_code_ = nullptr;
    std::uint8_t* next_read_only_ = nullptr;
    std::uint8_t* next_data_ = nullptr;
};

class LoadedCode final : public Code {
public:
    [[nodiscard]] GangFunction function() const noexcept override { return function_; }

    /// Links an object. Returns why it cannot, or an empty string.
    std::string link(const Object& object) {
        const llvm::StringRef bytes(reinterpret_cast<const char*>(object.code.data()),
                                    object.code.size());
        auto file =
            llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(bytes, "kernel"));
        if (!file) {
            return llvm::toString(file.takeError());
        }
        llvm::RuntimeDyld linker(memory_, symbols_);
        linker.loadObject(**file);
        if (linker.hasError()) {
            return linker.getErrorString().str();
        }
        linker.resolveRelocations();
        if (linker.hasError()) {
            return linker.getErrorString().str();
        }
        std::string problem;
        if (memory_.finalizeMemory(&problem)) {
            return problem.empty() ? "there is no executable memory" : problem;
        }
        function_ = reinterpret_cast<GangFunction>(linker.getSymbol(FUNCTION_NAME).getAddress());
        return function_ == nullptr ? "it has no function" : "";
    }

private:
    ObjectMemory memory_;
    Symbols symbols_;
    GangFunction function_ = nullptr;
};

std::unique_ptr<Code> load(const Object& object, std::string& problem) {
    initialize();
    auto code = std::make_unique<LoadedCode>();
    problem = code->link(object);
    return problem.empty() ? std::move(code) : nullptr;
}

Digest digest(std::string_view bytes) {
    return llvm::SHA256::hash(
        llvm::ArrayRef(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
}

constexpr Plugin PLUGIN{
    .layout = PLUGIN_LAYOUT, .compile = compile, .load = load, .digest = digest};

} // namespace

} // namespace cuprum::emulator::jit

/// Takes the place of the C library's function in this plug-in: no object of LLVM is destroyed when
/// the process exits, because a thread may still compile.
extern "C" [[gnu::visibility("hidden")]] int __cxa_atexit(void (* /*function*/)(void*),
                                                          void* /*argument*/, void* /*library*/) {
    return 0;
}

extern "C" [[gnu::visibility("default")]] const cuprum::emulator::jit::Plugin* cuprum_jit_plugin() {
    return &cuprum::emulator::jit::PLUGIN;
}
