// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include <cuprum/object_code.hpp>

#include "driver/call.hpp"
#include "driver/current.hpp"
#include "driver/handle.hpp"
#include "program/kernel_state.hpp"
#include "program/library_state.hpp"
#include "support/text.hpp"

#include <cuprum/context.hpp>
#include <cuprum/detail/leave_loaded.hpp>
#include <cuprum/device.hpp>
#include <cuprum/error.hpp>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace cuprum {

namespace {

constexpr const char* MANAGED_KIND = "__managed__ variable";

using GetVariable = driver::Entry<CUresult(CUdeviceptr*, std::size_t*, CUlibrary, const char*)>;

std::string symbol_of(const detail::LibraryState& library, const std::string& name) {
    const auto mapped = library.symbols.find(name);
    return mapped == library.symbols.end() ? name : mapped->second;
}

Context current_or_primary() {
    driver::initialise();
    auto current = Context::current();
    return current.has_value() ? *std::move(current) : Device().primary_context();
}

Buffer get_variable(const std::shared_ptr<detail::LibraryState>& state, const GetVariable& get,
                    std::string_view name, const char* kind) {
    detail::LibraryState& library = detail::open(state, "ObjectCode");
    detail::check_has_no_nul("name", name);
    const std::string wanted(name);
    const CUlibrary handle = library.handle();
    const Context context = current_or_primary();
    const driver::Current current(context.handle());
    CUdeviceptr address = 0;
    std::size_t bytes = 0;
    const CUresult status = get(&address, &bytes, handle, symbol_of(library, wanted).c_str());
    if (status == CUDA_ERROR_NOT_FOUND) {
        // NVRTC accepts no name expressions for managed variables.
        const std::string by_expression =
            std::string_view(kind) == MANAGED_KIND
                ? ""
                : ", or pass \"&" + wanted + "\" to compile() in name_expressions and here";
        throw std::invalid_argument(std::string("there is no ") + kind + " \"" + wanted + "\" in " +
                                    library.description() +
                                    "; C++ decorates the names of variables in namespaces and "
                                    "templates: declare it extern \"C\"" +
                                    by_expression);
    }
    if (status != CUDA_SUCCESS) {
        driver::raise(status, get.name, std::string("looking up ") + kind + " \"" + wanted + "\"");
    }
    return Buffer::from_handle(address, bytes, std::shared_ptr<void>(state));
}

std::vector<std::string> names_in(CUlibrary library) {
    unsigned count = 0;
    driver::call(driver::table().cuLibraryGetKernelCount, &count, library);
    std::vector<CUkernel> kernels(count);
    if (count != 0) {
        driver::call(driver::table().cuLibraryEnumerateKernels, kernels.data(), count, library);
    }
    std::vector<std::string> names;
    names.reserve(count);
    for (const CUkernel kernel : kernels) {
        const char* name = nullptr;
        driver::call(driver::table().cuKernelGetName, &name, kernel);
        names.emplace_back(name);
    }
    return names;
}

std::size_t edit_distance(std::string_view left, std::string_view right) {
    std::vector<std::size_t> row(right.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i < left.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i + 1);
        for (std::size_t j = 0; j < right.size(); ++j) {
            const std::size_t replaced = diagonal + (left[i] == right[j] ? 0 : 1);
            diagonal = row[j + 1];
            row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
        }
    }
    return row.back();
}

std::string unknown_kernel(const std::string& name, detail::LibraryState& library) {
    static constexpr std::size_t MAX_LISTED = 8;
    static constexpr std::size_t MAX_MISTYPED = 2;
    std::string text = "there is no kernel \"" + name + "\" in " + library.description();
    std::vector<std::string> names;
    try {
        names = names_in(library.handle());
    } catch (const NotSupportedError&) {
        return text; // drivers before 12.4 cannot list kernels
    }
    if (names.empty()) {
        text += ", which has no kernels";
        if (library.symbols.empty()) {
            text += "; a template becomes a kernel if its name, such as \"f<int>\", is passed to "
                    "compile() in name_expressions";
        }
        return text;
    }
    // List kernels under the names that compile() was given.
    for (const auto& [expression, symbol] : library.symbols) {
        std::replace(names.begin(), names.end(), symbol, expression);
    }
    const bool is_decorated = std::any_of(names.begin(), names.end(), [](const std::string& known) {
        return known.starts_with("_Z");
    });
    std::sort(names.begin(), names.end(), [&](const std::string& left, const std::string& right) {
        return std::pair(edit_distance(name, left), std::string_view(left)) <
               std::pair(edit_distance(name, right), std::string_view(right));
    });
    if (edit_distance(name, names.front()) <= MAX_MISTYPED) {
        text += "; did you mean \"" + names.front() + "\"?";
    }
    text += "; it has " + std::to_string(names.size()) +
            (names.size() == 1 ? " kernel: " : " kernels: ");
    for (std::size_t i = 0; i < std::min(names.size(), MAX_LISTED); ++i) {
        text += (i == 0 ? "\"" : ", \"") + names[i] + "\"";
    }
    if (names.size() > MAX_LISTED) {
        text += " and " + std::to_string(names.size() - MAX_LISTED) + " more";
    }
    if (is_decorated) {
        text += "; C++ decorates names: declare the kernel extern \"C\", or pass its name to "
                "compile() in name_expressions";
    }
    return text;
}

} // namespace

