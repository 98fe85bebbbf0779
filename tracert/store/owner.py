"""As whom a store is opened: what that one sees, may change, and has room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tracert.errors import CorpusError
from tracert.hosting import Room
from tracert.store.records import CorpusRecord, regular


@dataclass(frozen=True, slots=True)
class Owner:
    """Who has corpora: the host, whose name is '', or a visitor (`tracert.hosting`).

    `room` bounds what may be had, None bounds nothing.
    """

    name: str = ""
    room: Room | None = None

    def sees(self, record: CorpusRecord) -> bool:
        """Whether this owner may read a corpus: one's own and the host's."""
        return record.owner in ("", self.name)

    def has(self, record: CorpusRecord) -> bool:
        """Whether a corpus is this owner's, to change and to delete."""
        return record.owner == self.name

    def check_mine(self, record: CorpusRecord) -> None:
        """Refuse what another owner has: a visitor reads the host's corpora and no more.

        Raises:
            CorpusError: it is not this owner's.
        """
        if not self.has(record):
            raise CorpusError(
                f"{record.name!r} belongs to the host of this app, for everyone to read. Load "
                "your documents under another name."
            )

    def check_room(self, name: str, passages: int, everyones: Sequence[CorpusRecord]) -> None:
        """Refuse a corpus of that name and size where it does not fit any more.

        Raises:
            CorpusError: the owner has too many corpora or passages, or all owners have.
        """
        if self.room is None:
            return
        wanted = regular(name)
        visitors = [
            each
            for each in everyones
            if each.owner and (each.owner, regular(each.name)) != (self.name, wanted)
        ]
        own = [each for each in visitors if self.has(each)]
        if len(own) + 1 > self.room.corpora:
            raise CorpusError(
                f"In this app you may have {self.room.corpora} corpora at once. Delete one of "
                "yours in the Library first."
            )
        if sum(each.size for each in own) + passages > self.room.passages:
            raise CorpusError(
                f"In this app you may have {self.room.passages:,} passages at once, and this "
                "would be more. Load less, or delete a corpus of yours in the Library first."
            )
        if sum(each.size for each in visitors) + passages > self.room.all_passages:
            raise CorpusError(
                "The room of this app for its visitors' documents is used up. Come back later, "
                "or run Tracert on your own machine."
            )
