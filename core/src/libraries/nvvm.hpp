// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// libNVVM's interface. CUDA's packages do not ship its header. The functions are declared for
// their types and never linked.

#pragma once

#include "libraries/loader.hpp"

#include <cstddef>

namespace cuprum::nvvm {

enum nvvmResult { // NOLINT(readability-identifier-naming): the library's name for it
    NVVM_SUCCESS = 0,
    NVVM_ERROR_OUT_OF_MEMORY = 1,
    NVVM_ERROR_PROGRAM_CREATION_FAILURE = 2,
    NVVM_ERROR_IR_VERSION_MISMATCH = 3,
    NVVM_ERROR_INVALID_INPUT = 4,
    NVVM_ERROR_INVALID_PROGRAM = 5,
    NVVM_ERROR_INVALID_IR = 6,
    NVVM_ERROR_INVALID_OPTION = 7,
    NVVM_ERROR_NO_MODULE_IN_PROGRAM = 8,
    NVVM_ERROR_COMPILATION = 9,
};

struct nvvmProgramState;
using nvvmProgram = nvvmProgramState*;

namespace declared {

nvvmResult nvvmVersion(int* major, int* minor);
nvvmResult nvvmIRVersion(int* major, int* minor, int* debug_major, int* debug_minor);
const char* nvvmGetErrorString(nvvmResult result);
nvvmResult nvvmCreateProgram(nvvmProgram* program);
nvvmResult nvvmDestroyProgram(nvvmProgram* program);
nvvmResult nvvmAddModuleToProgram(nvvmProgram program, const char* code, std::size_t bytes,
                                  const char* name);
nvvmResult nvvmLazyAddModuleToProgram(nvvmProgram program, const char* code, std::size_t bytes,
                                      const char* name);
nvvmResult nvvmVerifyProgram(nvvmProgram program, int count, const char** options);
nvvmResult nvvmCompileProgram(nvvmProgram program, int count, const char** options);
nvvmResult nvvmGetCompiledResultSize(nvvmProgram program, std::size_t* bytes);
nvvmResult nvvmGetCompiledResult(nvvmProgram program, char* code);
nvvmResult nvvmGetProgramLogSize(nvvmProgram program, std::size_t* bytes);
nvvmResult nvvmGetProgramLog(nvvmProgram program, char* log);

} // namespace declared

// The table of libNVVM's functions: the only way to the compiler of NVVM IR.

struct Table;
using Library = libraries::Loader<Table>;

/// Every libNVVM function that Cuprum uses.
struct Table {
// NOLINTBEGIN(bugprone-macro-parentheses): it is the name of a member
#define CUPRUM_NVVM_FUNCTION(function)                                                             \
    libraries::Entry<decltype(declared::function)> function{                                       \
        &libraries::Stub<Table, &Table::function>::call, #function};
#include "libraries/nvvm.def"
#undef CUPRUM_NVVM_FUNCTION
    // NOLINTEND(bugprone-macro-parentheses)
};

/// Returns the active table.
[[nodiscard]] inline Table& table() noexcept {
    return Library::table();
}

} // namespace cuprum::nvvm

template <>
const cuprum::libraries::LibraryDescription
    cuprum::libraries::Loader<cuprum::nvvm::Table>::DESCRIPTION;

extern template class cuprum::libraries::Loader<cuprum::nvvm::Table>;
