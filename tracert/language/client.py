"""The one client of chat models: any OpenAI-compatible endpoint, by the openai package.

OpenAI, OpenRouter, Ollama, vLLM and llama.cpp differ in small ways: some refuse
`stream_options`, some know `max_tokens` and some `max_completion_tokens`, some fix the
temperature. A parameter that an endpoint names in a refusal is left out (or renamed) and the
call sent once more; the client remembers it.
"""

from __future__ import annotations

import json
import math
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tracert.errors import ModelError, SettingError
from tracert.language.base import Message, OnText, Reply, Tool, ToolCall
from tracert.language.budget import Budget, estimate_tokens
from tracert.language.endpoint import endpoint
from tracert.language.failures import no_key, nonsense, quoted, said, translate
from tracert.language.veil import Veil

DEFAULT_TIMEOUT: Final = 60.0
DEFAULT_RETRIES: Final = 2
#: Parameters that an endpoint may refuse without harm, and what to send in their place.
_OPTIONAL: Final[Mapping[str, str | None]] = {
    "max_tokens": "max_completion_tokens",
    "max_completion_tokens": None,
    "stream_options": None,
    "temperature": None,
    "tool_choice": None,
}
#: What asks for a stream.
_STREAMING: Final = ("stream", "stream_options")
#: A key for endpoints that want none; the protocol's header needs some text.
_NO_KEY: Final = "none"


