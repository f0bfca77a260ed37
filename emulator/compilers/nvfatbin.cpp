// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A stand-in for NVIDIA's libnvfatbin.so.12 and .13, which puts code into fatbins. NVIDIA's library
// does the work. It takes machine code in ELF files only, but the stand-ins for compilers return
// fatbins with PTX instead; this library adds the PTX of such a fatbin.

#include "compilers/emulated_driver.hpp"
#include "compilers/real_library.hpp"
#include "image/formats.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

using namespace cuprum::emulator;
using namespace cuprum::emulator::compilers;

namespace {

using Handle = void*;

enum Result : int {
    INTERNAL_ERROR = 1,
    ELF_ARCH_MISMATCH = 2,
    ELF_SIZE_MISMATCH = 3,
};

constexpr std::size_t CONTENT_BYTES_OFFSET = 8; // in the header of a fatbin

/// The PTX in a fatbin of a stand-in, which has one entry.
struct Wrapped {
    unsigned sm = 0;
    std::string ptx;
};

void* real_nvfatbin() {
    try {
        static void* const library = load_real(nvfatbin_places(CUPRUM_NVFATBIN_MAJOR));
        return library;
    } catch (const CompileError& error) {
        static std::once_flag once;
        std::call_once(once, [&] { std::cerr << "cuprum: " << error.what() << '\n'; });
        return nullptr;
    }
}

template <typename... Arguments>
int call(const char* name, Arguments... arguments) {
    void* const library = real_nvfatbin();
    void* const function = library != nullptr ? ::dlsym(library, name) : nullptr;
    return function != nullptr ? reinterpret_cast<int (*)(Arguments...)>(function)(arguments...)
                               : INTERNAL_ERROR;
}

bool is_fatbin(Bytes code) {
    return code.size() >= FATBIN_HEADER_BYTES &&
           std::string_view(reinterpret_cast<const char*>(code.data()), FATBIN_MAGIC.size()) ==
               FATBIN_MAGIC;
}

/// Returns what `make_fatbin` wrote, or nothing if `code` is cut off or has other contents.
std::optional<Wrapped> unwrap(Bytes code) {
    constexpr std::size_t entry = FATBIN_HEADER_BYTES;
    constexpr std::size_t fixed_bytes = 32;
    constexpr std::uint16_t ptx_kind = 1;
    if (code.size() < entry + fixed_bytes || load<std::uint16_t>(code, entry) != ptx_kind) {
        return std::nullopt;
    }
    const std::size_t begin = entry + load<std::uint32_t>(code, entry + 4);
    const auto bytes = load<std::uint64_t>(code, entry + 8);
    const bool is_compressed = load<std::uint32_t>(code, entry + 16) != 0;
    if (is_compressed || begin > code.size() || bytes > code.size() - begin) {
        return std::nullopt;
    }
    if (begin + bytes != entry + load<std::uint64_t>(code, CONTENT_BYTES_OFFSET)) {
        return std::nullopt; // more entries follow
    }
    const char* const text = reinterpret_cast<const char*>(code.data()) + begin;
    const std::string_view padded(text, bytes);
    return Wrapped{load<std::uint32_t>(code, entry + 28),
                   std::string(padded.substr(0, padded.find('\0')))};
}

int add_cubin(Handle handle, const void* code, std::size_t size, const char* architecture,
              const char* identifier) {
    const Bytes bytes(static_cast<const unsigned char*>(code), code != nullptr ? size : 0);
    if (!is_fatbin(bytes) || architecture == nullptr) {
        return call("nvFatbinAddCubin", handle, code, size, architecture, identifier);
    }
    const std::optional<Wrapped> wrapped = unwrap(bytes);
    if (!wrapped) {
        return ELF_SIZE_MISMATCH;
    }
    if (parse_architecture(std::string("sm_") + architecture) != wrapped->sm) {
        return ELF_ARCH_MISMATCH;
    }
    // NVIDIA's library wants the terminating zero as part of the text.
    return call("nvFatbinAddPTX", handle, wrapped->ptx.c_str(), wrapped->ptx.size() + 1,
                architecture, identifier, "");
}

/// Runs a function's body. An exception, such as for lack of memory, is an internal error.
template <typename Body>
int without_exceptions(Body&& body) noexcept {
    try {
        return body();
    } catch (...) {
        return INTERNAL_ERROR;
    }
}

} // namespace

#define CUPRUM_EXPORT extern "C" __attribute__((visibility("default")))
// NOLINTNEXTLINE(cppcoreguidelines-macro-usage): the name of the function is needed as text.
#define CUPRUM_FORWARD(name, parameters, ...)                                                      \
    CUPRUM_EXPORT int name parameters {                                                            \
        return without_exceptions([&] { return call(#name, __VA_ARGS__); });                       \
    }

CUPRUM_EXPORT int nvFatbinAddCubin(Handle handle, const void* code, std::size_t size,
                                   const char* architecture, const char* identifier) {
    return without_exceptions(
        [&] { return add_cubin(handle, code, size, architecture, identifier); });
}

CUPRUM_EXPORT const char* nvFatbinGetErrorString(int result) {
    void* const library = real_nvfatbin();
    void* const function =
        library != nullptr ? ::dlsym(library, "nvFatbinGetErrorString") : nullptr;
    return function != nullptr ? reinterpret_cast<const char* (*)(int)>(function)(result)
                               : "nvFatbin was not found";
}

CUPRUM_FORWARD(nvFatbinCreate, (Handle * handle, const char** options, std::size_t count), handle,
               options, count)
CUPRUM_FORWARD(nvFatbinDestroy, (Handle * handle), handle)
CUPRUM_FORWARD(nvFatbinAddPTX,
               (Handle handle, const char* code, std::size_t size, const char* architecture,
                const char* identifier, const char* options),
               handle, code, size, architecture, identifier, options)
CUPRUM_FORWARD(nvFatbinAddLTOIR,
               (Handle handle, const void* code, std::size_t size, const char* architecture,
                const char* identifier, const char* options),
               handle, code, size, architecture, identifier, options)
CUPRUM_FORWARD(nvFatbinAddIndex,
               (Handle handle, const void* code, std::size_t size, const char* identifier), handle,
               code, size, identifier)
CUPRUM_FORWARD(nvFatbinAddReloc, (Handle handle, const void* code, std::size_t size), handle, code,
               size)
CUPRUM_FORWARD(nvFatbinAddTileIR,
               (Handle handle, const void* code, std::size_t size, const char* identifier,
                const char* options),
               handle, code, size, identifier, options)
CUPRUM_FORWARD(nvFatbinSize, (Handle handle, std::size_t* size), handle, size)
CUPRUM_FORWARD(nvFatbinGet, (Handle handle, void* buffer), handle, buffer)
CUPRUM_FORWARD(nvFatbinVersion, (unsigned int* major, unsigned int* minor), major, minor)
