// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "passes/build.hpp"
#include "passes/compile.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace cuprum::emulator::passes {

namespace {

struct Pass {
    const char* name;
    void (*run)(KernelBuild&);
};

/// The order is the design. Each comment says what holds after its pass has run.
constexpr std::array PIPELINE{
    Pass{"lower_body", lower_body},                 // everything is bytecode and no names are left
    Pass{"remove_unreachable", remove_unreachable}, // every instruction is reachable
    Pass{"find_blocks", find_blocks},               // the graph of basic blocks exists
    Pass{"propagate_copies", propagate_copies},     // parameters and constants are read in place
    Pass{"remove_dead_code", remove_dead_code},     // every result is used
    Pass{"find_last_reductions", find_last_reductions}, // reductions that can wait are marked
    Pass{"find_linear", find_linear},           // counters and addresses are linear registers
    Pass{"fuse_loads", fuse_loads},             // some handlers run several instructions
    Pass{"find_blocks", find_blocks},           // the graph matches the changed code
    Pass{"find_wait_loops", find_wait_loops},   // loops that only test mbarriers are known
    Pass{"find_pairs", find_pairs},             // results that only the next one reads are known
    Pass{"find_live_ranges", find_live_ranges}, // the live range of each register is known
    Pass{"assign_slots", assign_slots},         // registers are offsets into the frame
    Pass{"resolve_branches", resolve_branches}, // branch targets are instruction indices
    Pass{"resolve_calls", resolve_calls},       // so are functions
    Pass{"place_constants", place_constants},   // the Constants bank is complete
    Pass{"select_handlers", select_handlers},   // every instruction has a handler and can run
};

void check_module(const ptx::Module& module, const CompileOptions& options,
                  ptx::Diagnostics& diagnostics);
void check_aliases(const ptx::Module& module, ptx::Diagnostics& diagnostics);
void drop_spare_memory(bytecode::Kernel& kernel);

} // namespace

