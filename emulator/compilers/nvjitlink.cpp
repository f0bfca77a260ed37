// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A stand-in for NVIDIA's libnvJitLink.so.12 and .13. The emulated driver links the code, so the
// result holds PTX instead of machine code. NVIDIA's library turns LTO-IR into PTX, if it is
// installed.

#include "compilers/emulated_driver.hpp"
#include "compilers/kept_functions.hpp"
#include "compilers/ptxas_options.hpp"
#include "compilers/real_nvjitlink.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

using namespace cuprum::emulator::compilers;

namespace {

enum Result : int {
    SUCCESS = 0,
    UNRECOGNIZED_OPTION = 1,
    MISSING_ARCH = 2,
    INVALID_INPUT = 3,
    PTX_COMPILE = 4,
    NVVM_COMPILE = 5,
    INTERNAL = 6,
};

enum InputType : int {
    CUBIN = 1,
    PTX = 2,
    LTOIR = 3,
    FATBIN = 4,
    OBJECT = 5,
    LIBRARY = 6,
    INDEX = 7,
    ANY = 10,
};

/// What follows the name of an option.
enum class Value : std::uint8_t { None, Text, Number, Switch, FastCompile };

struct Option {
    std::string_view name; // with its "=" if it has a value; names are NVIDIA's
    Value value = Value::None;
};

constexpr std::array OPTIONS{
    Option{"-arch=", Value::Text},
    Option{"-maxrregcount=", Value::Number},
    Option{"-time"},
    Option{"-verbose"},
    Option{"-lto"},
    Option{"-dlto"},
    Option{"-ptx"},
    Option{"-O0"},
    Option{"-O3"},
    Option{"-g"},
    Option{"-lineinfo"},
    Option{"-ftz=", Value::Switch},
    Option{"-prec-div=", Value::Switch},
    Option{"-prec-sqrt=", Value::Switch},
    Option{"-fma=", Value::Switch},
    Option{"-kernels-used=", Value::Text},
    Option{"-variables-used=", Value::Text},
    Option{"-optimize-unused-variables"},
    Option{"-Xptxas=", Value::Text},
    Option{"-Xnvvm=", Value::Text},
    Option{"-nvvm-latest"},
    Option{"-split-compile=", Value::Number},
    Option{"-split-compile-extended=", Value::Number},
    Option{"-jump-table-density=", Value::Number},
    Option{"-no-cache"},
    Option{"-device-stack-protector"},
    Option{"-Ofc=", Value::FastCompile},
};

struct Failure {
    Result code;
    std::string text;
};

std::optional<unsigned> number_of(std::string_view text) {
    unsigned number = 0;
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, number);
    return error == std::errc{} && rest == end ? std::optional(number) : std::nullopt;
}

/// One link: what the handle of a program stands for.
struct Linking {
    bool is_refused = false; // its options were
    std::string architecture;
    std::vector<std::string> options;
    bool gives_ptx = false;
    unsigned sm = 0; // the number of the architecture
    LinkOptions how;
    std::unique_ptr<RealNvJitLink> real; // once there is LTO-IR
    std::unique_ptr<Link> link;
    bool has_code = false;                    // something besides LTO-IR
    std::set<std::string> external_functions; // that PTX may call in LTO-IR
    std::string fatbin;
    std::string ptx;
    std::string errors;
    std::string information;
};

/// Refuses an option that NVIDIA's library does not know, and a value without a meaning.
void check_option(const std::string& option) {
    const auto* const known = std::ranges::find_if(OPTIONS, [&](const Option& each) {
        return each.value == Value::None ? option == each.name : option.starts_with(each.name);
    });
    if (option == "-r") {
        throw Failure{
            UNRECOGNIZED_OPTION,
            "the option -r asks for a relocatable cubin, which the emulated device cannot "
            "make: leave it out, and give all inputs to one link"};
    }
    if (known == OPTIONS.end()) {
        throw Failure{UNRECOGNIZED_OPTION, "unrecognized option: '" + option + "'"};
    }
    const std::string value = option.substr(known->name.size());
    const auto expect = [&](bool is_valid, const char* what) {
        if (!is_valid) {
            throw Failure{UNRECOGNIZED_OPTION, "'" + option + "' has no " + what};
        }
    };
    switch (known->value) {
    case Value::None:
        break;
    case Value::Text:
        expect(!value.empty() || known->name == "-arch=", "value");
        break;
    case Value::Number:
        expect(number_of(value).has_value(), "number");
        break;
    case Value::Switch:
        expect(value == "0" || value == "1" || value == "true" || value == "false",
               "0 or 1 after the '='");
        break;
    case Value::FastCompile:
        expect(value == "min" || value == "mid" || value == "max",
               "'min', 'mid' or 'max' after the '='");
        break;
    }
}

