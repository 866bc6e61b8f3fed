"""Verification of webhooks (Standard Webhooks)."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
import urllib.parse
from typing import Any, Mapping, Optional, Sequence, Union

from .errors import WebhookVerificationError

_PREFIX = "whsec_"
_KEY_BYTES_MIN = 16


def verify_webhook(
    secret: Union[str, Sequence[str]],
    headers: Mapping[str, str],
    body: Union[str, bytes],
    *,
    tolerance: float = 300,
    now: Optional[float] = None,
) -> dict[str, Any]:
    """Verifies the signature of a webhook and returns its payload.

    `body` is the raw body, not parsed. For a delivery report by GET it is the query string without the
    question mark. `secret` may be a list during a rotation.
    """
    given = {name.lower(): value for name, value in headers.items()}
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        if not given.get(name):
            raise WebhookVerificationError(f"The header {name} is missing.")
    timestamp = given["webhook-timestamp"]
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
        raise WebhookVerificationError("The header webhook-timestamp is no time.")
    if abs((time.time() if now is None else now) - int(timestamp)) > tolerance:
        raise WebhookVerificationError("The webhook is too old, or its time is in the future.")
    raw = body.encode() if isinstance(body, str) else bytes(body)
    # Some servers pass header bytes that are not UTF-8 in this form.
    content = f"{given['webhook-id']}.{timestamp}.".encode("utf-8", "surrogateescape") + raw
    for one in [secret] if isinstance(secret, str) else secret:
        expected = base64.b64encode(hmac.new(_key(one), content, hashlib.sha256).digest())
        for signature in given["webhook-signature"].split(" "):
            version, _, value = signature.partition(",")
            if version == "v1" and hmac.compare_digest(expected, value.encode("utf-8", "surrogateescape")):
                return _parse(raw)
    raise WebhookVerificationError("No signature matches: the secret is another one, or the body was changed.")


def _key(secret: str) -> bytes:
    try:
        key = base64.b64decode(secret[len(_PREFIX) :], validate=True) if secret.startswith(_PREFIX) else b""
    except (binascii.Error, ValueError):
        key = b""
    if len(key) < _KEY_BYTES_MIN:  # With an empty key any caller could compute a valid signature.
        raise ValueError("secret is the signing secret of the endpoint, whsec_….")
    return key


def _parse(raw: bytes) -> dict[str, Any]:
    """A JSON body, or the query string of a delivery report by GET."""
    try:
        text = raw.decode()
        if not text.startswith("{"):
            return dict(urllib.parse.parse_qsl(text, keep_blank_values=True))
        return json.loads(text)
    except ValueError as error:
        raise WebhookVerificationError("The body is no JSON.") from error
