"""Runs operations of the Python client that are read from standard input, and prints their results as JSON lines."""

import json
import sys

import heliograph
from heliograph import transport

given = json.load(sys.stdin)
transport.time.sleep = lambda seconds: print(json.dumps({"paused": round(seconds, 1)}))
client = heliograph.Client(given["url"], given["key"], timeout=given.get("timeout", 30))

for step in given["steps"]:
    target, operation = step["call"].split(".")
    try:
        result = getattr(getattr(client, target), operation)(*step.get("args", []), **step.get("kwargs", {}))
        print(json.dumps({"result": result if isinstance(result, dict) else list(result)}))
    except heliograph.ApiError as error:
        facts = ("status", "code", "parameter", "request_id", "attempts_remaining", "retry_after")
        print(json.dumps({"error": {name: getattr(error, name) for name in facts}}))
    except heliograph.HeliographError as error:
        print(json.dumps({"error": type(error).__name__}))

for webhook in given.get("webhooks", []):
    secret, headers, body = webhook["secret"], webhook["headers"], webhook["body"]
    try:
        print(json.dumps({"result": heliograph.verify_webhook(secret, headers, body, now=webhook["now"])}))
    except (heliograph.WebhookVerificationError, ValueError) as error:
        print(json.dumps({"error": type(error).__name__}))
