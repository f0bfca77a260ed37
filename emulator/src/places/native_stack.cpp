// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "places/native_stack.hpp"

#include "places/symbol_file.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <string_view>

namespace cuprum::emulator::places {

namespace {

/// How many frames are visited: more than our own frames and the kept ones together.
constexpr std::size_t MAX_DEPTH = 64;
/// Longer names are cut: those of templates can fill pages.
constexpr std::size_t MAX_NAME = 160;

/// The beginnings of file names whose frames never belong to the user: Cuprum, the libraries that
/// carry calls from Python to it, the system and the sanitizers.
constexpr std::array<std::string_view, 17> PLUMBING{
    "libcuda.so", "libcudart.so", "libcuprum", "_cuprum.",   "_ctypes.",  "libffi",
    "libc.so",    "libc-",        "ld-linux",  "libpthread", "libstdc++", "libc++",
    "libgcc_s",   "libasan",      "libtsan",   "libubsan",   "linux-vdso"};

struct Range {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;

    [[nodiscard]] bool contains(std::uintptr_t address) const noexcept {
        return address - begin < end - begin;
    }
};

struct Walk {
    std::span<std::uintptr_t> frames;
    std::size_t count = 0;
    std::size_t depth = 0;
    Range own;
};

/// What is known about the code at an address.
struct Frame {
    std::string file; // as the loader names it; empty if it is no longer loaded
    std::string function;
    std::string text;
    std::uintptr_t module = 0; // load address of the file
};

std::mutex& names_mutex();
Range own_range();
_Unwind_Reason_Code visit(_Unwind_Context* context, void* data);
const Frame& name(std::uintptr_t address);
std::string demangle(const char* symbol);
std::uintptr_t interpreter();
bool is_plumbing(const Frame& frame);
bool is_installed(const std::string& file);

} // namespace

std::size_t capture_native(std::span<std::uintptr_t> frames) noexcept {
    static const Range own = own_range();
    Walk walk{frames, 0, 0, own};
    _Unwind_Backtrace(&visit, &walk);
    return walk.count;
}

std::vector<std::string> name_native(std::span<const std::uintptr_t> frames, std::size_t most,
                                     bool is_python) {
    const std::lock_guard lock(names_mutex());
    const std::uintptr_t python = interpreter();
    std::vector<std::string> lines;
    for (const std::uintptr_t address : frames) {
        const Frame& frame = name(address);
        if (lines.size() == most || (python != 0 && frame.module == python)) {
            break; // the frames below the interpreter only started it
        }
        if (!is_plumbing(frame) && !(is_python && is_installed(frame.file))) {
            lines.push_back(frame.text);
        }
        if (frame.function == "main" || frame.function == "__libc_start_main") {
            break;
        }
    }
    return lines;
}

std::string calling_library() {
    struct Known {
        std::string_view prefix;
        std::string_view product;
    };

    constexpr Known products[] = {{"libcublas", "cuBLAS"},
                                  {"libcudnn", "cuDNN"},
                                  {"libcufft", "cuFFT"},
                                  {"libcurand", "cuRAND"},
                                  {"libcusolver", "cuSOLVER"},
                                  {"libcusparse", "cuSPARSE"},
                                  {"libcutensor", "cuTENSOR"},
                                  {"libnccl", "NCCL"},
                                  {"libnpp", "NPP"},
                                  {"libnvjpeg", "nvJPEG"},
                                  {"libtorch", "PyTorch"},
                                  {"libc10_cuda", "PyTorch"},
                                  {"libonnxruntime", "ONNX Runtime"},
                                  {"libtensorflow", "TensorFlow"}};
    std::array<std::uintptr_t, 24> frames{};
    const std::size_t count = capture_native(frames);
    const std::lock_guard lock(names_mutex());
    const std::uintptr_t python = interpreter();
    for (const std::uintptr_t address : std::span(frames).first(count)) {
        const Frame& frame = name(address);
        if (python != 0 && frame.module == python) {
            return {};
        }
        const std::size_t slash = frame.file.rfind('/') + 1; // 0 if there is none
        const std::string base = frame.file.substr(slash);
        if (is_plumbing(frame)) {
            continue;
        }
        if (base.find(".so") == std::string::npos) {
            return {}; // the program itself
        }
        for (const Known& each : products) {
            if (base.starts_with(each.prefix)) {
                return std::string(each.product) + " (" + base + ")";
            }
        }
        constexpr std::string_view packages = "-packages/";
        const std::size_t at = frame.file.find(packages);
        if (base.starts_with("lib") || at == std::string::npos) {
            return base;
        }
        const std::string package = frame.file.substr(at + packages.size());
        return "the Python package " + package.substr(0, package.find('/'));
    }
    return {};
}

std::string calling_file() {
    std::array<std::uintptr_t, 1> frames{};
    const std::size_t count = capture_native(frames);
    const std::lock_guard lock(names_mutex());
    return count != 0 ? name(frames[0]).file : std::string();
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Returns the lock that protects the cache of name().
std::mutex& names_mutex() {
    static std::mutex mutex;
    return mutex;
}

/// Returns the memory range of this library.
Range own_range() {
    Range range;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t /*size*/, void* data) {
            Range found{~std::uintptr_t{0}, 0};
            for (int i = 0; i < info->dlpi_phnum; ++i) {
                const auto& part = info->dlpi_phdr[i];
                if (part.p_type == PT_LOAD) {
                    const std::uintptr_t begin = info->dlpi_addr + part.p_vaddr;
                    found.begin = std::min(found.begin, begin);
                    found.end = std::max(found.end, begin + part.p_memsz);
                }
            }
            if (!found.contains(reinterpret_cast<std::uintptr_t>(&own_range))) {
                return 0;
            }
            *static_cast<Range*>(data) = found;
            return 1;
        },
        &range);
    return range;
}

