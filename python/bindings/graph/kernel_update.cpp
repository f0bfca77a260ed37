// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "graph/kernel_update.hpp"

#include "graph/bind_graph_appending.hpp"
#include "launch/kernel_arguments.hpp"
#include "launch/kernel_objects.hpp"
#include "launch/launch_config.hpp"
#include "support/class.hpp"
#include "texture/texture_objects.hpp"

namespace cuprum::python {

namespace {

/// The items of an `args` argument.
class Items {
public:
    [[nodiscard]] explicit Items(nb::handle args) {
        if (PyUnicode_Check(args.ptr()) != 0 || PySequence_Check(args.ptr()) == 0) {
            raise_error(PyExc_TypeError,
                        "args must be a sequence of kernel arguments, got " + type_label(args));
        }
        items_ = nb::steal(PySequence_Fast(args.ptr(), ""));
        if (!items_.is_valid()) {
            throw nb::python_error();
        }
    }

    [[nodiscard]] std::span<PyObject* const> all() const noexcept {
        return {PySequence_Fast_ITEMS(items_.ptr()),
                static_cast<std::size_t>(PySequence_Fast_GET_SIZE(items_.ptr()))};
    }

private:
    nb::object items_;
};

[[nodiscard]] const PyKernel& kernel_argument(nb::handle kernel) {
    const PyKernel* const held = get_if<PyKernel>(kernel);
    if (held == nullptr) {
        raise_error(PyExc_TypeError, "kernel must be a Kernel, got " + type_label(kernel));
    }
    return *held;
}

void update(const PyNodeOf<KernelNode>& self, nb::handle config, nb::handle kernel,
            nb::handle args) {
    nb::object made;
    const LaunchConfig* const how =
        config.is_none() ? nullptr : &config_argument(config, made).core;
    const Kernel* const what = kernel.is_none() ? nullptr : &kernel_argument(kernel);
    if (what != nullptr && args.is_none()) {
        raise_error(PyExc_ValueError, "changing kernel requires args: the arguments of the old "
                                      "kernel may not fit; pass args=() if there are none");
    }
    const KernelNode node = in_graph([&] { return self.as<KernelNode>(); });
    if (args.is_none()) {
        if (how != nullptr) {
            in_graph_unlocked([&] { node.update_with(how, nullptr, nullptr); });
        }
        return;
    }
    const Items items(args);
    std::optional<Kernel> present;
    if (what == nullptr) {
        present = in_graph([&] { return node.kernel(); });
    }
    const KernelArguments arguments(what != nullptr ? *what : *present, items.all(), nullptr);
    const BufferList buffers(items.all());
    const auto handles = handle_arguments(items.all());
    const detail::NodeArguments packed{.addresses = arguments.addresses(),
                                       .buffers = buffers.all(),
                                       .handles = handles,
                                       .owner = keep_arguments(items.all()),
                                       .is_packed = true};
    in_graph([&] {
        const Brief unlocked;
        node.update_with(how, what, &packed);
    });
}

void update_executable(const PyExecutable<ExecutableKernelNode>& self, nb::handle config,
                       nb::handle kernel, nb::handle args) {
    nb::object made;
    const PyLaunchConfig& how = config_argument(config, made);
    const PyKernel& what = kernel_argument(kernel);
    const Items items(args);
    const KernelArguments arguments(what, items.all(), nullptr);
    const BufferList buffers(items.all());
    const auto handles = handle_arguments(items.all());
    const detail::NodeArguments packed{.addresses = arguments.addresses(),
                                       .buffers = buffers.all(),
                                       .handles = handles,
                                       .owner = keep_arguments(items.all()),
                                       .is_packed = true};
    in_graph([&] {
        const Brief unlocked;
        self.core.update_with(how.core, what, packed);
    });
}

} // namespace

void add_kernel_update(Class<PyNodeOf<KernelNode>, PyGraphNode>& type) {
    type.method<update>("update", HOT);
}

void add_kernel_update(ExecutableClass<ExecutableKernelNode>& type) {
    type.method<update_executable>("update", HOT);
}

} // namespace cuprum::python
