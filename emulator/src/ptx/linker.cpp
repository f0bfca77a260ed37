// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "ptx/linker.hpp"

#include "ptx/printer.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace cuprum::emulator::ptx {

namespace {

using Names = std::unordered_map<std::string_view, std::string_view>; // old to new
using Visitor = std::function<void(std::string_view&)>;

/// A definition of a symbol that other modules can see.
struct Definition {
    std::size_t input = 0;
    Linkage linkage = Linkage::Visible;
    const Variable* variable = nullptr; // one of the two
    const Function* function = nullptr;
};

/// Calls `visit` for every mention of a name that could be a symbol's.
void visit_names(Operand& operand, const Visitor& visit);
void visit_names(Initializer& initializer, const Visitor& visit);
void visit_names(Function& function, const Visitor& visit);
bool have_same_shape(const std::vector<Variable>& left, const std::vector<Variable>& right);
using Definitions = std::unordered_map<std::string_view, const Function*>;
void adapt_calls(std::vector<Statement>& statements, const Definitions& defined);

/// Calls `visit` for every name that a module mentions outside declarations.
void visit_uses(Module& module, const Visitor& visit);

/// Links once.
class Joining {
public:
    Joining(std::vector<LinkInput> inputs, const std::function<bool(std::string_view)>& is_provided)
        : inputs_(std::move(inputs)), is_provided_(is_provided) {}

    LinkResult run();

private:
    void leave_out_members();
    void collect_definitions();
    void define(std::string_view name, const Definition& definition);
    void rename_private_symbols();
    void check_declarations();
    void check_declaration(std::size_t input, const Variable& variable);
    void check_declaration(std::size_t input, const Function& function, Definitions& to_adapt);
    [[nodiscard]] bool is_chosen(std::size_t input, const Variable& variable) const;
    [[nodiscard]] bool is_chosen(std::size_t input, const Function& function) const;
    [[nodiscard]] Module join();

    void complain(std::string message) { errors_.push_back("error   : " + std::move(message)); }

    void warn(std::string message) { warnings_.push_back("warning : " + std::move(message)); }

    [[nodiscard]] std::string quoted(std::size_t input) const {
        return "'" + inputs_[input].name + "'";
    }

    std::vector<LinkInput> inputs_;
    const std::function<bool(std::string_view)>& is_provided_;
    std::map<std::string_view, Definition> definitions_;
    std::deque<std::string> new_names_; // the modules refer to them until they are printed
    std::vector<std::string> errors_;
    std::vector<std::string> warnings_;
};

} // namespace

bool is_dynamic_shared(const Variable& variable) {
    return variable.space == Space::Shared && variable.linkage == Linkage::Extern &&
           variable.size_bytes() == 0;
}

LinkResult link(std::vector<LinkInput> inputs,
                const std::function<bool(std::string_view)>& is_provided) {
    return Joining(std::move(inputs), is_provided).run();
}

// ---- helpers -----------------------------------------------------------------------------------

