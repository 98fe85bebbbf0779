"""Chat models: the client, record and replay, and offline stand-ins."""
