"""Streamlit Community Cloud starts here: it reads the requirements.txt beside the file it starts."""

import runpy
import sys
from pathlib import Path

if (root := str(Path(__file__).resolve().parents[1])) not in sys.path:
    sys.path.insert(0, root)
runpy.run_path(f"{root}/Home.py")
