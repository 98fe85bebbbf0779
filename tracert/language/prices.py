"""What models cost: dollars for a million tokens by the model's name, and the cost of a run.

One table for chat models and embedding models (which write nothing, so that their second price
is 0). It begins with a few prices that providers listed, each with the month; a person
changes it as prices change. A model that is not in it has no known price, which is said and never
counted as nothing.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from tracert.errors import SettingError, StoreError
from tracert.trace import Cost
from tracert.whole import whole

SCHEMA: Final = "tracert.prices/1"
#: Models in a table, and the longest name.
MOST, LONGEST_NAME = 500, 200
#: Dollars for a million tokens beyond which a price is taken for a slip of the pen.
DEAREST: Final = 100_000.0
_FILE: Final = "prices.json"


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens sent (`prompt`) and written (`completion`), as of a month."""

    prompt: float
    completion: float = 0.0
    as_of: str = ""

    def of(self, prompt_tokens: int, completion_tokens: int) -> float:
        """What so many tokens cost, in dollars."""
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1e6


Prices = Mapping[str, Price]

#: Prices as OpenAI listed them; no other provider's, since theirs depend on who serves the model.
LISTED: Final[Prices] = {
    "gpt-4o": Price(2.50, 10.00, "2025-06"),
    "gpt-4o-mini": Price(0.15, 0.60, "2025-06"),
    "text-embedding-3-small": Price(0.02, 0.0, "2026-07"),
    "text-embedding-3-large": Price(0.13, 0.0, "2026-07"),
    "text-embedding-ada-002": Price(0.10, 0.0, "2026-07"),
}


def price_of(model: str, prices: Prices) -> Price | None:
    """The price of a model by its name, or by its name at OpenRouter; None where none is known."""
    return prices.get(model) or prices.get(model.removeprefix("openai/"))


def dollars(cost: Cost, model: str | None, prices: Prices) -> float | None:
    """What a run cost in dollars: tokens times price.

    0 where no model was asked; None where the model, its price or its tokens are unknown (some
    providers count none).
    """
    if not cost.model_calls:
        return 0.0
    price = None if model is None else price_of(model, prices)
    if price is None or not cost.prompt_tokens + cost.completion_tokens:
        return None
    return price.of(cost.prompt_tokens, cost.completion_tokens)


def checked(prices: Prices) -> dict[str, Price]:
    """The same table with names trimmed.

    Raises:
        SettingError: a name is empty or too long, or a price is no sensible number.
    """
    if len(prices) > MOST:
        raise SettingError(f"{len(prices)} prices are too many. Keep at most {MOST}.")
    table: dict[str, Price] = {}
    for name, price in prices.items():
        name = " ".join(name.split())
        if not 0 < len(name) <= LONGEST_NAME:
            raise SettingError(f"A model's name has 1 to {LONGEST_NAME} characters. Change it.")
        for value in (price.prompt, price.completion):
            if not (math.isfinite(value) and 0 <= value <= DEAREST):
                raise SettingError(
                    f"The price {value} of {name[:40]!r} is none. Type dollars for a million "
                    "tokens, 0 or more."
                )
        table[name] = price
    return table


def load(root: Path) -> dict[str, Price]:
    """The table kept in a data folder; the listed prices where there is none.

    Raises:
        SettingError: the file is damaged.
    """
    path = root / _FILE
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return dict(LISTED)
    try:
        data = json.loads(text)
        if data["schema"] != SCHEMA:
            raise ValueError(data["schema"])
        return checked(
            {
                str(name): Price(
                    float(each["prompt"]), float(each["completion"]), str(each["as_of"])[:40]
                )
                for name, each in data["prices"].items()
            }
        )
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise SettingError(
            f"The table of prices {path.name} in the data folder is damaged. Delete it; the listed "
            "prices stand in."
        ) from error


def save(prices: Prices, root: Path) -> dict[str, Price]:
    """Keep a table in a data folder, whole or not at all; gives it as kept.

    Raises:
        SettingError: a name or a price is unfit.
        StoreError: the file cannot be written.
    """
    table = checked(prices)
    data = {"schema": SCHEMA, "prices": {name: asdict(each) for name, each in table.items()}}
    path = root / _FILE
    try:
        root.mkdir(parents=True, exist_ok=True)
        with whole(path) as file:
            file.write(json.dumps(data, ensure_ascii=False, indent=1).encode())
    except OSError as error:
        raise StoreError(
            f"The prices cannot be saved ({error.strerror}). Make room in the data folder or set "
            "TRACERT_HOME to another one."
        ) from error
    return table
