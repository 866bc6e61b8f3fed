"""The operations of one Heliograph server."""

from __future__ import annotations

import base64
import urllib.parse
import uuid
from datetime import datetime
from typing import Any, Iterator, Optional, Union

from .transport import Transport

Answer = dict[str, Any]


class Client:
    """Client of one Heliograph server with one API key. Fields have the names of the API."""

    def __init__(self, base_url: str, api_key: str, *, timeout: float = 30.0, max_retries: int = 3) -> None:
        transport = Transport(base_url, api_key, timeout, max_retries)
        self.sms = Sms(transport)
        self.rcs = Rcs(transport)
        self.chatapp = ChatApp(transport)
        self.messages = Messages(transport)
        self.verify = Verify(transport)
        self.inbound = Inbound(transport)
        self.events = Events(transport)
        self.audiences = Audiences(transport)
        self.campaigns = Campaigns(transport)


class _Resource:
    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _send(self, path: str, body: Answer, idempotency_key: Optional[str]) -> Answer:
        # One key for all attempts of the call.
        key = idempotency_key or str(uuid.uuid4())
        return self._transport.call("POST", path, body=body, idempotency_key=key)

    def _pages(self, path: str, query: Answer) -> Iterator[Answer]:
        query = {**query}
        while True:
            page = self._transport.call("GET", path, query=query)
            yield from page["data"]
            if page["nextCursor"] is None:
                return
            query["cursor"] = page["nextCursor"]


class Sms(_Resource):
    def send(self, *, idempotency_key: Optional[str] = None, **message: Any) -> Answer:
        """Sends a text message to one or more recipients: `sender`, `to`, `text`, `type`, …"""
        return self._send("/v1/sms", message, idempotency_key)

    def preview(self, **message: Any) -> Answer:
        """Text, segments, price and policy decisions of a message; sends nothing."""
        return self._transport.call("POST", "/v1/sms/preview", body=message)


class Rcs(_Resource):
    def send(self, *, idempotency_key: Optional[str] = None, **message: Any) -> Answer:
        """Sends an RCS message by a bot: `botId`, `number`, `type`, `templateName`, …"""
        return self._send("/v1/rcs", message, idempotency_key)

    def preview(self, **message: Any) -> Answer:
        """Price, policy decisions and routes of every recipient; sends nothing."""
        return self._transport.call("POST", "/v1/rcs/preview", body=message)


class ChatApp(_Resource):
    def send(self, *, idempotency_key: Optional[str] = None, **message: Any) -> Answer:
        """Sends a template message, or a free text. `from` is a keyword of Python: pass it as `**{"from": "+…"}`."""
        return self._send("/v1/chatapp", message, idempotency_key)

    def preview(self, **message: Any) -> Answer:
        """Price, policy decisions and routes of every recipient; sends nothing."""
        return self._transport.call("POST", "/v1/chatapp/preview", body=message)


class Messages(_Resource):
    def send(self, *, idempotency_key: Optional[str] = None, **message: Any) -> Answer:
        """Sends one message by several channels in order: `to`, `type`, `ways`, …"""
        return self._send("/v1/messages", message, idempotency_key)

    def get(self, message_id: str) -> Answer:
        """A message with its timeline."""
        return self._transport.call("GET", f"/v1/messages/{_segment('message_id', message_id)}")

    def list(self, **filters: Any) -> Iterator[Answer]:
        """Messages, newest first, fetched page by page while they are read."""
        return self._pages("/v1/messages", filters)

    def cancel(self, message_id: str) -> Answer:
        """Cancels a message, or all messages of a send, unless a carrier already has them."""
        return self._transport.call("POST", f"/v1/messages/{_segment('message_id', message_id)}/cancel")


class Verify(_Resource):
    def start(self, *, idempotency_key: Optional[str] = None, **request: Any) -> Answer:
        """Sends a one-time password: `configId`, `to`, … Pass the `verifyId` of the response to `check`."""
        answer = self._send("/v1/verify", request, idempotency_key)
        return {**answer, "verifyId": answer["data"]}

    def check(self, **request: Any) -> Answer:
        """Checks a code: `verifyId`, `otp`. A wrong one raises an ApiError with the code OTP_INCORRECT."""
        # Retrying after a lost response would use up another attempt.
        answer = self._transport.call("POST", "/v1/verify/validate", body=request, repeats="refused")
        return {**answer, "verifyId": answer["data"], "verified": True}

    def get(self, verify_id: str) -> Answer:
        """The state of a verification, never its code."""
        return self._transport.call("GET", f"/v1/verify/{_segment('verify_id', verify_id)}")

    def outcome(self, verify_id: str, outcome: str) -> Answer:
        """Reports whether a code that your own product checked was `used` or `not-used`."""
        path = f"/v1/verify/{_segment('verify_id', verify_id)}/outcome"
        return self._transport.call("POST", path, body={"outcome": outcome}, repeats="refused")


