"""A page on paper: no menus, buttons or second column, and Streamlit's scrolling box as long as its content."""

from __future__ import annotations

# Charts and explanations are not split between pages.
SHEET = """
  .stAppHeader, .stSidebar, .stPopover, .stButton, .stDownloadButton, .st-key-not_on_paper { display: none !important; }
  html, body, #root, #root div:has(.stMain), .stApp, .stAppViewContainer, .stMain {
    position: static !important; display: block !important; height: auto !important; min-height: 0 !important;
    overflow: visible !important; }
  .stMainBlockContainer { padding: 0; max-width: none; }
  [class*="st-key-printed_round"], .stAlert, .stVegaLiteChart, .tokens, li { break-inside: avoid; }
  h1, h2, h3 { break-after: avoid; }
"""
ON_PAPER = f"@media print {{ @page {{ margin: 15mm; }} {SHEET} }}"
# The parameters of Streamlit with which a page has no menus and a light background.
EMBEDDED = {"embed": "true", "embed_options": "light_theme"}
HOW_TO_PRINT = "Print this page or save it as PDF with the browser’s **Print** (Ctrl+P, on a Mac Cmd+P)."