class OpenAIChat:
    """A chat model behind an OpenAI-compatible endpoint; see `ChatModel`.

    Temperature 0 is asked for, so that a run repeats as well as the model allows. Safe to
    share between threads. Neither `repr` nor any error shows the key.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = DEFAULT_TIMEOUT,
        retries: int = DEFAULT_RETRIES,
        budget: Budget | None = None,
    ) -> None:
        """Nothing is sent yet.

        Args:
            model: the model's name as the provider knows it.
            base_url: with or without '/v1' and a slash at the end; see `endpoint` for what
                stands in when it is None.
            api_key: the key; the environment stands in when it is None.
            timeout: seconds without a byte from the endpoint after which it counts as down;
                a streamed reply must also end within ten times that.
            retries: how often a call that failed for a passing reason is sent again.
            budget: shared limit of calls and tokens; None sets none.

        Raises:
            SettingError: no model named, or a time-out or a number of retries out of range.
            ModelError: the base URL is unusable.
        """
        if not model.strip():
            raise SettingError("No model is named. Pass the name that the provider gives it.")
        if not (math.isfinite(timeout) and timeout > 0):
            raise SettingError(f"The time-out is {timeout}. Pass seconds above 0.")
        if not 0 <= retries <= 10:
            raise SettingError(f"The number of retries is {retries}. Pass 0 to 10.")
        self._model = model.strip()
        self._endpoint = endpoint(base_url, api_key)
        self._timeout = timeout
        self._retries = retries
        self._budget = budget or Budget()
        self._refused: set[str] = set()
        self._lock = threading.Lock()
        self._made: Any = None

    @property
    def name(self) -> str:
        """The model's name as the provider knows it."""
        return self._model

    @property
    def base_url(self) -> str:
        """The base URL in regular form."""
        return self._endpoint.base_url

    @property
    def budget(self) -> Budget:
        """The limit that this client keeps to."""
        return self._budget

    def __repr__(self) -> str:
        return f"OpenAIChat(model={self._model!r}, base_url={self.base_url!r})"

    def complete(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[Tool] = (),
        max_tokens: int = 800,
        on_text: OnText | None = None,
    ) -> Reply:
        """The reply to a conversation; streamed where `on_text` is given.

        The tokens of the reply are the provider's own count and 0 where it gives none; the
        budget is then charged an estimate. A call counts as one, whatever its retries.

        Raises:
            BudgetError: the allowed calls or tokens are used up; nothing was sent.
            ModelError: no usable reply; the text says what is wrong and what to do.
        """
        client = self._client()
        self._budget.reserve()
        body = self._body(messages, tools, max_tokens, stream=on_text is not None)
        veil = Veil(self._endpoint.api_key)
        pieces = None if on_text is None else veil.over(on_text)
        received = self._send(client, body, pieces)
        if pieces is not None:
            pieces.end()
        reply = veil.reply(_reply(received, self._model, max_tokens))
        used = reply.prompt_tokens + reply.completion_tokens
        if used:
            self._budget.charge(used)
        else:
            self._budget.charge(estimate_tokens(messages, reply), estimated=True)
        return reply

    def prepare(self) -> None:
        """Load what the first call would load, so that its time is the model's; nothing is sent.

        Raises:
            ModelError: there is no key.
        """
        _ = self._client().chat.completions

    def models(self) -> list[str]:
        """The names of the models that the endpoint offers, in its order; costs no tokens.

        Raises:
            ModelError: the endpoint gives no list; the text says what is wrong.
        """
        import openai

        client = self._client()
        failure: ModelError | None = None
        data: Any = None
        try:
            data = client.get("/models", cast_to=object)
        except openai.OpenAIError as error:
            failure = translate(error, self._model, self._endpoint, self._timeout)
        except (json.JSONDecodeError, UnicodeDecodeError):
            failure = nonsense(self._endpoint, "something that is not JSON")
        if failure is not None:
            raise failure
        listed = data.get("data") if isinstance(data, dict) else None
        if not isinstance(listed, list):
            raise nonsense(self._endpoint, "no list of models")
        veil = Veil(self._endpoint.api_key)
        return [
            veil.text(entry["id"])
            for entry in listed
            if isinstance(entry, dict) and isinstance(entry.get("id"), str)
        ]

    # --- sending --------------------------------------------------------------------------

    def _client(self) -> Any:
        if self._endpoint.api_key is None and self._endpoint.needs_key:
            raise no_key(self._endpoint)
        with self._lock:
            if self._made is None:
                import openai

                self._made = openai.OpenAI(
                    api_key=self._endpoint.api_key or _NO_KEY,
                    base_url=self._endpoint.base_url,
                    timeout=self._timeout,
                    max_retries=self._retries,
                    http_client=openai.DefaultHttpxClient(
                        event_hooks={"response": [self._no_long_wait]}
                    ),
                )
            return self._made

    def _no_long_wait(self, response: Any) -> None:
        """A wait longer than the time-out is reported at once; the client would sleep it out."""
        try:
            wait = float(response.headers.get("retry-after", ""))
        except ValueError:
            return
        if wait > self._timeout:
            response.headers["x-should-retry"] = "false"

    def _body(
        self, messages: Sequence[Message], tools: Sequence[Tool], max_tokens: int, *, stream: bool
    ) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [_message(message) for message in messages],
            "max_tokens": max_tokens,
            "temperature": 0,
        }
        if tools:
            body["tools"] = [
                {
                    "type": "function",
                    "function": {
                        "name": tool.name,
                        "description": tool.description,
                        "parameters": dict(tool.parameters),
                    },
                }
                for tool in tools
            ]
            # The protocol's default, but the server of llama-cpp-python ignores tools without it.
            body["tool_choice"] = "auto"
        if stream:
            body |= {"stream": True, "stream_options": {"include_usage": True}}
        with self._lock:
            refused = set(self._refused)
        for name in _OPTIONAL:
            if name in refused:
                _leave_out(body, name)
        return body

    def _send(self, client: Any, body: dict[str, Any], on_text: OnText | None) -> _Received:
        """The reply as it came; sent again without a parameter that the endpoint refuses."""
        import openai

        while True:
            failure: ModelError
            try:
                return self._send_once(client, body, on_text)
            except (openai.BadRequestError, openai.UnprocessableEntityError) as error:
                refused = _refused_parameter(error, body)
                failure = translate(error, self._model, self._endpoint, self._timeout)
            except openai.OpenAIError as error:
                refused = None
                failure = translate(error, self._model, self._endpoint, self._timeout)
            except (json.JSONDecodeError, UnicodeDecodeError):  # the client lets these through
                refused = None
                failure = nonsense(self._endpoint, "something that is not JSON")
            # Raised out here, so that the client's exception, which holds the request and so
            # the key, is no part of the error.
            if refused is None:
                raise failure
            with self._lock:
                self._refused.add(refused)
            _leave_out(body, refused)

    def _send_once(self, client: Any, body: Mapping[str, Any], on_text: OnText | None) -> _Received:
        """One request; a second one where a stream broke off before it began.

        A server that fails between its good status and the first piece cannot say why. Asked
        for the whole reply it answers, or says what is wrong: llama-cpp-python does so where
        the context is too long, and where tools and streaming do not go together.
        """
        import openai

        if on_text is not None:
            with client.post(
                "/chat/completions",
                body=body,
                cast_to=object,
                stream=True,
                stream_cls=openai.Stream[object],
            ) as stream:
                received = self._streamed(stream, on_text)
            if received is not None:
                return received
            body = {name: body[name] for name in body if name not in _STREAMING}
            # The server may close that connection while it is used again: one more try at least.
            client = client.with_options(max_retries=max(1, self._retries))
        received = self._whole(client.post("/chat/completions", body=body, cast_to=object))
        if on_text is not None and received.text:
            on_text(received.text)
        return received

    # --- reading --------------------------------------------------------------------------

    def _whole(self, data: Any) -> _Received:
        if isinstance(data, dict) and data.get("error"):
            raise self._inner_error(data["error"])
        choice = _first(data)
        message = choice.get("message")
        if not isinstance(message, dict):
            raise nonsense(self._endpoint, "something without a message")
        received = _Received()
        received.add(message, choice)
        received.usage(data)
        return received

    def _streamed(self, stream: Iterator[Any], on_text: OnText) -> _Received | None:
        """The reply piece by piece; None where the stream ended or broke before the first."""
        import openai

        received = _Received()
        deadline = time.monotonic() + 10 * self._timeout
        pieces = 0
        try:
            for data in stream:
                if isinstance(data, dict) and data.get("error"):
                    raise self._inner_error(data["error"])
                choice = _first(data)
                delta = choice.get("delta")
                if isinstance(delta, dict):
                    pieces += 1
                    text = received.add(delta, choice)
                    if text:
                        on_text(text)
                received.usage(data)
                if time.monotonic() > deadline:
                    raise ModelError(
                        f"The model {self._model!r} was still writing after "
                        f"{10 * self._timeout:g} s. Raise the time-out, or choose a faster model."
                    )
        except openai.APITimeoutError:
            raise
        except openai.APIConnectionError:
            if pieces:
                raise
        return received if pieces else None

    def _inner_error(self, error: Any) -> ModelError:
        """An error inside a reply of status 200, as OpenRouter sends it."""
        words = error.get("message", "") if isinstance(error, dict) else error
        return ModelError(
            f"The endpoint {self.base_url} answered with the error "
            f"{quoted(words, self._endpoint)!r}. Try again, or choose another model."
        )


