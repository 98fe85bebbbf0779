"""Office files that are encrypted with a password: what is in them, as the file that was sealed.

See docs/decisions/0083.
"""

from __future__ import annotations

import io
import logging
import struct
from typing import Final
from xml.parsers.expat import ExpatError

from tracert.corpus.zipped import is_zip
from tracert.errors import DocumentError, PasswordError

#: How a container of Microsoft's compound format (OLE) begins.
OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
#: Its streams that hold the sealed file and how it was sealed, as its directory names them.
_PACKAGE: Final = "EncryptedPackage".encode("utf-16-le")
_INFO: Final = "EncryptionInfo".encode("utf-16-le")
#: What msoffcrypto and olefile let out on damaged files besides their own errors.
_DAMAGE: Final = (
    ArithmeticError,
    AttributeError,
    ExpatError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
)


def unsealed(data: bytes, name: str, password: str) -> bytes:
    """The office file that an encrypted one holds; any other file as it is.

    Raises:
        PasswordError: it is encrypted and the password is missing or wrong.
        DocumentError: it is damaged, or encrypted in a way that is not known.
    """
    if not (data.startswith(OLE) and _PACKAGE in data and _INFO in data):
        return data
    if not password:
        raise PasswordError(f"{name} is protected by a password. Give the password to read it.")
    from cryptography.exceptions import UnsupportedAlgorithm
    from msoffcrypto.exceptions import (
        DecryptionError,
        FileFormatError,
        InvalidKeyError,
        ParseError,
    )
    from msoffcrypto.format.ooxml import OOXMLFile

    # At level DEBUG it writes the password into the log.
    logging.getLogger("msoffcrypto").setLevel(logging.WARNING)
    plain = io.BytesIO()
    try:
        sealed = OOXMLFile(io.BytesIO(data))
        try:
            sealed.load_key(password=password, verify_password=True)
        except InvalidKeyError as error:
            raise PasswordError(
                f"This is not the password of {name}. Check it and give it again."
            ) from error
        sealed.decrypt(plain)
    except InvalidKeyError as error:
        # The password fits, and what was sealed has no end: what is there of it is read.
        if not is_zip(plain.getvalue()):
            raise _damaged(name) from error
    except (DecryptionError, FileFormatError, ParseError, UnsupportedAlgorithm, *_DAMAGE) as error:
        raise _damaged(name) from error
    return plain.getvalue()


def _damaged(name: str) -> DocumentError:
    return DocumentError(
        f"{name} is protected by a password and damaged, or locked in a way that is not known "
        "here. Open it in the program that made it and save a copy without the password."
    )
