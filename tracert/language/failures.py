"""What can go wrong with an endpoint, each as one sentence that says what to do."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from tracert.errors import ModelError
from tracert.language.endpoint import Endpoint

#: The longest part of a provider's own words that is shown.
_QUOTED: Final = 200
#: What looks like a secret, whoever wrote it: bearer tokens and the usual forms of keys.
_SECRET: Final = re.compile(
    r"(?i)\bbearer\s+\S+|\b(?:sk|pk|key|rk|gsk|xai|hf)[-_][\w-]{8,}|\bAIza[\w-]{20,}"
)
_HIDDEN: Final = "[hidden]"


def redact(text: str, *secrets: str | None) -> str:
    """The text without the secrets and without anything that looks like a key."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, _HIDDEN)
    return _SECRET.sub(_HIDDEN, text)


def quoted(text: object, endpoint: Endpoint) -> str:
    """A provider's words for an error message: one line, cut, no secret."""
    line = redact(" ".join(str(text).split()), endpoint.api_key)
    return line if len(line) <= _QUOTED else line[: _QUOTED - 1] + "…"


def no_key(endpoint: Endpoint) -> ModelError:
    """No key was given to a provider that wants one."""
    return ModelError(
        f"There is no key for {endpoint.base_url}. Set OPENAI_API_KEY (or OPENROUTER_API_KEY), "
        "or type the key in the settings."
    )


def nonsense(endpoint: Endpoint, what: str) -> ModelError:
    """The endpoint answered, but not in the protocol."""
    return ModelError(
        f"The endpoint {endpoint.base_url} answered with {what} instead of a chat completion. "
        "Check that the base URL is that of an OpenAI-compatible interface."
    )


def said(error: Any) -> str:
    """The provider's own message in an error of the client, '' if it gave none."""
    body = getattr(error, "body", None)
    if isinstance(body, Mapping):
        for key in ("message", "detail", "error"):
            if isinstance(body.get(key), str):
                return str(body[key])
    message = getattr(error, "message", "")
    return message if isinstance(message, str) else ""


def translate(error: Exception, model: str, endpoint: Endpoint, timeout: float) -> ModelError:
    """The client's exception as a `ModelError` with no trace of the key."""
    import openai

    at = endpoint.base_url
    if isinstance(error, openai.APITimeoutError):
        return ModelError(
            f"The endpoint {at} did not answer within {timeout:g} s. Raise the time-out, or try "
            "again later."
        )
    if isinstance(error, openai.APIConnectionError):
        return ModelError(
            f"The endpoint {at} cannot be reached. Check the base URL, the network and that the "
            "server is running."
        )
    if isinstance(error, openai.APIStatusError):
        return _status(error, model, endpoint)
    if isinstance(error, openai.APIError):
        return ModelError(
            f"The endpoint {at} broke off with {quoted(said(error), endpoint)!r}. Try again, or "
            "choose another model."
        )
    return nonsense(endpoint, "something that cannot be read")


def _status(error: Any, model: str, endpoint: Endpoint) -> ModelError:
    status = int(error.status_code)
    at, words = endpoint.base_url, quoted(said(error), endpoint)
    code = str(getattr(error, "code", None) or "")
    if status == 401:
        if endpoint.api_key is None:
            return no_key(endpoint)
        return ModelError(f"The endpoint {at} refuses the key. Check that it belongs to it.")
    if status == 402 or code == "insufficient_quota":
        return ModelError(
            f"The account at {at} has no credit left. Top it up, or choose another provider."
        )
    if status == 403:
        return ModelError(
            f"The key may not use the model {model!r} at {at}. Choose another model or key."
        )
    if status == 404:
        if "model" in words.lower() or code == "model_not_found":
            return ModelError(
                f"The endpoint {at} has no model named {model!r}. Check its name, or choose "
                "another one."
            )
        return ModelError(
            f"The endpoint {at} knows no chat completions there. Check the base URL and the "
            f"model's name {model!r}."
        )
    if status == 429:
        wait = _wait(error.response.headers)
        return ModelError(
            f"The endpoint {at} is over its rate limit. Try again "
            + (f"after {wait:g} s." if wait is not None else "in a while.")
        )
    if status >= 500:
        # A page of HTML from a proxy says nothing; a message in JSON may name what is missing.
        spoken = isinstance(getattr(error, "body", None), Mapping) and words
        told = f"status {status}: {words}" if spoken else f"status {status}"
        return ModelError(
            f"The endpoint {at} has an error of its own ({told}). Try again later, or "
            "choose another model."
        )
    return ModelError(
        f"The endpoint {at} rejects the request (status {status}: {words}). Check the model "
        f"{model!r} and the settings."
    )


def _wait(headers: Mapping[str, str]) -> float | None:
    """The seconds that a 'Retry-After' asks for, if it gives a number."""
    try:
        wait = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return wait if 0 <= wait < 1e6 else None
