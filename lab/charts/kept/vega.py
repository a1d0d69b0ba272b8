"""Vega's own code, which a kept chart has inside: Vega, Vega-Lite and Vega-Embed in one script.

    python -m lab.charts.kept.vega      # make vega.js.xz again from the installed vl-convert-python

A server must not bundle JavaScript when a learner clicks (it takes two seconds and starts a second engine), and must
not fetch it, so the script is in the repository; a test makes it again and compares.
"""

from __future__ import annotations

import argparse
import lzma
from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent
_SCRIPT, _LICENCE = _HERE / "vega.js.xz", _HERE / "VEGA_LICENSE"
# The newest Vega-Lite that vl-convert-python has; the charts name its schema's major version.
VEGA_LITE = "6.4"


def script() -> str:
    """Return the script with its licence at the top; it puts ``vegaEmbed`` into the browser's window."""
    return f"/*\n{_licence()}*/\n{lzma.decompress(_SCRIPT.read_bytes()).decode()}"


@cache
def _licence() -> str:
    return _LICENCE.read_text("utf-8")


def bundled() -> str:
    """Make the script from the code that vl-convert-python brings along."""
    import vl_convert

    # The stub asks for a snippet; without one, the script puts Vega's own names into the window.
    return str(vl_convert.javascript_bundle(vl_version=VEGA_LITE))  # type: ignore[call-arg]


if __name__ == "__main__":
    argparse.ArgumentParser(description="Make the script of Vega that kept files carry.").parse_args()
    _SCRIPT.write_bytes(lzma.compress(bundled().encode(), preset=9 | lzma.PRESET_EXTREME))
    print(f"{_SCRIPT.name}: {_SCRIPT.stat().st_size:,} bytes")