/// Runs a function's body, and keeps the text of what it throws as the link's log.
template <typename Body>
int guarded(Linking& linking, Body&& body) noexcept {
    // Nothing may cross the C interface, also if memory for the log runs out.
    const auto note = [&](const std::string& text, int code) noexcept {
        try {
            linking.errors += text + '\n';
        } catch (const std::exception&) {
            return static_cast<int>(INTERNAL);
        }
        return code;
    };
    try {
        body();
        return SUCCESS;
    } catch (const Failure& failure) {
        return note(failure.text, failure.code);
    } catch (const CompileError& error) {
        return note(error.what(),
                    error.code() == CUDA_ERROR_INVALID_PTX ? PTX_COMPILE : INVALID_INPUT);
    } catch (const std::exception& error) {
        return note(error.what(), INTERNAL);
    }
}

/// Returns the link of the driver. Only in a context.
Link& link_of(Linking& linking) {
    if (linking.link == nullptr) {
        linking.link =
            std::make_unique<Link>(EmulatedDriver::instance(), linking.architecture, linking.how);
    }
    return *linking.link;
}

/// Finds out what input of type "any" is.
int detect(const char* data, std::size_t bytes) {
    const std::string_view text(data, bytes);
    constexpr std::string_view fatbin("\x50\xed\x55\xba", 4);
    constexpr std::string_view wrapper("\xb1\x43\x62\x46", 4);
    constexpr std::string_view lto("\xed\x43\x4e\x7f", 4);
    if (text.starts_with("!<arch>") || text.starts_with("!<thin>")) {
        return LIBRARY;
    }
    if (text.starts_with("\x7f"
                         "ELF")) {
        return OBJECT;
    }
    if (text.starts_with(fatbin) || text.starts_with(wrapper)) {
        return FATBIN;
    }
    return text.starts_with(lto) ? LTOIR : PTX;
}

void add(Linking& linking, int type, const void* data, std::size_t bytes, const std::string& name) {
    if (data == nullptr || bytes == 0) {
        throw Failure{INVALID_INPUT, name + ": the input is empty"};
    }
    if (type == ANY) {
        type = detect(static_cast<const char*>(data), bytes);
    }
    if (type == LTOIR || type == INDEX) {
        if (linking.real == nullptr) {
            linking.real = RealNvJitLink::open(linking.architecture, linking.options);
        }
        linking.real->add(type, data, bytes, name);
        return;
    }
    if (linking.gives_ptx) {
        throw Failure{INVALID_INPUT, name + ": with -ptx all inputs must be LTO-IR"};
    }
    static constexpr std::array<std::pair<int, CUjitInputType>, 5> types{{
        {CUBIN, CU_JIT_INPUT_CUBIN},
        {PTX, CU_JIT_INPUT_PTX},
        {FATBIN, CU_JIT_INPUT_FATBINARY},
        {OBJECT, CU_JIT_INPUT_OBJECT},
        {LIBRARY, CU_JIT_INPUT_LIBRARY},
    }};
    const auto* const known =
        std::ranges::find_if(types, [&](const auto& each) { return each.first == type; });
    if (known == types.end()) {
        throw Failure{INVALID_INPUT,
                      name + ": " + std::to_string(type) + " is not a type of input"};
    }
    if (type == PTX) {
        linking.external_functions.merge(
            external_functions({static_cast<const char*>(data), bytes}));
    }
    const AnyContext context(EmulatedDriver::instance());
    link_of(linking).add(known->second, data, bytes, name);
    linking.has_code = true;
}

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw Failure{INVALID_INPUT, path + " cannot be read"};
    }
    return {std::istreambuf_iterator<char>(file), {}};
}

