// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "driver/call.hpp"
#include "program/padded_code.hpp"

#include <cuprum/object_code.hpp>

#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cuprum::detail {

/// A kernel's parameters. Unknown on drivers before 12.4, which cannot tell: arguments are then not
/// checked.
using LaunchPlan = std::optional<std::vector<ParameterInfo>>;

struct KernelState;

/// Code, and the driver's library once it is loaded. Object codes and kernels share it; the last of
/// them unloads.
struct LibraryState : std::enable_shared_from_this<LibraryState> {

    /// Takes code, or leaves it to be read from a file if there is a path.
    LibraryState(CodeType type, PaddedCode code, std::string path, std::string name,
                 SymbolMapping symbols, const JITOptions& jit = {});
    ~LibraryState();
    LibraryState(const LibraryState&) = delete;
    LibraryState& operator=(const LibraryState&) = delete;

    const CodeType type;
    const std::string path; // empty for code in memory
    const std::string name;
    const SymbolMapping symbols;
    const JITOptions jit;
    std::shared_ptr<const void> source_file; // that debuggers read; set before it is shared

    /// Returns the code, read from the file on first use. A NUL follows it.
    [[nodiscard]] std::span<const std::byte> code();

    /// Returns the driver's library, loaded on first use. A failure is tried again by the next
    /// caller.
    [[nodiscard]] CUlibrary handle();

    /// Returns the plan of a kernel of this library, whose name in the code is `symbol`, read on
    /// first use. It lives as long as this object.
    [[nodiscard]] const LaunchPlan& plan_of(CUkernel kernel, std::string_view symbol);

    /// Returns a kernel that was kept under a name, null if there is none. It lives as long as this
    /// object: a share of this object is a share of it.
    [[nodiscard]] KernelState* find_kernel(std::string_view name);
    /// Keeps a kernel under its name and returns it, or the one that is there already.
    KernelState& keep_kernel(std::unique_ptr<KernelState> kernel);

    /// Says which code this is, for messages: its name, else its path.
    [[nodiscard]] std::string description() const;

private:
    static constexpr std::size_t LOG_BYTES = 4096;

    [[nodiscard]] std::span<const std::byte> locked_code();
    [[nodiscard]] std::string_view locked_ptx();
    [[nodiscard]] CUlibrary load();
    [[noreturn]] void raise_load_failure(CUresult status, const char* call);

    std::mutex mutex_; // guards reading, loading and the plans
    std::map<CUkernel, LaunchPlan> plans_;
    // NOTE: not mutex_, which is held while code is loaded: finding a kernel must not wait for
    // that.
    std::mutex kernels_mutex_;
    std::map<std::string, std::unique_ptr<KernelState>, std::less<>> kernels_;
    bool is_read_;
    PaddedCode code_;
    std::atomic<CUlibrary> handle_{nullptr};
    // The driver compiles PTX when a device first needs it, which may be later: it keeps the log's
    // address, so that the log lives here.
    std::array<char, LOG_BYTES> error_log_{};
};

/// Returns the live state of a driver's library, null if it was not loaded by us.
[[nodiscard]] std::shared_ptr<LibraryState> find_library(CUlibrary handle);

/// Checks that code is something that can be loaded, and is whole. `what` names it in the message.
/// @throws CUDAError with CUDA_ERROR_INVALID_IMAGE.
void check_image(const std::string& what, CodeType type, std::span<const std::byte> code);

/// Checks that code which is to be linked is not cut short.
/// @throws std::invalid_argument that starts with `what`.
void check_link_input(const std::string& what, std::span<const std::byte> code);

/// Returns the architecture of a cubin, as in 90 for sm_90; 0 if this is none.
[[nodiscard]] int cubin_architecture(std::span<const std::byte> code) noexcept;

} // namespace cuprum::detail
