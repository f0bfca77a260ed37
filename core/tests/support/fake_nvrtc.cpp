// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "support/fake_nvrtc.hpp"

#include <cstring>
#include <stdexcept>
#include <utility>

namespace cuprum::testing {

namespace {

FakeNvrtc* fake = nullptr;

constexpr char PTX[] = ".version 9.0\n.target sm_90\n";
constexpr char CUBIN[] = "a cubin";
constexpr char LTOIR[] = "LTO-IR";

nvrtcResult answer(const char* function) {
    return fake->failing_function == function ? fake->failure : NVRTC_SUCCESS;
}

nvrtcResult answer_size(const char* function, std::size_t size, std::size_t* returned) {
    *returned = size;
    return answer(function);
}

nvrtcResult answer_bytes(const char* function, const void* bytes, std::size_t size,
                         char* returned) {
    std::memcpy(returned, bytes, size);
    return answer(function);
}

} // namespace

FakeNvrtc::FakeNvrtc() {
    if (fake != nullptr) {
        throw std::logic_error("there is a fake compiler already");
    }
    fake = this;
    table_.nvrtcGetErrorString = [](nvrtcResult status) -> const char* {
        return status == NVRTC_SUCCESS ? "NVRTC_SUCCESS" : "NVRTC_ERROR_FAKE";
    };
    table_.nvrtcVersion = [](int* major, int* minor) {
        *major = 13;
        *minor = 0;
        return answer("nvrtcVersion");
    };
    table_.nvrtcGetNumSupportedArchs = [](int* count) {
        *count = 2;
        return answer("nvrtcGetNumSupportedArchs");
    };
    table_.nvrtcGetSupportedArchs = [](int* architectures) {
        architectures[0] = 75;
        architectures[1] = 90;
        return answer("nvrtcGetSupportedArchs");
    };
    table_.nvrtcCreateProgram = [](nvrtcProgram* program, const char*, const char*, int,
                                   const char* const*, const char* const*) {
        const nvrtcResult status = answer("nvrtcCreateProgram");
        if (status == NVRTC_SUCCESS) {
            ++fake->live_programs;
            ++fake->created_programs;
            *program = reinterpret_cast<nvrtcProgram>(fake);
        }
        return status;
    };
    table_.nvrtcDestroyProgram = [](nvrtcProgram* program) {
        --fake->live_programs;
        *program = nullptr;
        return NVRTC_SUCCESS;
    };
    table_.nvrtcAddNameExpression = [](nvrtcProgram, const char*) {
        return answer("nvrtcAddNameExpression");
    };
    table_.nvrtcCompileProgram = [](nvrtcProgram, int count, const char* const* options) {
        fake->options.assign(options, options + count);
        return answer("nvrtcCompileProgram");
    };
    table_.nvrtcGetProgramLogSize = [](nvrtcProgram, std::size_t* size) {
        return answer_size("nvrtcGetProgramLogSize", fake->log.size() + 1, size);
    };
    table_.nvrtcGetProgramLog = [](nvrtcProgram, char* log) {
        return answer_bytes("nvrtcGetProgramLog", fake->log.c_str(), fake->log.size() + 1, log);
    };
    table_.nvrtcGetLoweredName = [](nvrtcProgram, const char*, const char** name) {
        *name = "_Z3fooi";
        return answer("nvrtcGetLoweredName");
    };
    table_.nvrtcGetPTXSize = [](nvrtcProgram, std::size_t* size) {
        return answer_size("nvrtcGetPTXSize", sizeof(PTX), size);
    };
    table_.nvrtcGetPTX = [](nvrtcProgram, char* code) {
        return answer_bytes("nvrtcGetPTX", PTX, sizeof(PTX), code);
    };
    table_.nvrtcGetCUBINSize = [](nvrtcProgram, std::size_t* size) {
        return answer_size("nvrtcGetCUBINSize", sizeof(CUBIN), size);
    };
    table_.nvrtcGetCUBIN = [](nvrtcProgram, char* code) {
        return answer_bytes("nvrtcGetCUBIN", CUBIN, sizeof(CUBIN), code);
    };
    table_.nvrtcGetLTOIRSize = [](nvrtcProgram, std::size_t* size) {
        return answer_size("nvrtcGetLTOIRSize", sizeof(LTOIR), size);
    };
    table_.nvrtcGetLTOIR = [](nvrtcProgram, char* code) {
        return answer_bytes("nvrtcGetLTOIR", LTOIR, sizeof(LTOIR), code);
    };
    table_.nvrtcSetFlowCallback = [](nvrtcProgram, int (*)(void*, void*), void*) {
        return answer("nvrtcSetFlowCallback");
    };
    table_.nvrtcGetPCHCreateStatus = [](nvrtcProgram) {
        const auto number = static_cast<std::size_t>(fake->created_programs) - 1;
        return number < fake->pch_results.size() ? fake->pch_results[number] : NVRTC_SUCCESS;
    };
    table_.nvrtcGetPCHHeapSizeRequired = [](nvrtcProgram, std::size_t* size) {
        return answer_size("nvrtcGetPCHHeapSizeRequired", 12345, size);
    };
    table_.nvrtcSetPCHHeapSize = [](std::size_t size) {
        fake->pch_heap_bytes = size;
        return answer("nvrtcSetPCHHeapSize");
    };
    previous_ = nvrtc::Library::exchange_table(&table_);
}

FakeNvrtc::~FakeNvrtc() {
    nvrtc::Library::exchange_table(previous_);
    fake = nullptr;
}

void FakeNvrtc::fail(std::string function, nvrtcResult status) {
    failing_function = std::move(function);
    failure = status;
}

} // namespace cuprum::testing