@dataclass(slots=True)
class _Received:
    """A reply while it is put together, whole or piece by piece."""

    text: str = ""
    refusal: str = ""
    finish: str = ""
    calls: dict[int, dict[str, str]] = field(default_factory=dict)
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add(self, message: Mapping[str, Any], choice: Mapping[str, Any]) -> str:
        """Take in a message or a piece of one; returns the text that it brought."""
        text = _string(message.get("content"))
        self.text += text
        self.refusal += _string(message.get("refusal"))
        self.finish = _string(choice.get("finish_reason")) or self.finish
        calls = message.get("tool_calls")
        for position, call in enumerate(calls if isinstance(calls, list) else ()):
            if not isinstance(call, dict):
                continue
            index = call.get("index")
            slot = self.calls.setdefault(
                index if isinstance(index, int) else position,
                {"id": "", "name": "", "arguments": ""},
            )
            function = call.get("function")
            function = function if isinstance(function, dict) else {}
            slot["id"] = _string(call.get("id")) or slot["id"]
            slot["name"] = slot["name"] or _string(function.get("name"))
            slot["arguments"] += _string(function.get("arguments"))
        return text

    def usage(self, data: Any) -> None:
        """Take in the provider's count of tokens, if it gives one."""
        usage = data.get("usage") if isinstance(data, dict) else None
        if isinstance(usage, dict):
            self.prompt_tokens = _count(usage.get("prompt_tokens"))
            self.completion_tokens = _count(usage.get("completion_tokens"))


def _reply(received: _Received, model: str, max_tokens: int) -> Reply:
    calls = tuple(
        ToolCall(call["id"] or f"call_{index}", call["name"], call["arguments"])
        for index, call in sorted(received.calls.items())
        if call["name"]
    )
    if received.refusal or received.finish == "content_filter":
        raise ModelError(
            f"The model {model!r} refuses to answer this. Put the question differently, or "
            "choose another model."
        )
    if not received.text.strip() and not calls:
        if received.finish == "length":
            raise ModelError(
                f"The model {model!r} used all {max_tokens} tokens before it wrote anything. "
                "Choose a model that thinks less before it writes."
            )
        raise ModelError(f"The model {model!r} gave an empty reply. Try again, or another model.")
    return Reply(
        text=received.text,
        tool_calls=calls,
        prompt_tokens=received.prompt_tokens,
        completion_tokens=received.completion_tokens,
        finish=received.finish or "stop",
    )


def _message(message: Message) -> dict[str, Any]:
    out: dict[str, Any] = {"role": message.role, "content": message.content}
    if message.tool_calls:
        out["content"] = message.content or None
        out["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    if message.tool_call_id is not None:
        out["tool_call_id"] = message.tool_call_id
    return out


def _leave_out(body: dict[str, Any], name: str) -> None:
    """Drop a parameter, or give its value to the one that replaced it."""
    if name in body:
        value, instead = body.pop(name), _OPTIONAL[name]
        if instead is not None:
            body[instead] = value


def _refused_parameter(error: Any, body: Mapping[str, Any]) -> str | None:
    """The optional parameter of the body that the refusal names, if it names one."""
    named = getattr(error, "param", None)
    if isinstance(named, str) and named in _OPTIONAL and named in body:
        return named
    words = said(error)
    found = [(words.find(name), name) for name in _OPTIONAL if name in body and name in words]
    return min(found)[1] if found else None


def _first(data: Any) -> Mapping[str, Any]:
    """The first choice of a reply or of a piece of one, empty where there is none."""
    choices = data.get("choices") if isinstance(data, dict) else None
    if isinstance(choices, list) and choices and isinstance(choices[0], dict):
        return choices[0]
    return {}


def _string(value: Any) -> str:
    """Text as it is; the text parts of a list of parts; '' for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(
            part["text"]
            for part in value
            if isinstance(part, dict) and isinstance(part.get("text"), str)
        )
    return ""


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
