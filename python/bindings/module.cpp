// SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
// SPDX-License-Identifier: Apache-2.0

#include "bindings.hpp"
#include "program/program_options.hpp"
#include "support/compatibility.hpp"
#include "support/fast_paths.hpp"
#include "support/inspection.hpp"
#include "support/leaving.hpp"

#include <cuprum/detail/runtime.hpp>
#include <cuprum/libraries.hpp>
#include <cuprum/version.hpp>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string_view>

NB_MODULE(_cuprum, module) {
    namespace nb = nanobind;
    using namespace cuprum::python;

    module.doc() = "The compiled part of cuprum. Import cuprum instead.";
    module.attr("VERSION") = cuprum::version();
    // They are separate wheels, and somebody may install only one of them anew.
    if (std::string_view(cuprum::version()) != CUPRUM_VERSION) {
        throw nb::import_error("cuprum " CUPRUM_VERSION " needs libcuprum in the same version, but "
                               "another is installed; run pip install libcuprum==" CUPRUM_VERSION);
    }

    // Some objects live as long as the process: devices, default streams, exception classes.
    nb::set_leak_warnings(false);

    bind_error(module);
    compatibility::bind(module);
    bind_device_resources(module);
    bind_context(module);
    bind_stream(module); // checks how objects lie in memory, before the first one is made
    bind_event(module);
    bind_memory_resource(module);
    bind_memory_pool(module);
    bind_host_memory(module);
    bind_graph_memory_resource(module);
    bind_virtual_memory_resource(module);
    bind_ipc(module);
    bind_buffer(module);
    bind_managed_buffer(module);
    bind_copy(module);
    bind_opaque_array(module);
    bind_mipmapped_array(module);
    bind_resource_descriptor(module);
    bind_texture_object(module);
    bind_device(module);
    bind_checkpoint(module);
    bind_object_code(module);
    bind_kernel(module);
    bind_program(module);
    bind_linker(module);
    bind_program_cache(module);
    bind_launch_config(module);
    bind_launch(module);
    bind_graph_node(module);
    bind_graph_definition(module);
    bind_graph(module);
    bind_graph_builder(module);
    bind_strided_layout(module);
    bind_strided_memory_view(module);
    bind_tensor_map(module);
    bind_graphics_resource(module);
    bind_external_objects(module);
    bind_system(module);
    bind_trace(module);

    module.def("driver_version", &cuprum::driver_version, nb::call_guard<nb::gil_scoped_release>(),
               R"(Return the CUDA version that the driver supports, 13000 for 13.0.

Returns
-------
int
    1000 times the major plus 10 times the minor number.

Raises
------
LibraryNotFoundError
    If there is no driver. The text shows the places that were searched.)");
    module.def("driver_description", &cuprum::driver_description,
               nb::call_guard<nb::gil_scoped_release>(),
               R"(Return which driver is in use and where it came from.

Returns
-------
str
    One line for messages and reports.

Raises
------
LibraryNotFoundError
    If there is no driver. The text shows the places that were searched.)");

    nb::class_<cuprum::LibraryInfo>(module, "LibraryInfo",
                                    "A compiler library and where it was found.")
        .def_ro("name", &cuprum::LibraryInfo::name, "Return the name.")
        .def_ro("path", &cuprum::LibraryInfo::path, "Return the file, empty if it was not found.")
        .def_ro("version", &cuprum::LibraryInfo::version, "Return the version.")
        .def_ro("problem", &cuprum::LibraryInfo::problem, "Return why it was not found.");
    module.def(
        "compiler_libraries",
        [] {
            note_search_paths();
            const nb::gil_scoped_release release;
            return cuprum::compiler_libraries();
        },
        "Look for CUDA's compiler libraries and return what was found.");

    bind_fast_paths(module);
    add_signatures(module);
    watch_for_forks();
    // From here on destructors leave the driver alone: it may be gone before the last object is.
    nb::module_::import_("atexit").attr("register")(nb::cpp_function([] {
        close_python();
        cuprum::detail::mark_leaving();
    }));
}
