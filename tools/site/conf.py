# SPDX-FileCopyrightText: Copyright (c) 2026 The Cuprum Authors
# SPDX-License-Identifier: Apache-2.0

"""The settings of Sphinx. `tools/build-site` runs it on the pages that `pages.py` writes."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/site"))

from python_reference import MODULES, Sources  # noqa: E402
from sphinx.addnodes import desc, pending_xref  # noqa: E402
from sphinx.domains.cpp import CPPDomain  # noqa: E402

SOURCES = Sources(ROOT / "python/cuprum")
PUBLIC_NAMES = {module: SOURCES.public_names(module) for module in ("cuprum", *MODULES)}

VERSION_HEADER = (ROOT / "core/include/cuprum/version.hpp").read_text()

project = "Cuprum"
author = "The Cuprum Authors"
copyright = "2026, The Cuprum Authors"
release = ".".join(re.findall(r"CUPRUM_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", VERSION_HEADER))
version = release

extensions = ["myst_parser", "sphinx_design", "sphinx_copybutton", "breathe"]
exclude_patterns = ["README.md"]
root_doc = "index"
language = "en"

myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4

# Names in single backticks of a docstring become links where such a name exists.
default_role = "py:obj"
add_module_names = False
python_use_unqualified_type_names = True
maximum_signature_line_length = 90
toc_object_entries_show_parents = "hide"

breathe_projects = {"cuprum": str(ROOT / "build/docs/doxygen/xml")}
breathe_default_project = "cuprum"
breathe_default_members = ("members",)
cpp_id_attributes = ["CUPRUM_API"]
# Each page of the C++ reference opens the same namespaces.
suppress_warnings = ["duplicate_declaration.cpp"]

highlight_language = "text"
pygments_style = "friendly"
pygments_dark_style = "monokai"

html_theme = "furo"
html_title = f"Cuprum {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {"color-brand-primary": "#a1490f", "color-brand-content": "#a1490f"},
    "dark_css_variables": {"color-brand-primary": "#e8955b", "color-brand-content": "#e8955b"},
}
copybutton_exclude = ".linenos, .gp"
linkcheck_timeout = 20
linkcheck_retries = 2


# ---- references ---------------------------------------------------------------------------------


def prefer_the_main_module(_app, doctree):
    """Make `Device` mean `cuprum.Device`, except in a module that has a `Device` of its own.

    `cuprum.system` has several names that `cuprum` has too; Sphinx cannot choose between them.
    """
    for node in doctree.findall(pending_xref):
        target, module = node.get("reftarget", ""), node.get("py:module")
        own = PUBLIC_NAMES.get(module, ())
        if node.get("refdomain") == "py" and target in PUBLIC_NAMES["cuprum"] and target not in own:
            node["reftarget"] = f"cuprum.{target}"


def list_only_classes(_app, doctree):
    """Leave the members of classes out of the tables of contents.

    Sphinx copies all tables into the navigation of each page. With members that takes longer than
    everything else. A page lists its classes and functions.
    """
    for node in doctree.findall(desc):
        parent = node.parent
        while parent is not None and not isinstance(parent, desc):
            parent = parent.parent
        is_member = parent is not None and parent["objtype"] != "namespace"
        if is_member or node["objtype"] == "namespace":
            node["no-contents-entry"] = True


class SearchableCPPDomain(CPPDomain):
    """C++, without parameters among the results of the search."""

    def get_objects(self):
        """Yield what the search finds by name."""
        hidden = ("functionParam", "templateParam", "templateTypeParam", "templateTemplateParam")
        return (item for item in super().get_objects() if item[2] not in hidden)


def setup(app):
    """Register what this file adds to Sphinx."""
    app.add_domain(SearchableCPPDomain, override=True)
    app.connect("doctree-read", prefer_the_main_module)
    # Before Sphinx collects the tables of contents.
    app.connect("doctree-read", list_only_classes, priority=100)
    read_with_one_process(app)


def read_with_one_process(app):
    """Let several processes write the pages, but only one read them.

    Processes that read return their part of the C++ symbols. Sphinx merges these parts slowly: each
    header opens the namespace `cuprum` again. Merging takes minutes, reading half a minute.
    """
    processes = app.parallel

    def write_with_all(_app, _env):
        app.parallel = processes

    app.parallel = 1
    app.connect("env-updated", write_with_all)
