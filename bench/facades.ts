// Durable accepts per second through the APIs of other products, as a ratio to POST /v1/sms in the same run, on the ordinary
// HTTP path. Target: at least 0.8.
// Run: npm run bench:facades [-- --seconds 3 --rounds 5 --connections 64]
import { parseArgs } from "node:util";
import type { CredentialKind } from "../src/model/credential.ts";
import { startServer } from "../test/support/server-process.ts";
import { portOf } from "./api-client.ts";
import { cpuMsOf } from "./filled-store.ts";
import type { Load, Measured } from "./generator.ts";
import { LoadProcess } from "./load-process.ts";
import { record } from "./record.ts";
import { median, print } from "./report.ts";
import { sendRequest, TEXT } from "./requests.ts";

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "3" },
    rounds: { type: "string", default: "5" },
    connections: { type: "string", default: "64" },
  },
});
const SECONDS = Number(options.seconds);
const CONNECTIONS = Number(options.connections);
const PHONE = "15550100100";
const SENDER = "HELIOG";

interface Login {
  username: string;
  password: string;
}

interface Facade {
  name: string;
  kind: CredentialKind;
  /** The bytes of one send. */
  request(login: Login): string;
}

const basic = ({ username, password }: Login): string => `authorization: Basic ${btoa(`${username}:${password}`)}`;

const get = (path: string, query: Record<string, string>): string =>
  `GET ${path}?${new URLSearchParams(query).toString()} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n`;

const post = (path: string, login: Login, type: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\n${basic(login)}\r\ncontent-type: ${type}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;

const FACADES: readonly Facade[] = [
  {
    name: "Twilio",
    kind: "twilio",
    request: (login) =>
      post(
        `/2010-04-01/Accounts/${login.username}/Messages.json`,
        login,
        "application/x-www-form-urlencoded",
        new URLSearchParams({ To: `+${PHONE}`, From: SENDER, Body: TEXT }).toString(),
      ),
  },
  {
    name: "Kannel",
    kind: "kannel",
    request: (login) => get("/cgi-bin/sendsms", { ...login, from: SENDER, to: PHONE, text: TEXT }),
  },
  {
    name: "Jasmin, HTTP",
    kind: "jasmin",
    request: (login) => get("/send", { ...login, from: SENDER, to: PHONE, content: TEXT }),
  },
  {
    name: "Jasmin, REST",
    kind: "jasmin",
    request: (login) =>
      post("/secure/send", login, "application/json", JSON.stringify({ from: SENDER, to: PHONE, content: TEXT })),
  },
];

const generator = new LoadProcess<Load, Measured>("generator.ts");
const server = await startServer({ env: { HELIOGRAPH_HTTP_FAST_PATH: "off" } });
try {
  const port = portOf(server);
  /** Rates depend on the machine's other work, and CPU time per request hardly. */
  const measure = async (request: string, seconds = SECONDS): Promise<{ perSecond: number; cpuMicros: number }> => {
    const before = await cpuMsOf([server.pid]);
    const { perSecond, answers } = await generator.measure({ port, connections: CONNECTIONS, seconds, request });
    return { perSecond, cpuMicros: (1000 * ((await cpuMsOf([server.pid])) - before)) / answers };
  };
  const headers = { apikey: server.apiKey, "content-type": "application/json" };
  // The load is one text to one number, so the filter would match every message.
  await fetch(`${server.baseUrl}/api/account`, { method: "PATCH", headers, body: JSON.stringify({ sameText: null }) });
  const logIn = async (kind: CredentialKind): Promise<Login> => {
    const body = JSON.stringify({ kind, name: "bench" });
    const made = await fetch(`${server.baseUrl}/api/credentials`, { method: "POST", headers, body });
    const { username, password } = (await made.json()) as Login;
    return { username, password };
  };
  const sms = sendRequest(server.apiKey, "TRANS");
  await measure(sms, 1);
  const results: { name: string; ratioToSms: number; cpuRatioToSms: number; ratios: readonly number[] }[] = [];
  for (const { name, kind, request } of FACADES) {
    const written = request(await logIn(kind));
    await measure(written, 1);
    const ratios: number[] = [];
    const cpuRatios: number[] = [];
    for (let round = 1; round <= Number(options.rounds); round += 1) {
      const ours = await measure(sms);
      const theirs = await measure(written);
      const ratio = theirs.perSecond / ours.perSecond;
      const cpuRatio = ours.cpuMicros / theirs.cpuMicros;
      ratios.push(ratio);
      cpuRatios.push(cpuRatio);
      print(
        `  ${name}, round ${round}: ${ratio.toFixed(2)} of /v1/sms (${theirs.perSecond.toFixed(0)} and ${ours.perSecond.toFixed(0)} per s), ${cpuRatio.toFixed(2)} by CPU time (${theirs.cpuMicros.toFixed(0)} and ${ours.cpuMicros.toFixed(0)} µs)`,
      );
    }
    print(`${name}: ${median(ratios).toFixed(2)} of /v1/sms (target 0.8), ${median(cpuRatios).toFixed(2)} by CPU time`);
    results.push({ name, ratioToSms: median(ratios), cpuRatioToSms: median(cpuRatios), ratios });
  }
  await record("facades", { connections: CONNECTIONS, results });
} finally {
  generator.end();
  await server.cleanup();
}
