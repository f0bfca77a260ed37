// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

// A stand-in for NVIDIA's ptxas. It checks PTX as the emulated device does when it loads it, and
// writes a fatbin with the PTX instead of machine code.

#include "compilers/emulated_driver.hpp"
#include "compilers/ptxas_options.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

using namespace cuprum::emulator::compilers;

namespace {

constexpr int FAILURE = 255; // as NVIDIA's ptxas

constexpr const char* USAGE =
    "usage: ptxas [OPTION...] FILE...\n"
    "\n"
    "Cuprum's stand-in for NVIDIA's ptxas. It takes the same options, checks the PTX for the\n"
    "emulated device, and writes a fatbin that holds the PTX instead of machine code.\n"
    "\n"
    "  -arch, --gpu-name NAME     sm_90, sm_90a ...; with compute_90 the code is only checked\n"
    "  -o, --output-file FILE     where the fatbin goes (default elf.o)\n"
    "  -c, --compile-only         functions may be defined elsewhere\n"
    "  -v, --verbose              show what each kernel uses\n"
    "  --version, --help\n"
    "\n"
    "Options about optimisation are accepted and have no effect.\n";

struct Source {
    std::string name;
    std::string text;
};

/// Removes the lines of the source inside inline assembly, and keeps the number of lines of PTX.
///
/// Triton's compiler counts them on from the statement: the second line of the assembly gets the
/// next line of the source. Without them the statement's own line holds.
std::string without_lines_of_assembly(const std::string& ptx) {
    constexpr std::string_view spaces = " \t";
    std::string text;
    bool is_inside = false;
    std::istringstream lines(ptx);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t begin = std::min(line.find_first_not_of(spaces), line.size());
        const std::string_view rest = std::string_view(line).substr(begin);
        is_inside = (is_inside || rest.starts_with("// begin inline asm")) &&
                    !rest.starts_with("// end inline asm");
        if (!is_inside || !rest.starts_with(".loc")) {
            text += line;
        }
        text += '\n';
    }
    return text;
}

std::vector<Source> read_sources(const PtxasOptions& options) {
    std::vector<Source> sources;
    for (const std::string& path : options.files) {
        std::ifstream file(path, std::ios::binary);
        if (!file) {
            throw UsageError("Input file '" + path + "' could not be opened");
        }
        sources.push_back({path, {std::istreambuf_iterator<char>(file), {}}});
    }
    for (const std::string& text : options.texts) {
        sources.push_back({"<string>", text});
    }
    if (sources.empty()) {
        throw UsageError("No input files specified");
    }
    for (Source& source : sources) {
        source.text = without_lines_of_assembly(source.text);
    }
    return sources;
}

/// Returns the release of CUDA whose ptxas this shall be. Old versions of Triton know no newer one.
std::string release(const EmulatedDriver& driver) {
    const char* const named = ::secure_getenv("CUPRUM_EMULATOR_PTXAS_RELEASE");
    if (named != nullptr && *named != 0) {
        int major = 0;
        int minor = 0;
        char rest = 0;
        if (std::sscanf(named, "%3d.%3d%c", &major, &minor, &rest) != 2 || major < 1 || minor < 0) {
            throw UsageError("CUPRUM_EMULATOR_PTXAS_RELEASE is '" + std::string(named) +
                             "', expected a release of CUDA such as 12.8");
        }
        return named;
    }
    int version = 0;
    CUPRUM_DRIVER_FUNCTION(driver, cuDriverGetVersion)(&version);
    return std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
}

void show_version(const EmulatedDriver& driver) {
    const std::string number = release(driver);
    // Other programs read the version from the third line.
    std::cout << "ptxas: Cuprum's stand-in, which makes no machine code\n"
              << "For the emulated device of Cuprum\n"
              << "Cuda compilation tools, release " << number << ", V" << number << ".0\n";
}

/// Makes the emulated device one of the wanted kind. Only before it starts.
void choose_device(unsigned sm) {
    const std::string capability = std::to_string(sm / 10) + "." + std::to_string(sm % 10);
    ::setenv("CUPRUM_EMULATOR_COMPUTE_CAPABILITY", capability.c_str(), 1);
    ::setenv("CUPRUM_EMULATOR_DEVICES", "1", 1);
    ::setenv("CUPRUM_EMULATOR_LOG", "off", 1); // the text of an error is shown below
    for (const char* const report : {"CUPRUM_EMULATOR_CHECK", "CUPRUM_EMULATOR_LEAKS"}) {
        ::unsetenv(report);
    }
}

/// Starts the emulated driver with a device of the wanted architecture.
const EmulatedDriver& start_driver(const PtxasOptions& options) {
    choose_device(options.sm());
    try {
        return EmulatedDriver::instance();
    } catch (const CompileError& error) {
        if (error.code() == CUDA_ERROR_INVALID_VALUE) {
            throw UsageError("Value '" + options.architecture +
                             "' is not defined for option 'gpu-name': the emulated device has no "
                             "such compute capability");
        }
        throw;
    }
}

int attribute(const EmulatedDriver& driver, CUfunction function, CUfunction_attribute which) {
    int value = 0;
    CUPRUM_DRIVER_FUNCTION(driver, cuFuncGetAttribute)(&value, which, function);
    return value;
}

