// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// libFuzzer entry for modules that a grammar writes: the driver loads or links them, and each
// kernel runs for a few quanta. Run by tools/fuzz.
//
// Kernels run on this thread, without the engine: a loop without end then costs a bounded number of
// steps and not the seconds of a watchdog.
//
// CUPRUM_EMULATOR_JIT=always runs compiled code, if the plug-in lies beside this program.
//
// CUPRUM_FUZZ_PRINT=1 writes the modules to standard error, to see what an input stands for.

#include "api/handles.hpp"
#include "exec/block.hpp"
#include "fuzz/ptx_grammar.hpp"
#include "jit/tiers.hpp"
#include "objects/code/child_launches.hpp"
#include "objects/devices/context.hpp"
#include "objects/memory/address_space.hpp"
#include "passes/compile.hpp"
#include "ptx/parser.hpp"

#include <cuda.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

using namespace cuprum::emulator;

namespace {

using Bytes = std::span<const std::uint8_t>;

constexpr std::size_t BUFFER_BYTES = 1 << 14;
constexpr std::uint32_t DYNAMIC_SHARED_BYTES = 1024;
constexpr std::uint32_t MAX_SHARED_BYTES = 200 << 10;
constexpr std::uint32_t MAX_LOCAL_BYTES = 64 << 10;
constexpr std::uint32_t STACK_BYTES = 4096;
constexpr int MAX_QUANTA = 4;

void expect_success(CUresult status) {
    if (status != CUDA_SUCCESS) {
        std::fprintf(stderr, "[fuzz] the driver fails with %d\n", status);
        std::abort();
    }
}

/// What all modules share: a context, and memory that kernels may use.
struct Environment {
    CUcontext context = nullptr;
    CUdeviceptr buffer = 0;
    bool prints = std::getenv("CUPRUM_FUZZ_PRINT") != nullptr;

