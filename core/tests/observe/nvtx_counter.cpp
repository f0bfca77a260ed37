// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// Replaces a profiler: NVTX loads this library because NVTX_INJECTION64_PATH names it, and calls
// its functions. It writes each range to the file that CUPRUM_NVTX_RANGES names, one line per call:
// "push <name>" or "pop".

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <nvtx3/nvToolsExt.h>
#include <string>

namespace {

/// Writes a line with one call, so that the lines of several threads do not mix.
void write_line(const std::string& line) {
    const char* path = std::getenv("CUPRUM_NVTX_RANGES");
    const int file = ::open(path != nullptr ? path : "/dev/null", O_WRONLY | O_APPEND | O_CREAT,
                            S_IRUSR | S_IWUSR);
    if (file >= 0) {
        (void)!::write(file, line.data(), line.size());
        ::close(file);
    }
}

int push(const char* name) {
    write_line("push " + std::string(name) + "\n");
    return 0;
}

int pop() {
    write_line("pop\n");
    return 0;
}

} // namespace

// NOLINTBEGIN(readability-identifier-naming): the name that NVTX looks for
extern "C" __attribute__((visibility("default"))) int
InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
    const auto* callbacks =
        static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
    NvtxFunctionTable table = nullptr;
    unsigned int size = 0;
    if (callbacks == nullptr ||
        callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0 ||
        size <= NVTX_CBID_CORE_RangePop) {
        return 0;
    }
    *table[NVTX_CBID_CORE_RangePushA] = reinterpret_cast<NvtxFunctionPointer>(push);
    *table[NVTX_CBID_CORE_RangePop] = reinterpret_cast<NvtxFunctionPointer>(pop);
    return 1;
}

// NOLINTEND(readability-identifier-naming)
