// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// libNVVM's interface. CUDA's packages do not ship its header. The functions are declared for
// their types and never linked.

#pragma once

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

} // namespace cuprum::nvvm
