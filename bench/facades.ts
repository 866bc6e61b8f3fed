// Durable accepts per second through the APIs of other products, as a ratio to POST /v1/sms in the same run, on the ordinary
// HTTP path of a node that only accepts. Target: at least 0.8. Many short measurements in alternating order: a stall of the
// disk or other work on the machine then falls into one of them.
// Run: npm run bench:facades [-- --seconds 0.5 --rounds 20 --connections 64]
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
    seconds: { type: "string", default: "0.5" },
    rounds: { type: "string", default: "20" },
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
/** The node does not send: its later work on one side's messages would slow down the other side. */
const env = { HELIOGRAPH_HTTP_FAST_PATH: "off", HELIOGRAPH_ROLES: "api", HELIOGRAPH_ACCEPT_BACKLOG: "200000" };
/** JIT compilation takes this long on slow cores. */
const WARM_UP_SECONDS = 3;

interface Sample {
  perSecond: number;
  cpuMicros: number;
}

const server = await startServer({ env });
try {
  const port = portOf(server);
  /** Rates depend on the machine's other work, and CPU time per request hardly. */
  const measure = async (request: string, seconds = SECONDS): Promise<Sample> => {
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
  const sides = [{ name: "/v1/sms", request: sms, samples: [] as Sample[] }];
  for (const { name, kind, request } of FACADES) sides.push({ name, request: request(await logIn(kind)), samples: [] });
  for (const { request } of sides) await measure(request, WARM_UP_SECONDS);
  for (let round = 0; round < Number(options.rounds); round += 1)
    for (const { request, samples } of round % 2 === 0 ? sides : sides.toReversed())
      samples.push(await measure(request));
  const medians = (samples: readonly Sample[]): Sample => ({
    perSecond: median(samples.map(({ perSecond }) => perSecond)),
    cpuMicros: median(samples.map(({ cpuMicros }) => cpuMicros)),
  });
  const [ours = [], ...theirs] = sides.map(({ samples }) => samples);
  const accept = medians(ours);
  const results = FACADES.map(({ name }, index) => {
    const samples = theirs[index] ?? [];
    const { perSecond, cpuMicros } = medians(samples);
    const ratioToSms = perSecond / accept.perSecond;
    const cpuRatioToSms = accept.cpuMicros / cpuMicros;
    print(
      `${name}: ${ratioToSms.toFixed(2)} of /v1/sms (target 0.8; ${perSecond.toFixed(0)} and ${accept.perSecond.toFixed(0)} per s), ${cpuRatioToSms.toFixed(2)} by CPU time (${cpuMicros.toFixed(0)} and ${accept.cpuMicros.toFixed(0)} µs)`,
    );
    const ratios = samples.map((one, round) => one.perSecond / (ours[round]?.perSecond ?? Number.NaN));
    return { name, ratioToSms, cpuRatioToSms, ratios };
  });
  await record("facades", { connections: CONNECTIONS, results });
} finally {
  generator.end();
  await server.cleanup();
}
