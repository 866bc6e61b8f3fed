"""Sends requests, and retries them after transient failures."""

from __future__ import annotations

import email.utils
import json
import random
import re
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from http.client import HTTPException
from typing import Any, Literal, Mapping, Optional

from .errors import ApiError, ConnectionFailed, HeliographError, TimedOut

#: Retry policy of a request. "always": a repetition changes nothing, or the request has an idempotency key.
#: "refused": only after a response that rules out execution.
Repeats = Literal["always", "refused"]

_FIRST_PAUSE = 0.5
_PAUSE_MAX = 30.0
#: Codes of requests that the server did not execute, and that may succeed later.
_REFUSED = {
    "RATE_LIMITED",
    "OVERLOADED",
    "QUERY_QUEUE_FULL",
    "SERVICE_HELD",
    "STORAGE_FULL",
    "IDEMPOTENCY_IN_PROGRESS",
}
#: Status codes of failures that leave open whether the request was executed.
_FAILED = {408, 429, 500, 502, 503, 504}


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Refuses redirects: the API has none, and another host must not get the key."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        return None


class Transport:
    def __init__(self, base_url: str, api_key: str, timeout: float, max_retries: int) -> None:
        if not isinstance(base_url, str) or not base_url.lower().startswith(("http://", "https://")):
            raise HeliographError("base_url is the http or https address of the server.")
        # Checked here, because http.client prints an invalid header in its error, which would reveal the key.
        if not isinstance(api_key, str) or not re.fullmatch(r"[\x21-\x7e]+", api_key):
            raise HeliographError("api_key is a key such as hg_live_….")
        self._base_url = base_url.rstrip("/")
        self._api_key = api_key
        self._timeout = timeout
        self._max_retries = max_retries
        self._opener = urllib.request.build_opener(_NoRedirect)

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Mapping[str, Any]] = None,
        repeats: Repeats = "always",
        idempotency_key: Optional[str] = None,
    ) -> dict[str, Any]:
        attempt = 0
        while True:
            try:
                return self._once(method, path, query, body, idempotency_key)
            except HeliographError as error:
                if attempt >= self._max_retries or not _may_repeat(error, repeats):
                    raise
                time.sleep(_pause_after(error, attempt))
                attempt += 1

    def _once(
        self,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]],
        body: Optional[Mapping[str, Any]],
        idempotency_key: Optional[str],
    ) -> dict[str, Any]:
        headers = {"apikey": self._api_key, "accept": "application/json"}
        if body is not None:
            headers["content-type"] = "application/json"
        if idempotency_key is not None:
            headers["idempotency-key"] = idempotency_key
        data = None if body is None else json.dumps(body).encode()
        given = {name: _text(value) for name, value in (query or {}).items() if value is not None}
        url = self._base_url + path + (f"?{urllib.parse.urlencode(given)}" if given else "")
        request = urllib.request.Request(url, data=data, headers=headers, method=method)
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                return _read(response.status, response.headers, response.read())
        except urllib.error.HTTPError as error:
            with error:
                try:
                    answer = error.read()
                except (OSError, HTTPException):
                    answer = b""  # Only the status is known.
            return _read(error.code, error.headers, answer)
        except (TimeoutError, socket.timeout) as error:
            raise TimedOut(f"No answer came within {self._timeout} s.") from error
        except (OSError, HTTPException) as error:
            if isinstance(getattr(error, "reason", None), (TimeoutError, socket.timeout)):
                raise TimedOut(f"No answer came within {self._timeout} s.") from error
            raise ConnectionFailed("The server could not be reached, or the connection broke.") from error


def _text(value: Any) -> str:
    return ("true" if value else "false") if isinstance(value, bool) else str(value)


def _read(status: int, headers: Any, data: bytes) -> dict[str, Any]:
    try:
        body = json.loads(data)
    except ValueError:
        body = None  # The body is a proxy's own page, so only the status is known.
    if 200 <= status < 300 and isinstance(body, dict):
        return body
    error = body.get("error") if isinstance(body, dict) else None
    raise ApiError(status, error if isinstance(error, dict) else None, _retry_after(headers))


def _retry_after(headers: Any) -> Optional[float]:
    written = headers.get("retry-after")
    if written is None:
        return None
    if written.isdigit():
        return float(written)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(written).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _may_repeat(error: HeliographError, repeats: Repeats) -> bool:
    if isinstance(error, ConnectionFailed):
        return repeats == "always"
    # OTP limits are not retried: a code sent later would replace the one that the user is typing.
    if not isinstance(error, ApiError) or error.code.startswith("OTP_"):
        return False
    # Only short limits are waited for; the caller handles the others.
    is_worth_waiting = (error.retry_after or 0) <= _PAUSE_MAX
    is_safe = error.code in _REFUSED or (error.status in _FAILED and repeats == "always")
    return is_safe and is_worth_waiting


def _pause_after(error: HeliographError, attempt: int) -> float:
    """Exponential backoff with jitter, so that clients do not retry at the same time."""
    backoff = min(_FIRST_PAUSE * 2**attempt, _PAUSE_MAX) * random.uniform(0.5, 1.0)
    asked = error.retry_after if isinstance(error, ApiError) else None
    return max(backoff, asked or 0.0)
