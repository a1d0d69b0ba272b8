"""A figure as one HTML file that lives by itself: offline, in any browser, light and dark, alive as on the page.

``keepable.py`` says what a figure must have, ``file.py`` writes the file. The file's only scripts are the lab's own and
Vega's (``vega.js.xz``), and its policy lets no other script run and nothing be fetched.
"""
