"""Errors of the client."""

from __future__ import annotations

from typing import Any, Optional


class HeliographError(Exception):
    """Every error of this client."""


class ApiError(HeliographError):
    """The server refused the request: branch on `code`."""

    def __init__(self, status: int, error: Optional[dict[str, Any]], retry_after: Optional[float]) -> None:
        error = error or {}
        super().__init__(error.get("message") or f"The server answered {status} without a description.")
        self.status = status
        #: Stable: codes may be added, but do not change their meaning.
        self.code: str = error.get("code") or "UNKNOWN"
        self.type: str = error.get("type") or "server"
        #: The first invalid field, such as `to[1]`.
        self.parameter: Optional[str] = error.get("parameter")
        #: Every invalid field with its requirement.
        self.details: list[dict[str, str]] = error.get("details") or []
        #: The page about this code, with cause and fix.
        self.reference: Optional[str] = error.get("reference")
        #: Request ID for the operator, as in the request log.
        self.request_id: Optional[str] = error.get("requestId")
        #: Remaining attempts after a wrong one-time password.
        self.attempts_remaining: Optional[int] = error.get("attemptsRemaining")
        #: Seconds that the server asks to wait before the next attempt.
        self.retry_after = retry_after


class ConnectionFailed(HeliographError):
    """No response arrived, so the request may have been executed. Repeat it with the same idempotency key."""


class TimedOut(ConnectionFailed):
    """No response arrived in time."""


class WebhookVerificationError(HeliographError):
    """The signature, time or body of a webhook is invalid: respond with 400 and do nothing else."""