/// Lets functions of LTO-IR stay that only PTX calls.
void keep_functions(Linking& linking) {
    if (linking.external_functions.empty()) {
        return;
    }
    try {
        const std::string use =
            use_of(linking.external_functions, CUPRUM_NVJITLINK_MAJOR, linking.sm);
        if (!use.empty()) {
            linking.real->add(LTOIR, use.data(), use.size(), "kept functions");
        }
    } catch (const CompileError&) {
        // Without NVRTC the link names what it misses.
    }
}

/// Writes to the information log what the options ask for.
void describe(Linking& linking, std::chrono::steady_clock::time_point start) {
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    for (const std::string& option : linking.options) {
        if (option == "-time") {
            linking.information += "time: linked in " + std::to_string(took.count()) + " ms\n";
        } else if (option == "-verbose") {
            linking.information += "linked for " + linking.architecture + ": " +
                                   std::to_string(linking.fatbin.size()) + " bytes\n";
        }
    }
}

void complete(Linking& linking) {
    const auto start = std::chrono::steady_clock::now();
    if (linking.real != nullptr) {
        keep_functions(linking);
        linking.ptx = with_visible(linking.real->complete(), linking.external_functions);
    }
    if (linking.gives_ptx) {
        if (linking.real == nullptr) {
            throw Failure{INVALID_INPUT, "with -ptx there must be an input of LTO-IR"};
        }
        return;
    }
    const AnyContext context(EmulatedDriver::instance());
    if (linking.real != nullptr) {
        link_of(linking).add(CU_JIT_INPUT_PTX, linking.ptx.c_str(), linking.ptx.size() + 1,
                             "<LTO-IR>");
    } else if (!linking.has_code) {
        return; // NVIDIA's library accepts that, too
    }
    linking.fatbin = link_of(linking).complete();
    describe(linking, start);
}

Linking* linking_of(void* handle) {
    return static_cast<Linking*>(handle);
}

/// Reads what is meant for ptxas.
void read_assembler_options(Linking& linking) {
    constexpr std::string_view prefix = "-Xptxas=";
    std::vector<std::string> texts;
    for (const std::string& option : linking.options) {
        if (option.starts_with(prefix)) {
            texts.push_back(option.substr(prefix.size()));
        }
    }
    try {
        const PtxasOptions options = PtxasOptions::parse(texts);
        if (options.max_registers > 0) {
            linking.how.max_registers = static_cast<unsigned>(options.max_registers);
        }
    } catch (const UsageError& error) {
        throw Failure{UNRECOGNIZED_OPTION, std::string("-Xptxas: ") + error.what()};
    }
}

void read_options(Linking& linking, std::uint32_t count, const char** options) {
    linking.is_refused = true; // until the last option is read
    bool is_lto = false;
    bool is_debug = false;
    for (std::uint32_t index = 0; index < count; ++index) {
        const std::string option = options[index] != nullptr ? options[index] : "";
        check_option(option);
        linking.options.push_back(option);
        linking.gives_ptx |= option == "-ptx";
        is_lto |= option == "-lto" || option == "-dlto";
        is_debug |= option == "-g";
        if (option.starts_with("-arch=")) {
            linking.architecture = option.substr(std::strlen("-arch="));
            linking.sm = parse_architecture(linking.architecture);
            if (linking.sm == 0) {
                throw Failure{UNRECOGNIZED_OPTION,
                              "'" + option + "' names no architecture; expected one such as " +
                                  "-arch=sm_90, -arch=sm_90a or -arch=compute_90"};
            }
        } else if (constexpr std::string_view limit = "-maxrregcount="; option.starts_with(limit)) {
            linking.how.max_registers = number_of(option.substr(limit.size())).value_or(0);
        } else if (constexpr std::string_view kernels = "-kernels-used=";
                   option.starts_with(kernels)) {
            linking.how.kernels.push_back(option.substr(kernels.size()));
        } else if (constexpr std::string_view variables = "-variables-used=";
                   option.starts_with(variables)) {
            linking.how.variables.push_back(option.substr(variables.size()));
        }
    }
    read_assembler_options(linking);
    if (linking.sm == 0) {
        throw Failure{MISSING_ARCH, "the option -arch=sm_XX is missing"};
    }
    if (linking.gives_ptx && !is_lto) {
        throw Failure{INVALID_INPUT, "the option -ptx needs -lto"};
    }
    if (is_debug && std::ranges::find(linking.options, "-O3") != linking.options.end()) {
        throw Failure{INVALID_INPUT, "the options -g and -O3 exclude each other: optimized "
                                     "debugging is not supported"};
    }
    linking.is_refused = false;
}

