// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "objects/graphs/conditional.hpp"

#include "builtins/conditionals.hpp"

namespace cuprum::emulator {

ConditionalVariable::ConditionalVariable(std::shared_ptr<Context> context,
                                         std::uint32_t default_value, unsigned flags)
    : context_(std::move(context)), default_value_(default_value), flags_(flags),
      value_(default_value), handle_(builtins::Conditionals::instance().add(value_)) {}

ConditionalVariable::~ConditionalVariable() {
    builtins::Conditionals::instance().remove(handle_);
}

void ConditionalVariable::begin_launch() noexcept {
    if ((flags_ & CU_GRAPH_COND_ASSIGN_DEFAULT) != 0) {
        value_.store(default_value_, std::memory_order_release);
    }
}

} // namespace cuprum::emulator