/// Loads a whole program, which finds everything that the emulated device cannot run.
void check_program(const EmulatedDriver& driver, const PtxasOptions& options,
                   const Source& source) {
    std::vector<char> errors(64 * 1024);
    std::array names{CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    std::array<void*, 2> values{errors.data(), reinterpret_cast<void*>(errors.size())};
    CUmodule module = nullptr;
    const CUresult result = CUPRUM_DRIVER_FUNCTION(driver, cuModuleLoadDataEx)(
        &module, source.text.c_str(), names.size(), names.data(), values.data());
    if (result != CUDA_SUCCESS) {
        throw CompileError(result, errors.data());
    }
    for (const std::string& entry : options.entries) {
        CUfunction function = nullptr;
        if (CUPRUM_DRIVER_FUNCTION(driver, cuModuleGetFunction)(&function, module, entry.c_str()) !=
            CUDA_SUCCESS) {
            throw UsageError("Entry function '" + entry + "' is not defined in '" + source.name +
                             "'");
        }
    }
    unsigned count = 0;
    CUPRUM_DRIVER_FUNCTION(driver, cuModuleGetFunctionCount)(&count, module);
    std::vector<CUfunction> functions(count);
    CUPRUM_DRIVER_FUNCTION(driver, cuModuleEnumerateFunctions)(functions.data(), count, module);
    for (const CUfunction function : functions) {
        const char* name = nullptr;
        if (!options.is_verbose ||
            CUPRUM_DRIVER_FUNCTION(driver, cuFuncGetName)(&name, function) != CUDA_SUCCESS) {
            continue;
        }
        std::cerr << "ptxas info    : Compiling entry function '" << name << "' for '"
                  << options.architecture << "'\n"
                  << "ptxas info    : Function properties for " << name << "\n    "
                  << attribute(driver, function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)
                  << " bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
                  << "ptxas info    : Used "
                  << attribute(driver, function, CU_FUNC_ATTRIBUTE_NUM_REGS) << " registers, "
                  << attribute(driver, function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
                  << " bytes smem, "
                  << attribute(driver, function, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)
                  << " bytes cmem[0]\n";
    }
    CUPRUM_DRIVER_FUNCTION(driver, cuModuleUnload)(module);
}

void write(const PtxasOptions& options, const std::string& fatbin) {
    std::ofstream file(options.output, std::ios::binary | std::ios::trunc);
    file.write(fatbin.data(), static_cast<std::streamsize>(fatbin.size()));
    if (!file.flush()) {
        throw UsageError("Could not write output file '" + options.output + "'");
    }
}

void compile(const PtxasOptions& options) {
    const auto sources = read_sources(options);
    for (const std::string& option : options.without_effect) {
        if (!options.has_no_warnings) {
            std::cerr << "ptxas warning : option '" << option
                      << "' has no effect on the emulated device\n";
        }
    }
    const EmulatedDriver& driver = start_driver(options);
    const AnyContext context(driver);
    for (const Source& source : sources) {
        if (options.is_relocatable) {
            Link link(driver); // parses the code; symbols may be undefined
            link.add(CU_JIT_INPUT_PTX, source.text.c_str(), source.text.size() + 1, source.name);
        } else {
            check_program(driver, options, source);
        }
    }
    if (options.is_check()) {
        return;
    }
    // Linking applies the limit of registers too.
    if (sources.size() > 1 || (options.max_registers > 0 && !options.is_relocatable)) {
        Link link(driver, options.architecture,
                  {.max_registers = static_cast<unsigned>(std::max(options.max_registers, 0))});
        for (const Source& source : sources) {
            link.add(CU_JIT_INPUT_PTX, source.text.c_str(), source.text.size() + 1, source.name);
        }
        write(options, link.complete());
    } else {
        write(options, wrap(sources.front().text, options.architecture));
    }
}

/// Shows the driver's log as ptxas does: "ptx:4:40: error: text" becomes "ptxas FILE, line 4; error
/// : text".
void show_errors(const std::string& log, const std::string& file) {
    std::istringstream lines(log);
    for (std::string line; std::getline(lines, line);) {
        unsigned number = 0;
        int rest = 0;
        if (line.empty()) {
            continue;
        }
        // A link names the file first.
        const std::size_t name = line.find(": ptx:");
        const std::size_t begin = name != std::string::npos ? name + 2 : 0;
        if (std::sscanf(line.c_str() + begin, "ptx:%u:%*u: error: %n", &number, &rest) == 1 &&
            rest != 0) {
            std::cerr << "ptxas " << file << ", line " << number
                      << "; error   : " << line.substr(begin + static_cast<std::size_t>(rest))
                      << '\n';
        } else {
            std::cerr << "ptxas " << line << '\n';
        }
    }
    std::cerr << "ptxas fatal   : Ptx assembly aborted due to errors\n";
}

} // namespace

int main(int count, char** arguments) {
    PtxasOptions options;
    try {
        options = PtxasOptions::parse({arguments + 1, arguments + count});
        if (options.asks_for_help) {
            std::cout << USAGE;
        } else if (options.asks_for_version) {
            show_version(EmulatedDriver::instance());
        } else if (options.asks_for_ptx_versions) {
            std::cout << "6.0 to 9.4; code of a newer version is accepted if all its instructions "
                         "are known\n";
        } else {
            compile(options);
        }
        return EXIT_SUCCESS;
    } catch (const CompileError& error) {
        show_errors(error.what(), options.files.empty() ? "<string>" : options.files.back());
    } catch (const std::exception& error) {
        std::cerr << "ptxas fatal   : " << error.what() << '\n';
    }
    return FAILURE;
}