    Environment() {
        ::setenv("CUPRUM_EMULATOR_COMPUTE_CAPABILITY", "12.0", 1);
        ::setenv("CUPRUM_EMULATOR_MEMORY", "64M", 1);
        ::setenv("CUPRUM_EMULATOR_WORKERS", "1", 1);
        ::setenv("CUPRUM_EMULATOR_LOG", "off", 0);
        if (std::freopen("/dev/null", "w", stdout) == nullptr) { // what kernels print
            std::abort();
        }
        expect_success(cuInit(0));
        const char* const wanted = std::getenv("CUPRUM_EMULATOR_JIT");
        if (wanted != nullptr && std::string_view(wanted) == "always" && !jit::problem().empty()) {
            std::fprintf(stderr, "[fuzz] kernels are not compiled: %s\n", jit::problem().c_str());
            std::abort();
        }
        expect_success(cuDevicePrimaryCtxRetain(&context, 0));
        expect_success(cuCtxSetCurrent(context));
        expect_success(cuMemAlloc_v2(&buffer, BUFFER_BYTES));
    }
};

const Environment& environment() {
    static const Environment instance;
    return instance;
}

test::WrittenModule written(Bytes bytes, std::string_view suffix) {
    test::WrittenModule module = test::PTXGrammar(bytes).module(suffix);
    if (environment().prints) {
        std::fprintf(stderr, "%s\n", module.text.c_str());
    }
    return module;
}

/// Ends the program with a finding.
[[noreturn]] void give_up(const char* what, const std::string& text) {
    std::fprintf(stderr, "[fuzz] %s\n%s", what, text.c_str());
    std::abort();
}

/// The time that this thread has computed.
double processor_seconds() {
    timespec now{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Compiles a module without the driver. Returns the processor time that this takes.
double compile(const std::string& text, std::uint32_t bank_bytes,
               std::vector<std::shared_ptr<const bytecode::Kernel>>& kernels) {
    const double begin = processor_seconds();
    ptx::Diagnostics diagnostics;
    if (const auto module = ptx::parse(text, diagnostics)) {
        constexpr std::uint64_t MEMORY_BYTES = 64 << 20;
        passes::CompileOptions options;
        options.memory = &AddressSpace::instance().map();
        options.device_sm = 120;
        options.bank_bytes = bank_bytes;
        for (const auto& variable : passes::global_variables(*module, MEMORY_BYTES, diagnostics)) {
            options.symbols.insert(variable.name);
        }
        kernels = passes::compile(*module, options, diagnostics);
    }
    return processor_seconds() - begin;
}

/// Checks that no kernel has a bank that is larger than what its operands can address. The limit
/// is lowered to what a small module reaches.
void check_banks(const std::string& text) {
    for (const std::uint32_t bank_bytes : {2048u, 16384u}) {
        std::vector<std::shared_ptr<const bytecode::Kernel>> kernels;
        (void)compile(text, bank_bytes, kernels);
        for (const auto& kernel : kernels) {
            if (std::max({kernel->frame_bytes, kernel->constant_bytes, kernel->launch_bytes,
                          kernel->block_bytes}) > bank_bytes) {
                give_up("a kernel has a larger bank than its operands can address", text);
            }
        }
    }
}

/// Checks that eight times the length takes no more than 24 times the time.
void check_scaling(Bytes bytes, const std::string& text) {
    constexpr std::size_t SCALE = 8;
    constexpr double MOST = 24;
    constexpr double LEAST_SECONDS = 0.25; // less says nothing
    const std::string longer = test::PTXGrammar(bytes, SCALE).module().text;
    const std::uint32_t bank_bytes = passes::CompileOptions{}.bank_bytes;
    double least_short = 1e9;
    double least_long = 1e9;
    for (int take = 0; take < 3; ++take) {
        std::vector<std::shared_ptr<const bytecode::Kernel>> kernels;
        least_short = std::min(least_short, compile(text, bank_bytes, kernels));
        least_long = std::min(least_long, compile(longer, bank_bytes, kernels));
        if (least_long < LEAST_SECONDS || least_long < MOST * least_short) {
            return;
        }
    }
    std::fprintf(stderr, "[fuzz] %.3f s for the module, %.3f s for one eight times as long\n",
                 least_short, least_long);
    give_up("loading takes more than linear time", text);
}

/// Links two modules and loads the result. Returns nullptr if either is refused.
CUmodule load_linked(Bytes bytes) {
    const std::string texts[] = {written(bytes.first(bytes.size() / 2), "").text,
                                 written(bytes.subspan(bytes.size() / 2), "x").text};
    CUlinkState state = nullptr;
    expect_success(cuLinkCreate_v2(0, nullptr, nullptr, &state));
    void* image = nullptr;
    std::size_t size = 0;
    bool is_good = true;
    for (const std::string& text : texts) {
        is_good = is_good &&
                  cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, const_cast<char*>(text.c_str()),
                                   text.size() + 1, "part", 0, nullptr, nullptr) == CUDA_SUCCESS;
    }
    is_good = is_good && cuLinkComplete(state, &image, &size) == CUDA_SUCCESS;
    CUmodule module = nullptr;
    if (is_good) {
        // What links also loads, unless the variables do not fit.
        const CUresult status = cuModuleLoadData(&module, image);
        if (status != CUDA_ERROR_OUT_OF_MEMORY) {
            expect_success(status);
        }
    }
    expect_success(cuLinkDestroy(state));
    return module;
}

CUmodule load(Bytes bytes, bool& faults) {
    const test::WrittenModule what = written(bytes, "");
    const std::string& text = what.text;
    faults = what.faults;
    if (what.is_repetitive) {
        check_scaling(bytes, text);
    } else if (!bytes.empty() && bytes.back() % 16 == 0) {
        check_banks(text);
    }
    char log[1024] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
    CUmodule module = nullptr;
    const CUresult status = cuModuleLoadDataEx(&module, text.c_str(), 2, options, values);
    const bool is_expected = status == CUDA_SUCCESS || status == CUDA_ERROR_INVALID_PTX ||
                             status == CUDA_ERROR_NOT_SUPPORTED ||
                             status == CUDA_ERROR_OUT_OF_MEMORY ||
                             status == CUDA_ERROR_INVALID_IMAGE;
    // A refusal comes with a reason in the log. Only an allocation fails without one.
    const bool is_explained =
        status == CUDA_SUCCESS || status == CUDA_ERROR_OUT_OF_MEMORY || log[0] != '\0';
    if (!is_expected || !is_explained) {
        std::fprintf(stderr, "[fuzz] loading gives %d and the log '%s'\n%s", status, log,
                     text.c_str());
        std::abort();
    }
    if (environment().prints) {
        std::fprintf(stderr, "[fuzz] loading gives %d\n%s", status, log);
    }
    if (what.is_refused && status == CUDA_SUCCESS) {
        give_up("a module loads with an instruction that does not exist", text);
    }
    if ((what.faults || what.is_repetitive) && status != CUDA_SUCCESS &&
        status != CUDA_ERROR_OUT_OF_MEMORY) {
        give_up(log, text);
    }
    return module;
}

bool fits(const bytecode::Kernel& kernel) {
    return kernel.static_shared_bytes + kernel.hidden_shared_bytes <= MAX_SHARED_BYTES &&
           kernel.local_bytes <= MAX_LOCAL_BYTES;
}

/// Runs one block of 32 threads for some quanta, then its fills and copies. What it launches does
/// not run. Returns false if the kernel would not be launched, or has ended without a fault.
bool run(const Function& function) {
    const std::shared_ptr<const bytecode::Kernel>& kernel = function.kernel();
    if (!fits(*kernel)) {
        return false; // a launch would be refused, or take long only to clear memory
    }
    constexpr unsigned FORMAT = 0x00642531; // "1%d", for kernels that call vprintf
    expect_success(cuMemsetD32_v2(environment().buffer, FORMAT, BUFFER_BYTES / sizeof FORMAT));
    exec::GridLaunch launch;
    launch.kernel = kernel;
    launch.block[0] = 32;
    launch.dynamic_shared_bytes = DYNAMIC_SHARED_BYTES;
    launch.memory = &AddressSpace::instance().map();
    launch.stack_bytes = STACK_BYTES;
    launch.grid_workspace = environment().buffer;
    const auto children = std::make_shared<ChildLaunches>(function.module());
    if (kernel->uses_heap) {
        launch.heap = current_context()->heap();
        launch.children = children;
        enable_child_launches();
    }
    launch.parameters.resize(kernel->parameter_bytes);
    for (const bytecode::Parameter& parameter : kernel->parameters) {
        std::memcpy(launch.parameters.data() + parameter.offset, &environment().buffer,
                    std::min<std::size_t>(sizeof(CUdeviceptr), parameter.size_bytes));
    }
    const auto grid = std::make_shared<exec::Grid>(std::move(launch), [](const Fault*) {});
    const exec::ClusterRange range = grid->take(1, 1);
    if (range.size() != 1) {
        std::abort();
    }
    exec::Block block;
    PendingReductions reductions;
    block.start(grid, grid->cluster_at(range.next), 0, reductions);
    bool has_faulted = false;
    for (int quantum = 0; quantum < MAX_QUANTA; ++quantum) {
        const exec::Block::Outcome outcome = block.run();
        if (outcome == exec::Block::Outcome::Faulted) {
            if (block.fault().report.empty()) {
                std::abort(); // every fault says what happened
            }
            block.fault() = Fault{};
            has_faulted = true;
        }
        if (outcome != exec::Block::Outcome::Yielded) {
            break;
        }
    }
    apply_reductions(reductions);
    block.release();
    for (const ChildLaunches::Work& work : children->take().first) {
        if (const auto* const transfer = std::get_if<std::function<void()>>(&work)) {
            (*transfer)();
        }
    }
    return has_faulted;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    (void)environment();
    constexpr std::uint8_t LINKED = 7; // one module in eight
    const Bytes bytes(data, size);
    const bool is_linked = !bytes.empty() && bytes[0] % 8 == LINKED;
    const Bytes rest = bytes.subspan(bytes.empty() ? 0 : 1);
    bool faults = false;
    const CUmodule module = is_linked ? load_linked(rest) : load(rest, faults);
    if (module == nullptr) {
        return 0;
    }
    unsigned count = 0;
    expect_success(cuModuleGetFunctionCount(&count, module));
    std::vector<CUfunction> functions(count);
    expect_success(cuModuleEnumerateFunctions(functions.data(), count, module));
    for (const CUfunction function : functions) {
        const Function& kernel = *object_of(function);
        const bool has_faulted = run(kernel);
        if (faults && !has_faulted && fits(*kernel.kernel()) &&
            kernel.kernel()->name == test::OUTSIDE_KERNEL) {
            give_up("an access outside of shared memory does not fault",
                    test::PTXGrammar(rest).module().text);
        }
    }
    expect_success(cuModuleUnload(module));
    return 0;
}

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

/// Half of the inputs are new, since a grammar needs no good input to start from.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
    constexpr std::size_t MAX_NEW_BYTES = 700;
    if (seed % 2 == 0 && size != 0) {
        return LLVMFuzzerMutate(data, size, max_size);
    }
    std::minstd_rand random(seed);
    const std::size_t length = 1 + random() % std::min(MAX_NEW_BYTES, max_size);
    std::generate_n(data, length, [&] { return static_cast<std::uint8_t>(random() >> 8); });
    return length;
}
