"""Neural parts, which need the extra ``farpoint[deep]``: imported only where they are asked for."""

from __future__ import annotations

from importlib.util import find_spec

from farpoint.errors import MissingExtra


def require_torch() -> None:
    """Fail unless torch and safetensors are installed, saying how to install them."""
    for package in ("torch", "safetensors"):
        if find_spec(package) is None:
            raise MissingExtra(f"{package} must be installed for this. Run: pip install 'farpoint[deep]'")
