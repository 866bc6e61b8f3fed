import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLogin, type Login } from "../support/credential.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { canTestWith, debianTwilio } from "../support/programmes.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { openTwilioSink, type TwilioSink } from "../support/twilio-sink.ts";
import { createVerifyService } from "../support/verify-service.ts";

const SCRIPT = join(import.meta.dirname, "../support/twilio-client.py");

/** Runs the script with Debian's own Python, which has the package. */
async function python(given: object): Promise<unknown[]> {
  const child = spawn("/usr/bin/python3", [SCRIPT], { stdio: ["pipe", "pipe", "pipe"] });
  child.stdin.end(JSON.stringify(given));
  const [out, failed, code] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    new Promise<number | null>((resolve) => child.on("exit", resolve)),
  ]);
  if (code !== 0) throw new Error(failed);
  return out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as unknown);
}

describe.runIf(canTestWith(debianTwilio(), "python3-twilio")).each(ENGINES)(
  "the Twilio API on %s, used by python3-twilio",
  (engine) => {
    let server: TestServer;
    let sink: TwilioSink;
    let login: Login;

    beforeAll(async () => {
      server = await startTestServer(engine);
      sink = await openTwilioSink();
      login = await createLogin(server, "twilio");
    });
    afterAll(async () => {
      await sink?.close();
      await server?.close();
    });

    test("messages are sent, listed, fetched and cancelled, a number is verified, and a callback's signature is valid", async () => {
      const { body } = await server.request<{ data: { name: string; twilioSid: string }[] }>(
        "GET",
        "/api/verify-configs",
      );
      const service = body.data.find(({ name }) => name === "default")?.twilioSid;
      const statusCallback = `${sink.url}/status`;
      const allChannels = await createVerifyService(server);
      const told = await python({ ...login, url: server.url, service, allChannels, statusCallback });
      expect(told).toEqual([
        { name: "sent", value: ["queued", "From Python", expect.stringMatching(/^SM[0-9a-f]{32}$/)] },
        { name: "fetched", value: "From Python" },
        { name: "listed", value: ["three", "two", "From Python"] },
        { name: "cancelled", value: "canceled" },
        { name: "refused", value: [400, 21211] },
        { name: "wrong", value: "pending" },
        { name: "checked", value: "approved" },
        { name: "whatsapp", value: ["whatsapp", "pending", "whatsapp", "approved"] },
        { name: "rcs", value: ["rcs", "pending", "rcs", "approved"] },
      ]);
      const [first] = await eventually(
        () => sink.calls,
        ({ length }) => length === 3,
      );
      const { url: callbackUrl, signature, fields } = first ?? {};
      expect(await python({ ...login, callbackUrl, signature, fields })).toEqual([true]);
      expect(await python({ ...login, callbackUrl, signature, fields: { ...fields, To: "+1" } })).toEqual([false]);
    });
  },
);
