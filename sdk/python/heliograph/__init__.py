"""Client for Heliograph. It needs only Python's standard library."""

from .client import Client
from .errors import ApiError, ConnectionFailed, HeliographError, TimedOut, WebhookVerificationError
from .webhook import verify_webhook

__all__ = [
    "ApiError",
    "Client",
    "ConnectionFailed",
    "HeliographError",
    "TimedOut",
    "WebhookVerificationError",
    "verify_webhook",
]
__version__ = "0.1.0"
