// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "memory/copy_options.hpp"
#include "memory/memory_objects.hpp"
#include "stream/stream_objects.hpp"
#include "support/class.hpp"

#include <cuprum/copy.hpp>

#include <vector>

namespace cuprum::python {

namespace {

[[nodiscard]] nb::object options_class() {
    return nb::module_::import_("cuprum._copy").attr("CopyOptions");
}

[[nodiscard]] CopyOptions read_options(nb::handle options) {
    CopyOptions how;
    // The class has checked its strings.
    const auto order = nb::cast<std::string>(nb::str(nb::object(options.attr("src_access_order"))));
    if (order == "during_api_call") {
        how.src_access_order = SourceAccessOrder::DuringAPICall;
    } else if (order == "any") {
        how.src_access_order = SourceAccessOrder::Any;
    }
    how.src_location_hint = location_argument(nb::object(options.attr("src_location_hint")), true);
    how.dst_location_hint = location_argument(nb::object(options.attr("dst_location_hint")), true);
    const auto overlap = nb::cast<std::string>(nb::str(nb::object(options.attr("overlap_mode"))));
    if (overlap != "default") {
        how.overlap_mode = CopyOverlap::PreferOverlapWithCompute;
    }
    return how;
}

[[nodiscard]] std::vector<CopyOptions> options_list(nb::handle options, std::size_t copies) {
    if (options.is_none()) {
        return {};
    }
    const nb::object type = options_class();
    if (PyObject_IsInstance(options.ptr(), type.ptr()) == 1) {
        return {read_options(options)};
    }
    if (PySequence_Check(options.ptr()) == 0) {
        raise_error(PyExc_TypeError,
                    "options must be CopyOptions, a sequence of them or None, got " +
                        type_label(options));
    }
    const nb::object sequence = nb::steal(PySequence_Fast(options.ptr(), ""));
    if (!sequence.is_valid()) {
        throw nb::python_error(); // what its items raised
    }
    std::vector<CopyOptions> all;
    for (nb::handle each : sequence) {
        if (PyObject_IsInstance(each.ptr(), type.ptr()) != 1) {
            raise_error(PyExc_TypeError,
                        "each options element must be CopyOptions, got " + type_label(each));
        }
        all.push_back(read_options(each));
    }
    // NOTE: a sequence of one is not "one for all": it pairs by index like any other.
    if (all.size() != copies) {
        raise_error(PyExc_ValueError, "options length (" + std::to_string(all.size()) +
                                          ") does not match the " + std::to_string(copies) +
                                          " copies");
    }
    return all;
}

} // namespace

void bind_copy(nb::module_& module) {
    function(
        module, "copy_batch",
        [](nb::handle stream, nb::handle srcs, nb::handle dsts, nb::handle options) {
            if (get_if<PyStream>(stream) == nullptr) {
                raise_error(PyExc_TypeError, "Argument 'stream' has incorrect type: expected a "
                                             "Stream, got " +
                                                 type_label(stream));
            }
            const Stream& order = copy_stream_argument(stream);
            const auto sources = buffer_list_argument(srcs, "srcs");
            const auto targets = buffer_list_argument(dsts, "dsts", true);
            if (sources.size() != targets.size() && !sources.empty() && !targets.empty()) {
                raise_error(PyExc_ValueError, "srcs length (" + std::to_string(sources.size()) +
                                                  ") does not match dsts length (" +
                                                  std::to_string(targets.size()) + ")");
            }
            const auto how = options_list(options, sources.size());
            const nb::gil_scoped_release unlocked;
            copy_batch(order, sources, targets, how);
        });
}

std::optional<CopyOptions> copy_options_argument(nb::handle options) {
    if (options.is_none()) {
        return std::nullopt;
    }
    if (PyObject_IsInstance(options.ptr(), options_class().ptr()) != 1) {
        raise_error(PyExc_TypeError,
                    "options must be CopyOptions or None, got " + type_label(options));
    }
    return read_options(options);
}

const Stream& copy_stream_argument(nb::handle stream) {
    const Stream& order = stream_argument(stream);
    if (const std::string reason = why_no_copy_options(order); !reason.empty()) {
        const bool is_legacy = order == Stream::legacy_default();
        raise_error(PyExc_TypeError,
                    (is_legacy ? "stream is LEGACY_DEFAULT_STREAM: " : "") + reason);
    }
    return order;
}

} // namespace cuprum::python
