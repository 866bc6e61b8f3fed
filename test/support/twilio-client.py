"""Uses Debian's python3-twilio against a server in Twilio's place, and prints the results as JSON lines."""

import json
import re
import sys
from datetime import datetime, timedelta, timezone

from twilio.base.exceptions import TwilioRestException
from twilio.http.http_client import TwilioHttpClient
from twilio.request_validator import RequestValidator
from twilio.rest import Client

given = json.load(sys.stdin)

if "signature" in given:
    validator = RequestValidator(given["password"])
    print(json.dumps(validator.validate(given["callbackUrl"], given["fields"], given["signature"])))
    sys.exit()


class ClientHere(TwilioHttpClient):
    def request(self, method, url, *args, **kwargs):
        return super().request(method, re.sub(r"^https://[^/]+", given["url"], url), *args, **kwargs)


client = Client(given["username"], given["password"], http_client=ClientHere())


def tell(name, value):
    print(json.dumps({"name": name, "value": value}), flush=True)


def refused(call):
    try:
        call()
    except TwilioRestException as error:
        return [error.status, error.code]
    return None


sent = client.messages.create(
    to="+15550100100", from_="HELIOG", body="From Python", status_callback=given["statusCallback"]
)
tell("sent", [sent.status, sent.body, sent.sid])
tell("fetched", client.messages(sent.sid).fetch().body)
for text in ("two", "three"):
    client.messages.create(to="+15550100100", from_="HELIOG", body=text)
tell("listed", [message.body for message in client.messages.list(to="+15550100100", page_size=2)])
later = client.messages.create(
    to="+15550100100",
    from_="HELIOG",
    body="Later",
    schedule_type="fixed",
    send_at=datetime.now(timezone.utc) + timedelta(hours=1),
)
tell("cancelled", client.messages(later.sid).update(status="canceled").status)
tell("refused", refused(lambda: client.messages.create(to="12", from_="HELIOG", body="x")))

service = client.verify.services(given["service"])
service.verifications.create(to="+15550100101", channel="sms", custom_code="135790")
tell("wrong", service.verification_checks.create(to="+15550100101", code="000000").status)
tell("checked", service.verification_checks.create(to="+15550100101", code="135790").status)

everywhere = client.verify.services(given["allChannels"])
for channel, to in (("whatsapp", "+15550100102"), ("rcs", "+15550100103")):
    started = everywhere.verifications.create(to=to, channel=channel, custom_code="246800")
    checked = everywhere.verification_checks.create(to=to, code="246800")
    tell(channel, [started.channel, started.status, checked.channel, checked.status])
