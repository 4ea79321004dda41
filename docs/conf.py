"""How Sphinx builds these pages: `make docs`. Nothing on them is fetched from elsewhere."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "extensions"))

import perp

project = "perp"
author = "The perp authors"
copyright = "the perp authors, Apache-2.0"
version = release = perp.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "mathml",
    "page_links",
    "plain_docstrings",
    "roster",
    "rules",
]
exclude_patterns = ["_build", "extensions", "auto_examples/*.ipynb"]

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
math_numfig = False

autodoc_member_order = "bysource"
autodoc_type_aliases = {"Vector": "Vector"}
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_default_options = {"exclude-members": "__init__, __new__"}
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
add_module_names = False
napoleon_google_docstring = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"\.py",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "min_reported_time": 10_000,
    "write_computation_times": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "plot_gallery": "True",
    "image_srcset": ["2x"],
    "copyfile_regex": "",
    "notebook_extensions": set(),
}

html_theme = "pydata_sphinx_theme"
html_title = "perp"
html_static_path = ["_static"]
html_css_files = ["perp.css"]
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {"index": [], "choosing": [], "lab": []}
html_theme_options = {
    "logo": {"text": "perp"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "show_prev_next": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_context = {"default_mode": "auto"}