class Inbound(_Resource):
    def list(self, **filters: Any) -> Iterator[Answer]:
        """Messages from users, newest first."""
        return self._pages("/v1/inbound", filters)

    def get(self, inbound_id: str) -> Answer:
        return self._transport.call("GET", f"/v1/inbound/{_segment('inbound_id', inbound_id)}")

    def mark_read(self, inbound_id: str, typing: bool = False) -> Answer:
        """Shows the user of the chat app that the message was read, and perhaps that an answer is being typed."""
        path = f"/v1/inbound/{_segment('inbound_id', inbound_id)}/read"
        return self._transport.call("POST", path, body={"typing": typing}, repeats="refused")


class Events(_Resource):
    def page(self, **query: Any) -> Answer:
        """Events after a cursor, oldest first. Store `nextCursor`, which empty pages have too."""
        return self._transport.call("GET", "/v1/events", query=query)


_PART_BYTES = 786_432  # The server takes parts of at most 1 MiB.


class Audiences(_Resource):
    def upload(self, *, file: Union[str, bytes], **audience: Any) -> Answer:
        """Uploads a CSV file: `name`, `file`, `mapping`. Read the audience until its state is `ready`."""
        content = file.encode() if isinstance(file, str) else bytes(file)
        body = {**audience, "size": len(content)}
        made = self._transport.call("POST", "/v1/audiences", body=body, repeats="refused")
        path = f"/v1/audiences/{_segment('id', made['id'])}/parts"
        for offset in range(0, len(content), _PART_BYTES):
            # The server knows a part that it has stored, so a repetition changes nothing.
            part = base64.b64encode(content[offset : offset + _PART_BYTES]).decode()
            made = self._transport.call("POST", path, body={"offset": offset, "base64": part})
        return made

    def get(self, audience_id: str) -> Answer:
        return self._transport.call("GET", f"/v1/audiences/{_segment('audience_id', audience_id)}")

    def list(self, **filters: Any) -> Iterator[Answer]:
        """Audiences, newest first."""
        return self._pages("/v1/audiences", filters)


class Campaigns(_Resource):
    def create(self, **campaign: Any) -> Answer:
        """Creates a draft: `name`, `type`, `sender`, `audienceId`, `text`, … It sends nothing before `start`."""
        return self._transport.call("POST", "/v1/campaigns", body=campaign, repeats="refused")

    def get(self, campaign_id: str) -> Answer:
        return self._transport.call("GET", f"/v1/campaigns/{_segment('campaign_id', campaign_id)}")

    def list(self, **filters: Any) -> Iterator[Answer]:
        """Campaigns to audiences, newest first."""
        return self._pages("/v1/campaigns", filters)

    def start(self, campaign_id: str) -> Answer:
        return self._act(campaign_id, "start", {})

    def schedule(self, campaign_id: str, at: datetime) -> Answer:
        """Starts it at a time within the next 30 days. A time without a zone is local."""
        return self._act(campaign_id, "schedule", {"scheduledAt": int(at.timestamp() * 1000)})

    def pause(self, campaign_id: str) -> Answer:
        return self._act(campaign_id, "pause", {})

    def resume(self, campaign_id: str) -> Answer:
        return self._act(campaign_id, "resume", {})

    def cancel(self, campaign_id: str) -> Answer:
        """Stops it for good. Messages that a carrier has are still delivered."""
        return self._act(campaign_id, "cancel", {})

    def report(self, campaign_id: str) -> Answer:
        """Its messages by status, and the rows that were left out."""
        return self._transport.call("GET", f"/v1/campaigns/{_segment('campaign_id', campaign_id)}/report")

    def _act(self, campaign_id: str, action: str, body: Answer) -> Answer:
        path = f"/v1/campaigns/{_segment('campaign_id', campaign_id)}/{action}"
        return self._transport.call("POST", path, body=body, repeats="refused")


def _segment(name: str, value: str) -> str:
    """An id as a path segment. An empty one would address another operation."""
    if not isinstance(value, str) or not value:
        raise ValueError(f"{name} is a text that is not empty.")
    return urllib.parse.quote(value, safe="")
