import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createLogin, type Login } from "../support/credential.ts";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { debianNetSds } from "../support/programmes.ts";
import { openSink, type Sink } from "../support/sink.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const SCRIPT = join(import.meta.dirname, "../support/netsds-client.pl");
const ACCEPTED = "0: Accepted for delivery";
let phones = 15_550_160_000;
const nextPhone = (): string => String((phones += 1));

describe.skipIf(debianNetSds() === undefined).each(ENGINES)(
  "Kannel's sendsms on %s, used by Perl's NetSDS::Kannel",
  (engine) => {
    let server: TestServer;
    let sink: Sink;
    let login: Login;

    beforeAll(async () => {
      server = await startTestServer(engine);
      sink = await openSink();
      login = await createLogin(server, "kannel");
    });
    afterAll(async () => {
      await sink?.close();
      await server?.close();
    });

    /** Sends messages with the parameters of the module, by Debian's own Perl, which has the package. */
    async function send(...messages: readonly Record<string, string | number>[]): Promise<(string | null)[]> {
      const child = spawn("/usr/bin/perl", [SCRIPT], { stdio: ["pipe", "pipe", "pipe"] });
      child.stdin.end(JSON.stringify({ ...login, url: `${server.url}/cgi-bin/sendsms`, messages }));
      const [out, failed] = await Promise.all([text(child.stdout), text(child.stderr)]);
      if (out === "") throw new Error(failed);
      return JSON.parse(out) as (string | null)[];
    }
    const arrived = (to: string) =>
      eventually(
        async () => (await server.onPhone(to))[0],
        (message) => message !== undefined,
      );

    test("a text arrives as it was written", async () => {
      const to = nextPhone();
      expect(await send({ from: "HELIOG", to, text: "Fish & chips for €5 = 100%" })).toEqual([ACCEPTED]);
      expect(await arrived(to)).toMatchObject({ sender: "HELIOG", text: "Fish & chips for €5 = 100%" });
    });

    test("several messages and receivers are sent, and a request without a text is refused", async () => {
      const [first, second, third] = [nextPhone(), nextPhone(), nextPhone()];
      const results = await send(
        { from: "HELIOG", to: `${first} ${second}`, text: "Both", priority: 3, smsc: "esme" },
        { from: "HELIOG", to: third, text: "One", mclass: 0 },
        { from: "HELIOG", to: third },
      );
      expect(results).toEqual([ACCEPTED, ACCEPTED, null]);
      for (const to of [first, second]) expect(await arrived(to)).toMatchObject({ text: "Both" });
      expect(await arrived(third)).toMatchObject({ text: "One", flash: true });
    });

    test("Unicode arrives, in a charset that the module names", async () => {
      const to = nextPhone();
      expect(await send({ from: "HELIOG", to, text: "Привет ✓", coding: 2, charset: "UTF-8" })).toEqual([ACCEPTED]);
      expect(await arrived(to)).toMatchObject({ text: "Привет ✓", encoding: "ucs2" });
    });

    test("a deferred message is queued for later", async () => {
      expect(await send({ from: "HELIOG", to: nextPhone(), text: "Later", deferred: 60, validity: 5 })).toEqual([
        "3: Queued for later delivery",
      ]);
    });

    test("the module's own dlr-url gets the report with the fields that its receiver reads", async () => {
      const to = nextPhone();
      await send({ from: "HELIOG", to, text: "Report", msgid: "4711", dlr_url: `${sink.url}/dlr`, dlr_mask: 1 });
      const [report] = await sink.until(1);
      const fields = Object.fromEntries(new URL(report?.path ?? "", sink.url).searchParams);
      expect(fields).toMatchObject({ type: "dlr", msgid: "4711", from: to, to: "HELIOG", dlr: "1" });
      expect(fields["dlrmsg"]).toContain("stat:DELIVRD");
    });
  },
);