/// Like NVIDIA's function, it returns a handle also for invalid options, so that there is a log.
int create(void** handle, std::uint32_t count, const char** options) noexcept {
    if (handle == nullptr || (count != 0 && options == nullptr)) {
        return INVALID_INPUT;
    }
    auto* const linking = new (std::nothrow) Linking;
    *handle = linking;
    if (linking == nullptr) {
        return INTERNAL;
    }
    return guarded(*linking, [&] { read_options(*linking, count, options); });
}

int destroy(void** handle) {
    if (handle == nullptr || *handle == nullptr) {
        return INVALID_INPUT;
    }
    delete linking_of(*handle);
    *handle = nullptr;
    return SUCCESS;
}

int put_size(void* handle, std::size_t* size, std::string Linking::* text, bool with_end) {
    if (handle == nullptr || size == nullptr) {
        return INVALID_INPUT;
    }
    *size = (linking_of(handle)->*text).size() + (with_end ? 1 : 0);
    return SUCCESS;
}

int put(void* handle, void* out, std::string Linking::* text, bool with_end) {
    if (handle == nullptr || out == nullptr) {
        return INVALID_INPUT;
    }
    const std::string& value = linking_of(handle)->*text;
    std::memcpy(out, value.c_str(), value.size() + (with_end ? 1 : 0));
    return SUCCESS;
}

/// Runs a function's body for a link whose options were accepted.
template <typename Body>
int in_link(void* handle, Body&& body) noexcept {
    if (handle == nullptr) {
        return INVALID_INPUT;
    }
    Linking& linking = *linking_of(handle);
    return guarded(linking, [&] {
        if (linking.is_refused) {
            throw Failure{INVALID_INPUT,
                          "the options of this link were refused: it can only be destroyed"};
        }
        body(linking);
    });
}

int put_linked(void* handle, std::size_t* size, void* out, std::string Linking::* text,
               const char* missing) {
    return in_link(handle, [&](Linking& linking) {
        if ((linking.*text).empty()) {
            throw Failure{INVALID_INPUT, missing};
        }
        const bool with_end = text == &Linking::ptx;
        if (size != nullptr) {
            put_size(handle, size, text, with_end);
        }
        if (out != nullptr) {
            put(handle, out, text, with_end);
        }
    });
}

int add_data(void* handle, int type, const void* data, std::size_t bytes, const char* name) {
    return in_link(handle, [&](Linking& linking) {
        add(linking, type, data, bytes, name != nullptr ? name : "<unnamed>");
    });
}

int add_file(void* handle, int type, const char* path) {
    return in_link(handle, [&](Linking& linking) {
        if (path == nullptr) {
            throw Failure{INVALID_INPUT, "the path of the file is missing"};
        }
        const std::string data = read_file(path);
        add(linking, type, data.c_str(), type == PTX ? data.size() + 1 : data.size(), path);
    });
}

#if CUPRUM_NVJITLINK_MAJOR >= 13
void refuse_ltoir(Linking& /*linking*/) {
    throw Failure{INVALID_INPUT, "the emulated device's nvJitLink makes no LTO-IR: ask for the "
                                 "linked PTX or cubin"};
}
#endif

constexpr const char* NO_CUBIN = "there is no linked cubin: complete the link without -ptx first";
constexpr const char* NO_PTX = "there is no linked PTX: complete a link with -lto and -ptx first";

} // namespace

// A program compiled with NVIDIA's header calls names with its version. One that looks functions up
// uses plain names.
// NOLINTBEGIN(bugprone-reserved-identifier,cert-*): NVIDIA's names.
#define CUPRUM_EXPORT extern "C" __attribute__((visibility("default")))
// NVIDIA's library of each major version keeps the names of all its minor versions.
#define CUPRUM_VERSION(name, version, parameters, body)                                            \
    CUPRUM_EXPORT int __nvJitLink##name##_##version parameters body