_Unwind_Reason_Code visit(_Unwind_Context* context, void* data) {
    auto& walk = *static_cast<Walk*>(data);
    int is_before = 0; // true for a signal frame, whose address is the next instruction to run
    const std::uintptr_t next = _Unwind_GetIPInfo(context, &is_before);
    if (next == 0 || ++walk.depth > MAX_DEPTH) {
        return _URC_END_OF_STACK;
    }
    // A return address can belong to the next line or even the next function.
    const std::uintptr_t address = is_before != 0 ? next : next - 1;
    if (walk.count != 0 || !walk.own.contains(address)) {
        walk.frames[walk.count++] = address;
    }
    return walk.count == walk.frames.size() ? _URC_END_OF_STACK : _URC_NO_REASON;
}

/// Names the code at an address. Caches the result, because leaks come from few places.
const Frame& name(std::uintptr_t address) {
    static auto* known = new std::map<std::uintptr_t, Frame>;
    const auto [entry, is_new] = known->try_emplace(address);
    Frame& frame = entry->second;
    if (!is_new) {
        return frame;
    }
    std::ostringstream out;
    Dl_info info{};
    link_map* map = nullptr;
    if (::dladdr1(reinterpret_cast<void*>(address), &info, reinterpret_cast<void**>(&map),
                  RTLD_DL_LINKMAP) == 0 ||
        info.dli_fname == nullptr || map == nullptr) {
        out << "at 0x" << std::hex << address << ", which is not loaded any more";
        frame.text = out.str();
        return frame;
    }
    frame.file = info.dli_fname;
    frame.module = reinterpret_cast<std::uintptr_t>(info.dli_fbase);
    // Addresses inside the file start at 0, except in programs that are not relocatable.
    const std::uintptr_t offset = address - map->l_addr;
    std::uintptr_t start = 0;
    if (info.dli_sname != nullptr) {
        frame.function = demangle(info.dli_sname);
        start = reinterpret_cast<std::uintptr_t>(info.dli_saddr) - map->l_addr;
    } else {
        // The loader knows only exported symbols, and programs usually export none.
        const bool is_program = map->l_name == nullptr || *map->l_name == '\0';
        const auto symbol = find_symbol(is_program ? "/proc/self/exe" : info.dli_fname, offset);
        if (!symbol.name.empty()) {
            frame.function = demangle(symbol.name.c_str());
            start = symbol.start;
        }
    }
    out << std::hex;
    if (frame.function.empty()) {
        out << "at " << frame.file << "+0x" << offset;
    } else {
        out << "in " << frame.function << "+0x" << offset - start << " (" << frame.file << "+0x"
            << offset << ")";
    }
    frame.text = out.str();
    return frame;
}

std::string demangle(const char* symbol) {
    int status = 0;
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
    std::string text = status == 0 ? name.get() : symbol;
    if (text.size() > MAX_NAME) {
        text.replace(MAX_NAME, std::string::npos, "...");
    }
    return text;
}

/// Returns the load address of the Python interpreter, or 0 if the process has none.
std::uintptr_t interpreter() {
    Dl_info info{};
    void* const symbol = ::dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    return symbol != nullptr && ::dladdr(symbol, &info) != 0
               ? reinterpret_cast<std::uintptr_t>(info.dli_fbase)
               : 0;
}

bool is_plumbing(const Frame& frame) {
    const std::string_view file = std::string_view(frame.file).substr(frame.file.rfind('/') + 1);
    // The core may be linked into the program itself, and so are templates of the standard library.
    // The name of a template is preceded by its return type.
    std::string_view function = frame.function;
    function = function.substr(0, function.find_first_of("(<"));
    function = function.substr(function.rfind(' ') + 1);
    return std::ranges::any_of(PLUMBING, [&](auto start) { return file.starts_with(start); }) ||
           function.starts_with("cuprum::") || function.starts_with("std::") ||
           function == "_start";
}

bool is_installed(const std::string& file) {
    return file.find("/site-packages/") != std::string::npos ||
           file.find("/dist-packages/") != std::string::npos;
}

} // namespace

} // namespace cuprum::emulator::places
