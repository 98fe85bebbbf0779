"""The browser app: the only package that knows Streamlit."""
