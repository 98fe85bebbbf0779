"""The browser app: the only package that knows Streamlit."""

from pathlib import Path

#: The icon of the browser's tab: a file, since a named icon would be fetched from a network.
ICON = str(Path(__file__).with_name("icon.svg"))