std::vector<std::shared_ptr<const bytecode::Kernel>>
compile(const ptx::Module& module, const CompileOptions& options, ptx::Diagnostics& diagnostics) {
    const std::size_t known_complaints = diagnostics.items().size();
    const auto is_sound = [&] { return diagnostics.items().size() == known_complaints; };
    check_module(module, options, diagnostics);
    std::vector<std::shared_ptr<const bytecode::Kernel>> kernels;
    if (!is_sound()) {
        return kernels;
    }
    const ModuleIndex index(module);
    for (const ptx::Function& function : module.functions) {
        if (!function.is_entry || function.is_declaration || diagnostics.is_full()) {
            continue;
        }
        KernelBuild build{.index = index,
                          .function = function,
                          .options = options,
                          .diagnostics = diagnostics,
                          .kernel = {},
                          .registers = {},
                          .notes = {},
                          .labels = {},
                          .entries = {},
                          .has_calls = false,
                          .lane_constants = {},
                          .blocks = {},
                          .live_ranges = {}};
        for (const Pass& pass : PIPELINE) {
            pass.run(build);
            if (!is_sound()) {
                break; // continue with later kernels, to report their errors too
            }
        }
        if (is_sound()) {
            drop_spare_memory(build.kernel);
            auto kernel = std::make_shared<bytecode::Kernel>(std::move(build.kernel));
            kernel->code_source = code_source_of(*kernel);
            kernels.push_back(std::move(kernel));
        }
    }
    if (!is_sound()) {
        kernels.clear();
    }
    return kernels;
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

/// Frees the spare room of a list, if that is worth a copy.
template <typename T>
void shrink(std::vector<T>& list) {
    if (list.capacity() - list.size() > list.size() / 16) {
        list.shrink_to_fit();
    }
}

/// Frees what a finished kernel does not need: it may live as long as the process.
void drop_spare_memory(bytecode::Kernel& kernel) {
    shrink(kernel.code);
    shrink(kernel.operands);
    shrink(kernel.lines);
}

void check_module(const ptx::Module& module, const CompileOptions& options,
                  ptx::Diagnostics& diagnostics) {
    if (module.target_sm() > options.device_sm) {
        diagnostics.report(ptx::Problem::Target, {},
                           "PTX for sm_" + std::to_string(module.target_sm()) +
                               " does not run on this device of compute capability " +
                               std::to_string(options.device_sm / 10) + "." +
                               std::to_string(options.device_sm % 10) + "; compile for compute_" +
                               std::to_string(options.device_sm) +
                               " or older, or make the emulated device report a newer capability");
    }
    std::unordered_set<std::string_view> defined;
    for (const ptx::Function& function : module.functions) {
        if (!function.is_declaration && !defined.insert(function.name).second) {
            diagnostics.report(ptx::Problem::Syntax, function.location,
                               "function '" + std::string(function.name) + "' is defined twice");
        }
    }
    for (const ptx::Variable& variable : module.variables) {
        if (defined.contains(variable.name)) {
            diagnostics.report(ptx::Problem::Syntax, variable.location,
                               "'" + std::string(variable.name) +
                                   "' is the name of a function and of a variable");
        }
    }
    check_aliases(module, diagnostics);
    if (module.address_size != 64) {
        diagnostics.report(ptx::Problem::Unsupported, {},
                           "PTX with .address_size " + std::to_string(module.address_size) +
                               " is not supported; compile for 64-bit addresses");
    }
}

/// Checks what ptxas checks: an alias is declared as a function and has no body of its own; it
/// stands for a function that has one, of the same shape.
void check_aliases(const ptx::Module& module, ptx::Diagnostics& diagnostics) {
    if (module.aliases.empty()) {
        return;
    }

    struct Known {
        const ptx::Function* first = nullptr; // declaration or definition
        bool has_body = false;
    };

    std::unordered_map<std::string_view, Known> functions;
    for (const ptx::Function& function : module.functions) {
        Known& known = functions[function.name];
        known.first = known.first == nullptr ? &function : known.first;
        known.has_body |= !function.is_declaration;
    }
    const auto have_same_shape = [](const std::vector<ptx::Variable>& left,
                                    const std::vector<ptx::Variable>& right) {
        return std::ranges::equal(left, right, {}, &ptx::Variable::size_bytes,
                                  &ptx::Variable::size_bytes);
    };
    std::unordered_set<std::string_view> aliases;
    for (const ptx::Alias& alias : module.aliases) {
        const auto refuse = [&](const std::string& why) {
            diagnostics.report(ptx::Problem::Syntax, alias.location,
                               "'.alias " + std::string(alias.name) + ", " +
                                   std::string(alias.target) + "': " + why);
        };
        const auto find = [&](std::string_view name) -> const Known* {
            const auto found = functions.find(name);
            const bool is_before = found != functions.end() &&
                                   std::pair(found->second.first->location.line,
                                             found->second.first->location.column) <
                                       std::pair(alias.location.line, alias.location.column);
            if (!is_before) {
                refuse("function '" + std::string(name) +
                       "' is not declared; declare it with '.func' before the alias");
            } else if (found->second.first->is_entry) {
                refuse("'" + std::string(name) + "' is a kernel; only functions have aliases");
            } else {
                return &found->second;
            }
            return nullptr;
        };
        const Known* const own = find(alias.name);
        const Known* const target = own == nullptr ? nullptr : find(alias.target);
        if (target == nullptr) {
            continue;
        }
        if (own->has_body) {
            refuse("'" + std::string(alias.name) +
                   "' has a body; an alias is declared without one");
        } else if (!target->has_body) {
            refuse("'" + std::string(alias.target) +
                   "' has no body in this module; define it, or name a function that has one");
        } else if (!have_same_shape(own->first->parameters, target->first->parameters) ||
                   !have_same_shape(own->first->returns, target->first->returns)) {
            refuse("the functions have different parameters or results; declare both alike");
        } else if (!aliases.insert(alias.name).second) {
            refuse("'" + std::string(alias.name) + "' is an alias already; remove one of the two");
        }
    }
}

} // namespace

} // namespace cuprum::emulator::passes