std::string_view to_string(CodeType type) noexcept {
    return detail::enumerator_text<CodeType::Library>(
        type, {"ptx", "cubin", "ltoir", "fatbin", "object", "library"});
}

ObjectCode ObjectCode::from_bytes(CodeType type, std::span<const std::byte> code, std::string name,
                                  SymbolMapping symbols, JITOptions jit) {
    return ObjectCode(std::make_shared<detail::LibraryState>(
        type, detail::PaddedCode(code), std::string(), std::move(name), std::move(symbols), jit));
}

ObjectCode ObjectCode::from_file(CodeType type, std::string path, std::string name,
                                 SymbolMapping symbols, JITOptions jit) {
    if (path.empty()) {
        throw std::invalid_argument("path is empty; expected a file name");
    }
    detail::check_has_no_nul("path", path);
    return ObjectCode(std::make_shared<detail::LibraryState>(
        type, detail::PaddedCode(), std::move(path), std::move(name), std::move(symbols), jit));
}

CodeType ObjectCode::code_type() const {
    return detail::open(state_, "ObjectCode").type;
}

std::span<const std::byte> ObjectCode::code() const {
    return detail::open(state_, "ObjectCode").code();
}

std::string_view ObjectCode::text() const {
    detail::LibraryState& library = detail::open(state_, "ObjectCode");
    if (library.type != CodeType::Ptx) {
        throw std::invalid_argument("code of type \"" + std::string(to_string(library.type)) +
                                    "\" is not text; expected \"ptx\"");
    }
    const std::span<const std::byte> code = library.code();
    const std::string_view text(reinterpret_cast<const char*>(code.data()), code.size());
    return text.substr(0, text.find('\0'));
}

const std::string& ObjectCode::path() const {
    return detail::open(state_, "ObjectCode").path;
}

const std::string& ObjectCode::name() const {
    return detail::open(state_, "ObjectCode").name;
}

const SymbolMapping& ObjectCode::symbol_mapping() const {
    return detail::open(state_, "ObjectCode").symbols;
}

const JITOptions& ObjectCode::jit_options() const {
    return detail::open(state_, "ObjectCode").jit;
}

CUlibrary ObjectCode::handle() const {
    return detail::open(state_, "ObjectCode").handle();
}

void detail::leave_loaded(const ObjectCode& code) {
    open(Access::state(code), "ObjectCode").leave_loaded();
}

std::optional<Kernel> ObjectCode::known_kernel(std::string_view name) const {
    detail::KernelState* const known = detail::open(state_, "ObjectCode").find_kernel(name);
    return known == nullptr ? std::nullopt
                            : std::optional(detail::Access::make<Kernel>(
                                  std::shared_ptr<detail::KernelState>(state_, known)));
}

Kernel ObjectCode::get_kernel(std::string_view name) const {
    detail::LibraryState& library = detail::open(state_, "ObjectCode");
    if (detail::KernelState* const known = library.find_kernel(name)) {
        return detail::Access::make<Kernel>(std::shared_ptr<detail::KernelState>(state_, known));
    }
    if (library.type == CodeType::LtoIr || library.type == CodeType::Object ||
        library.type == CodeType::Library) {
        throw std::runtime_error("Unsupported code type \"" + std::string(to_string(library.type)) +
                                 "\": link it to a cubin with Linker before you get kernels");
    }
    detail::check_has_no_nul("name", name);
    std::string wanted(name);
    const std::string symbol = symbol_of(library, wanted);
    const auto& get = driver::table().cuLibraryGetKernel;
    CUkernel handle = nullptr;
    const CUresult status = get(&handle, library.handle(), symbol.c_str());
    if (status == CUDA_ERROR_NOT_FOUND) {
        throw std::invalid_argument(unknown_kernel(wanted, library));
    }
    if (status != CUDA_SUCCESS) {
        driver::raise(status, get.name, "looking up kernel \"" + wanted + "\"");
    }
    auto kernel = std::make_unique<detail::KernelState>();
    kernel->handle = handle;
    kernel->home = &library;
    kernel->label = detail::LaunchName(wanted);
    kernel->name = std::move(wanted);
    kernel->plan = &library.plan_of(handle, symbol);
    return detail::Access::make<Kernel>(
        std::shared_ptr<detail::KernelState>(state_, &library.keep_kernel(std::move(kernel))));
}

std::vector<std::string> ObjectCode::kernel_names() const {
    return names_in(handle());
}

Buffer ObjectCode::get_global(std::string_view name) const {
    return get_variable(state_, driver::table().cuLibraryGetGlobal, name, "__device__ variable");
}

Buffer ObjectCode::get_managed(std::string_view name) const {
    return get_variable(state_, driver::table().cuLibraryGetManaged, name, MANAGED_KIND);
}

CUmodule ObjectCode::get_module() const {
    const CUlibrary library = handle();
    const Context context = current_or_primary();
    const driver::Current current(context.handle());
    CUmodule module = nullptr;
    driver::call(driver::table().cuLibraryGetModule, &module, library);
    return module;
}

std::string to_string(const ObjectCode& code) {
    return code.is_closed() ? "<ObjectCode closed>"
                            : "<ObjectCode " + std::string(to_string(code.code_type())) +
                                  " name=" + detail::quoted(code.name()) + ">";
}

} // namespace cuprum

std::size_t
std::hash<cuprum::ObjectCode>::operator()(const cuprum::ObjectCode& code) const noexcept {
    return std::hash<const void*>()(cuprum::detail::Access::state(code).get());
}
