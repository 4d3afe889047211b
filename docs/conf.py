"""How the documentation is built: ``make docs``, without a network, and every warning is an error."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent / "_ext"))

import farpoint


def _link(name: str) -> str:
    """Return a link to where a name of the top is documented: in the package that defines it."""
    package = getattr(farpoint, name).__module__.split(".")[1]
    return f"{{py:obj}}`fp.{name} <farpoint.{package}.{name}>`"


project = "Farpoint"
author = "The Farpoint developers"
copyright = author
version = release = farpoint.__version__

extensions = [
    "examples",
    "mathml",
    "myst_parser",
    "numpydoc",
    "results",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
]
html_math_renderer = "mathml"
html_theme = "furo"
html_title = "Farpoint"
html_static_path = ["_static"]
html_css_files = ["farpoint.css"]
html_copy_source = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#31688e", "color-brand-content": "#31688e"},
    "dark_css_variables": {"color-brand-primary": "#6ece58", "color-brand-content": "#6ece58"},
}
exclude_patterns = ["_build", "gallery/*.rst"]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist", "substitution"]
myst_substitutions = {"top_names": " · ".join(_link(name) for name in sorted(farpoint.__all__, key=str.lower))}
myst_heading_anchors = 3
# Examples on pages are doctests; pytest runs them.
myst_fence_as_directive: list[str] = []

default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
# Names of a module are those of its __all__; numpydoc's own tables of members would repeat them.
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "auto_gallery",
    "filename_pattern": r"/plot_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 3600,
    "write_computation_times": False,
    "remove_config_comments": True,
}