namespace {

LinkResult Joining::run() {
    leave_out_members();
    rename_private_symbols();
    collect_definitions();
    check_declarations();
    LinkResult result;
    result.input_count = inputs_.size();
    result.warnings = std::move(warnings_);
    if (!errors_.empty()) {
        result.errors = std::move(errors_);
        return result;
    }
    const Module joined = join();
    result.entry_count =
        static_cast<std::size_t>(std::ranges::count_if(joined.functions, [](const Function& each) {
            return each.is_entry && !each.is_declaration;
        }));
    result.text = to_text(joined);
    return result;
}

void Joining::leave_out_members() {
    const auto is_exported = [](const auto& symbol) {
        return symbol.linkage != Linkage::Extern && symbol.linkage != Linkage::Internal;
    };
    std::unordered_map<std::string_view, std::vector<std::size_t>> members; // that define a symbol
    for (std::size_t index = 0; index < inputs_.size(); ++index) {
        const LinkInput& input = inputs_[index];
        for (const Variable& variable : input.module.variables) {
            if (input.is_member && is_exported(variable)) {
                members[variable.name].push_back(index);
            }
        }
        for (const Function& function : input.module.functions) {
            if (input.is_member && is_exported(function) && !function.is_declaration) {
                members[function.name].push_back(index);
            }
        }
    }
    std::set<std::pair<std::size_t, std::string_view>> needed; // members, and for which symbol
    std::unordered_set<std::string_view> wanted;  // used by a module that does not define it
    std::unordered_set<std::string_view> defined; // and exported
    const auto take = [&](LinkInput& input) {
        input.is_member = false;
        std::unordered_set<std::string_view> own;
        for (const Variable& variable : input.module.variables) {
            if (variable.linkage != Linkage::Extern) {
                (is_exported(variable) ? defined : own).insert(variable.name);
            }
        }
        for (const Function& function : input.module.functions) {
            if (!function.is_declaration) {
                (is_exported(function) ? defined : own).insert(function.name);
            }
        }
        visit_uses(input.module, [&](std::string_view& name) {
            if (own.contains(name) || !wanted.insert(name).second) {
                return;
            }
            if (const auto found = members.find(name); found != members.end()) {
                for (const std::size_t member : found->second) {
                    needed.emplace(member, name);
                }
            }
        });
    };
    for (LinkInput& input : inputs_) {
        if (!input.is_member) {
            take(input);
        }
    }
    // A member may need another one, before or behind it. The first one that is needed comes first.
    while (!needed.empty()) {
        const auto [member, name] = *needed.begin();
        needed.erase(needed.begin());
        if (inputs_[member].is_member && !defined.contains(name)) {
            take(inputs_[member]);
        }
    }
    std::erase_if(inputs_, [](const LinkInput& input) { return input.is_member; });
}

void Joining::rename_private_symbols() {
    // The modules that mention a name at module scope.
    std::unordered_map<std::string_view, std::set<std::size_t>> users;
    for (std::size_t input = 0; input < inputs_.size(); ++input) {
        for (const Variable& variable : inputs_[input].module.variables) {
            users[variable.name].insert(input);
        }
        for (const Function& function : inputs_[input].module.functions) {
            users[function.name].insert(input);
        }
    }
    for (std::size_t input = 0; input < inputs_.size(); ++input) {
        Module& module = inputs_[input].module;
        std::set<std::string_view> exported; // declared with linkage somewhere in the module
        for (const Function& function : module.functions) {
            if (function.linkage != Linkage::Internal || function.is_entry) {
                exported.insert(function.name);
            }
        }
        Names names;
        const auto consider = [&](std::string_view name) {
            if (users[name].size() > 1 && !names.contains(name)) {
                std::string fresh = std::string(name) + "__in" + std::to_string(input + 1);
                while (users.contains(fresh)) {
                    fresh += '_';
                }
                names.emplace(name, new_names_.emplace_back(std::move(fresh)));
            }
        };
        for (const Variable& variable : module.variables) {
            if (variable.linkage == Linkage::Internal) {
                consider(variable.name);
            }
        }
        for (const Function& function : module.functions) {
            if (!exported.contains(function.name)) {
                consider(function.name);
            }
        }
        if (names.empty()) {
            continue;
        }
        const Visitor rename = [&](std::string_view& name) {
            if (const auto found = names.find(name); found != names.end()) {
                name = found->second;
            }
        };
        for (Variable& variable : module.variables) {
            rename(variable.name);
            if (variable.initializer) {
                visit_names(*variable.initializer, rename);
            }
        }
        for (Function& function : module.functions) {
            rename(function.name);
            visit_names(function, rename);
        }
        for (Alias& alias : module.aliases) {
            rename(alias.name);
            rename(alias.target);
        }
    }
}

void Joining::collect_definitions() {
    for (std::size_t input = 0; input < inputs_.size(); ++input) {
        const Module& module = inputs_[input].module;
        for (const Variable& variable : module.variables) {
            if (variable.linkage != Linkage::Extern) {
                define(variable.name, {input, variable.linkage, &variable, nullptr});
            }
        }
        std::set<std::string_view> aliases;
        for (const Alias& alias : module.aliases) {
            aliases.insert(alias.name);
        }
        for (const Function& function : module.functions) {
            if (!function.is_declaration || aliases.contains(function.name)) {
                define(function.name, {input, function.linkage, nullptr, &function});
            }
        }
    }
}

void Joining::define(std::string_view name, const Definition& definition) {
    const auto [place, is_new] = definitions_.emplace(name, definition);
    if (is_new) {
        return;
    }
    Definition& known = place->second;
    if (known.input == definition.input) {
        return; // twice in one module: the compiler reports it
    }
    if ((known.function != nullptr) != (definition.function != nullptr)) {
        complain("'" + std::string(name) + "' is a function in one of " + quoted(known.input) +
                 " and " + quoted(definition.input) + " and a variable in the other");
        return;
    }
    const auto is_soft = [](Linkage linkage) {
        return linkage == Linkage::Weak || linkage == Linkage::Common;
    };
    if (!is_soft(known.linkage) && !is_soft(definition.linkage)) {
        complain("'" + std::string(name) + "' is defined in " + quoted(definition.input) +
                 " and already in " + quoted(known.input));
        return;
    }
    const bool is_larger = known.variable != nullptr && known.linkage == Linkage::Common &&
                           definition.linkage == Linkage::Common &&
                           definition.variable->size_bytes() > known.variable->size_bytes();
    if ((is_soft(known.linkage) && !is_soft(definition.linkage)) || is_larger) {
        known = definition;
    }
}

void Joining::check_declarations() {
    for (std::size_t input = 0; input < inputs_.size(); ++input) {
        Module& module = inputs_[input].module;
        std::unordered_set<std::string_view> used;
        visit_uses(module, [&](std::string_view& name) { used.insert(name); });
        for (const Variable& variable : module.variables) {
            if (variable.linkage == Linkage::Extern && !is_dynamic_shared(variable) &&
                used.contains(variable.name)) {
                check_declaration(input, variable);
            }
        }
        Definitions to_adapt;
        for (const Function& function : module.functions) {
            if (function.is_declaration && used.contains(function.name)) {
                check_declaration(input, function, to_adapt);
            }
        }
        for (Function& function : module.functions) {
            if (!to_adapt.empty()) {
                adapt_calls(function.body, to_adapt);
            }
        }
    }
}

void Joining::check_declaration(std::size_t input, const Variable& variable) {
    const auto found = definitions_.find(variable.name);
    if (found == definitions_.end() || found->second.variable == nullptr) {
        complain("Undefined reference to '" + std::string(variable.name) + "' in " + quoted(input));
        return;
    }
    const Variable& defined = *found->second.variable;
    const bool is_unsized = variable.size_bytes() == 0;
    if (defined.space != variable.space ||
        (!is_unsized && defined.size_bytes() != variable.size_bytes())) {
        complain("'" + std::string(variable.name) + "' is declared in " + quoted(input) +
                 " with another size or state space than " + quoted(found->second.input) +
                 " defines it with");
    }
}

/// Adds the function to `to_adapt` if calls must take other results than it is declared with.
void Joining::check_declaration(std::size_t input, const Function& function,
                                Definitions& to_adapt) {
    const auto found = definitions_.find(function.name);
    if (found == definitions_.end() || found->second.function == nullptr) {
        if (!is_provided_(function.name)) {
            complain("Undefined reference to '" + std::string(function.name) + "' in " +
                     quoted(input));
        }
        return;
    }
    const Function& defined = *found->second.function;
    const auto differs_in = [&](std::string_view what) {
        return "'" + std::string(function.name) + "' is declared in " + quoted(input) +
               " with other " + std::string(what) + " than " + quoted(found->second.input) +
               " defines it with";
    };
    if (!have_same_shape(defined.parameters, function.parameters)) {
        complain(differs_in("parameters"));
    } else if (!have_same_shape(defined.returns, function.returns)) {
        if (!defined.returns.empty() && !function.returns.empty()) {
            complain(differs_in("results"));
            return;
        }
        // nvJitLink links such modules, and Numba relies on it: it declares functions that return
        // nothing with a result that it never reads. A GPU's own cuLinkAddData refuses them.
        warn(differs_in("results"));
        to_adapt.emplace(function.name, &defined);
    }
}

bool Joining::is_chosen(std::size_t input, const Variable& variable) const {
    const auto found = definitions_.find(variable.name);
    return found != definitions_.end() && found->second.input == input &&
           variable.linkage != Linkage::Extern;
}

bool Joining::is_chosen(std::size_t input, const Function& function) const {
    const auto found = definitions_.find(function.name);
    return found != definitions_.end() && found->second.input == input;
}

/// Moves what is kept into one module, which still refers to the text of the inputs.
Module Joining::join() {
    Module joined;
    std::uint32_t best_sm = 0;
    std::set<std::string_view> dynamic_shared;
    std::set<std::string_view> declared;
    std::vector<Function> bodies;
    // Decided for all before anything moves, since definitions_ points into the modules.
    std::vector<std::vector<bool>> keeps_variable(inputs_.size());
    std::vector<std::vector<bool>> keeps_function(inputs_.size());
    for (std::size_t input = 0; input < inputs_.size(); ++input) {
        for (const Variable& variable : inputs_[input].module.variables) {
            const bool is_first_shared =
                is_dynamic_shared(variable) && dynamic_shared.insert(variable.name).second;
            keeps_variable[input].push_back(is_first_shared || is_chosen(input, variable));
        }
        for (const Function& function : inputs_[input].module.functions) {
            const bool is_device_s =
                !definitions_.contains(function.name) && declared.insert(function.name).second;
            keeps_function[input].push_back(is_device_s || is_chosen(input, function));
        }
    }
    for (std::size_t input = 0; input < inputs_.size(); ++input) {
        Module& module = inputs_[input].module;
        if (std::pair(module.version_major, module.version_minor) >
            std::pair(joined.version_major, joined.version_minor)) {
            joined.version_major = module.version_major;
            joined.version_minor = module.version_minor;
        }
        if (joined.target.empty() || module.target_sm() > best_sm) {
            best_sm = module.target_sm();
            joined.target = module.target;
        }
        // Source lines refer to files by number: those of each module follow the ones before.
        const auto first_file = static_cast<std::uint32_t>(joined.files.size());
        joined.files.insert(joined.files.end(), module.files.begin(), module.files.end());
        for (std::size_t index = 0; index < module.variables.size(); ++index) {
            if (keeps_variable[input][index]) {
                joined.variables.push_back(std::move(module.variables[index]));
            }
        }
        for (std::size_t index = 0; index < module.functions.size(); ++index) {
            Function& function = module.functions[index];
            if (!keeps_function[input][index]) {
                continue;
            }
            const std::function<void(std::vector<Statement>&)> shift =
                [&](std::vector<Statement>& statements) {
                    for (Statement& statement : statements) {
                        if (statement.instruction.source_line != 0) {
                            statement.instruction.source_file += first_file;
                        }
                        shift(statement.block);
                    }
                };
            shift(function.body);
            if (function.is_declaration) {
                joined.functions.push_back(std::move(function));
                continue;
            }
            if (!function.is_entry) {
                // Declared before every call, in whichever module the call is.
                Function declaration;
                declaration.name = function.name;
                declaration.is_declaration = true;
                declaration.linkage = function.linkage;
                declaration.returns = function.returns;
                declaration.parameters = function.parameters;
                declaration.directives.is_noreturn = function.directives.is_noreturn;
                joined.functions.push_back(std::move(declaration));
            }
            bodies.push_back(std::move(function));
        }
        for (const Alias& alias : module.aliases) {
            const auto found = definitions_.find(alias.name);
            if (found != definitions_.end() && found->second.input == input) {
                joined.aliases.push_back(alias);
            }
        }
    }
    std::ranges::move(bodies, std::back_inserter(joined.functions));
    return joined;
}

void visit_names(Operand& operand, const Visitor& visit) {
    if (!operand.text.empty()) {
        visit(operand.text);
    }
    for (Operand& part : operand.parts) {
        visit_names(part, visit);
    }
}

void visit_names(Initializer& initializer, const Visitor& visit) {
    if (initializer.kind == Initializer::Kind::Symbol) {
        visit(initializer.symbol);
    }
    for (Initializer& item : initializer.items) {
        visit_names(item, visit);
    }
}

/// Collects what a body declares for itself: these names hide those of the module.
void collect_local_names(const std::vector<Statement>& statements,
                         std::unordered_set<std::string_view>& names) {
    for (const Statement& statement : statements) {
        switch (statement.kind) {
        case Statement::Kind::Label:
            names.insert(statement.label);
            break;
        case Statement::Kind::Variable:
            names.insert(statement.variable->name);
            break;
        case Statement::Kind::Prototype:
            names.insert(statement.prototype->name);
            break;
        case Statement::Kind::Targets:
            names.insert(statement.targets->name);
            break;
        case Statement::Kind::Block:
            collect_local_names(statement.block, names);
            break;
        case Statement::Kind::Instruction:
            break;
        }
    }
}

void visit_statements(std::vector<Statement>& statements, const Visitor& visit) {
    for (Statement& statement : statements) {
        if (statement.kind == Statement::Kind::Instruction) {
            for (Operand& operand : statement.instruction.operands) {
                visit_names(operand, visit);
            }
        } else if (statement.kind == Statement::Kind::Targets) {
            for (std::string_view& target : statement.targets->targets) {
                visit(target);
            }
        } else if (statement.kind == Statement::Kind::Variable && statement.variable->initializer) {
            visit_names(*statement.variable->initializer, visit);
        } else if (statement.kind == Statement::Kind::Block) {
            visit_statements(statement.block, visit);
        }
    }
}

void visit_names(Function& function, const Visitor& visit) {
    std::unordered_set<std::string_view> hidden;
    for (const Variable& parameter : function.parameters) {
        hidden.insert(parameter.name);
    }
    for (const Variable& each : function.returns) {
        hidden.insert(each.name);
    }
    collect_local_names(function.body, hidden);
    const Visitor visit_unhidden = [&](std::string_view& name) {
        if (!hidden.contains(name)) {
            visit(name);
        }
    };
    visit_statements(function.body, visit_unhidden);
}

void visit_uses(Module& module, const Visitor& visit) {
    for (Variable& variable : module.variables) {
        if (variable.initializer) {
            visit_names(*variable.initializer, visit);
        }
    }
    for (Function& function : module.functions) {
        visit_names(function, visit);
    }
}

/// Makes direct calls of some functions take their results, all or none: drops results that a
/// function does not have, and gives variables to those that it has and the call does not want.
void adapt_calls(std::vector<Statement>& statements, const Definitions& defined) {
    for (Statement& statement : statements) {
        adapt_calls(statement.block, defined);
        auto& operands = statement.instruction.operands;
        if (statement.kind != Statement::Kind::Instruction ||
            statement.instruction.opcode != "call" || operands.empty()) {
            continue;
        }
        const bool has_results = operands.front().kind == Operand::Kind::List;
        const std::size_t callee = has_results ? 1 : 0;
        const auto found =
            operands.size() > callee ? defined.find(operands[callee].text) : defined.end();
        if (found == defined.end() || has_results == !found->second->returns.empty()) {
            continue;
        }
        if (has_results) {
            operands.erase(operands.begin());
            continue;
        }
        Operand results;
        results.kind = Operand::Kind::List;
        results.location = statement.location;
        Statement block;
        block.kind = Statement::Kind::Block;
        block.location = statement.location;
        for (const Variable& result : found->second->returns) {
            Statement declaration;
            declaration.kind = Statement::Kind::Variable;
            declaration.location = statement.location;
            *declaration.variable = result;
            block.block.push_back(std::move(declaration));
            results.parts.emplace_back().text = result.name;
        }
        operands.insert(operands.begin(), std::move(results));
        block.block.push_back(std::move(statement));
        statement = std::move(block);
    }
}

bool have_same_shape(const std::vector<Variable>& left, const std::vector<Variable>& right) {
    return std::ranges::equal(left, right, [](const Variable& a, const Variable& b) {
        return a.size_bytes() == b.size_bytes();
    });
}

} // namespace

} // namespace cuprum::emulator::ptx
