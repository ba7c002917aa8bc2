"""Configuration of the documentation site; ``make docs`` builds it into ``docs/_build/html``."""

import os
import sys
from pathlib import Path

from landbridge import __version__

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

# The fast build leaves the examples out: it shows that the pages build, not that examples run.
FAST = os.environ.get("LANDBRIDGE_DOCS") == "fast"

project = "landbridge"
author = "The landbridge developers"
copyright = "The landbridge developers, BSD-3-Clause"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "_extension",
]
templates_path = ["templates"]
exclude_patterns = [
    "_build",
    "_extension",
    "templates",
    "gallery/**/*.ipynb",
    "**/sg_execution_times.rst",
]
# Links where the name is known, plain code elsewhere.
default_role = "py:obj"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline"]
myst_heading_anchors = 4
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"/plot_",
    "ignore_pattern": r"/(?!plot_)[^/]*\.py",
    "within_subsection_order": "ExampleTitleSortKey",
    "plot_gallery": not FAST,
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "doc_module": ("landbridge",),
    "backreferences_dir": "gallery/backreferences",
    "inspect_global_variables": True,
    "prefer_full_module": {r"landbridge\."},
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 5,
    "matplotlib_animations": False,
    "reset_modules": ("matplotlib", "_extension.reset_scikit_learn"),
    "copyfile_regex": r".*\.csv",
}

# Wide tables need the room of the page's table of contents.
WIDE = ["reproductions", *(f"benchmarks/{page.stem}" for page in HERE.glob("benchmarks/*.md"))]
html_theme = "pydata_sphinx_theme"
html_title = "landbridge"
html_static_path = ["static"]
html_css_files = ["landbridge.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "landbridge"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "show_nav_level": 1,
    "navigation_depth": 3,
    "secondary_sidebar_items": {"**": ["page-toc"], **{page: [] for page in WIDE}},
    "footer_start": ["copyright"],
    "footer_end": [],
    "search_bar_text": "Search",
    "use_edit_page_button": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": [], "changelog": [], "gallery/**": ["sidebar-nav-bs"]}
html_extra_path = ["_build/extra"]