#if CUPRUM_NVJITLINK_MAJOR == 12
#define CUPRUM_VERSIONS(name, parameters, body)                                                    \
    CUPRUM_VERSION(name, 12_0, parameters, body)                                                   \
    CUPRUM_VERSION(name, 12_1, parameters, body)                                                   \
    CUPRUM_VERSION(name, 12_2, parameters, body)                                                   \
    CUPRUM_VERSION(name, 12_3, parameters, body)                                                   \
    CUPRUM_VERSION(name, 12_4, parameters, body)                                                   \
    CUPRUM_VERSION(name, 12_5, parameters, body)                                                   \
    CUPRUM_VERSION(name, 12_6, parameters, body)                                                   \
    CUPRUM_VERSION(name, 12_7, parameters, body)                                                   \
    CUPRUM_VERSION(name, 12_8, parameters, body)                                                   \
    CUPRUM_VERSION(name, 12_9, parameters, body)
#else
#define CUPRUM_VERSIONS(name, parameters, body)                                                    \
    CUPRUM_VERSION(name, 13_0, parameters, body)                                                   \
    CUPRUM_VERSION(name, 13_1, parameters, body)                                                   \
    CUPRUM_VERSION(name, 13_2, parameters, body)                                                   \
    CUPRUM_VERSION(name, 13_3, parameters, body)                                                   \
    CUPRUM_VERSION(name, 13_4, parameters, body)                                                   \
    CUPRUM_VERSION(name, 13_5, parameters, body)
#endif
#define CUPRUM_NVJITLINK(name, parameters, body)                                                   \
    CUPRUM_EXPORT int nvJitLink##name parameters body CUPRUM_VERSIONS(name, parameters, body)

CUPRUM_NVJITLINK(Create, (void** handle, std::uint32_t count, const char** options),
                 { return create(handle, count, options); })

CUPRUM_NVJITLINK(Destroy, (void** handle), { return destroy(handle); })

CUPRUM_NVJITLINK(AddData,
                 (void* handle, int type, const void* data, std::size_t bytes, const char* name),
                 { return add_data(handle, type, data, bytes, name); })

CUPRUM_NVJITLINK(AddFile, (void* handle, int type, const char* path),
                 { return add_file(handle, type, path); })

CUPRUM_NVJITLINK(Complete, (void* handle), { return in_link(handle, complete); })

CUPRUM_NVJITLINK(GetLinkedCubinSize, (void* handle, std::size_t* size),
                 { return put_linked(handle, size, nullptr, &Linking::fatbin, NO_CUBIN); })

CUPRUM_NVJITLINK(GetLinkedCubin, (void* handle, void* cubin),
                 { return put_linked(handle, nullptr, cubin, &Linking::fatbin, NO_CUBIN); })

CUPRUM_NVJITLINK(GetLinkedPtxSize, (void* handle, std::size_t* size),
                 { return put_linked(handle, size, nullptr, &Linking::ptx, NO_PTX); })

CUPRUM_NVJITLINK(GetLinkedPtx, (void* handle, char* ptx),
                 { return put_linked(handle, nullptr, ptx, &Linking::ptx, NO_PTX); })

#if CUPRUM_NVJITLINK_MAJOR >= 13
CUPRUM_NVJITLINK(GetLinkedLTOIRSize, (void* handle, std::size_t* /*size*/),
                 { return in_link(handle, refuse_ltoir); })

CUPRUM_NVJITLINK(GetLinkedLTOIR, (void* handle, void* /*code*/),
                 { return in_link(handle, refuse_ltoir); })
#endif

CUPRUM_NVJITLINK(GetErrorLogSize, (void* handle, std::size_t* size),
                 { return put_size(handle, size, &Linking::errors, true); })

CUPRUM_NVJITLINK(GetErrorLog, (void* handle, char* log),
                 { return put(handle, log, &Linking::errors, true); })

CUPRUM_NVJITLINK(GetInfoLogSize, (void* handle, std::size_t* size),
                 { return put_size(handle, size, &Linking::information, true); })

CUPRUM_NVJITLINK(GetInfoLog, (void* handle, char* log),
                 { return put(handle, log, &Linking::information, true); })

CUPRUM_EXPORT int nvJitLinkVersion(unsigned* major, unsigned* minor) {
    if (major == nullptr || minor == nullptr) {
        return INVALID_INPUT;
    }
    *major = CUPRUM_NVJITLINK_MAJOR;
    *minor = CUPRUM_NVJITLINK_MAJOR == 12 ? 9 : 4;
    return SUCCESS;
}

// NOLINTEND(bugprone-reserved-identifier,cert-*)
