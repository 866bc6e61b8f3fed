// Messages per second through each HTTP carrier against a fake platform in its own process, as a ratio to a bare undici
// Pool that sends the same bytes to the same fake with the same concurrency.
// Run: npm run bench:platforms [-- --seconds 2 --rounds 7 --inflight 64]
import { fork, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Pool } from "undici";
import type { Carrier } from "../src/carriers/carrier.ts";
import { createHttpCarrier } from "../src/carriers/http/carrier.ts";
import { createRbmCarrier } from "../src/carriers/rbm/carrier.ts";
import { createWhatsappCarrier } from "../src/carriers/whatsapp/carrier.ts";
import { EgressRules } from "../src/egress/addresses.ts";
import { createGuardedClient } from "../src/egress/guarded-connect.ts";
import type { HttpSender } from "../src/http-client/client.ts";
import type { OutgoingRequest, Target } from "../src/http-client/write-request.ts";
import { systemClock } from "../src/lib/clock.ts";
import { createLog } from "../src/lib/log.ts";
import { HTTP_DEFAULTS } from "../src/model/http-connection.ts";
import { PRESETS } from "../src/model/http-presets.ts";
import type { Message, MessageContent } from "../src/model/message.ts";
import { RBM_DEFAULTS } from "../src/model/rbm-connection.ts";
import { WHATSAPP_DEFAULTS } from "../src/model/whatsapp-connection.ts";
import { ACCOUNT } from "../test/support/fake-gateway.ts";
import { FAKE_DEFAULTS } from "../test/support/fake-whatsapp.ts";
import { median, print } from "./report.ts";
import { record } from "./record.ts";
import { noMedia } from "../test/support/media-files.ts";
import { sampleMessage } from "../test/support/message.ts";

const { values: options } = parseArgs({
  options: {
    seconds: { type: "string", default: "2" },
    rounds: { type: "string", default: "7" },
    /** Concurrent requests on both sides. */
    inflight: { type: "string", default: "64" },
  },
});
const SECONDS = Number(options.seconds);
const ROUNDS = Number(options.rounds);
const IN_FLIGHT = Number(options.inflight);

const egress = createGuardedClient({ rules: new EgressRules({ allow: [], loopback: true }), clock: systemClock });
const children: ChildProcess[] = [];

/** Starts a fake and returns the line in which it prints its address. */
async function startFake(file: string, ...args: string[]): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, "../test/support", file), ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  return line.toString("utf8").trim();
}

const sink = fork(join(import.meta.dirname, "sink.ts"));
const [{ port: sinkPort }] = (await once(sink, "message")) as [AddressInfo];

const common = {
  name: "1/bench",
  accountId: 1,
  messagesPerSecond: () => null,
  callbackUrl: () => `http://127.0.0.1:${sinkPort}/hooks/1`,
  onInbound: async () => {},
  clock: systemClock,
  log: createLog("error"),
  metrics: { carrierErrors: () => ({ inc: () => {} }) },
};

/** The fakes choose the outcome of a message by the last digits of its number. */
const REACHABLE = "000";
let phones = 15_560_000_000;
const messageOf = (channel: Message["channel"], sender: string, content: MessageContent): Message =>
  sampleMessage({ channel, sender, recipient: `${(phones += 1)}${REACHABLE}`, content, attempts: 1 });

interface Bench {
  name: string;
  open(egress: HttpSender): Carrier;
  message(): Message;
}

async function benches(): Promise<Bench[]> {
  const graph = await startFake("fake-whatsapp-process.ts");
  const rbm = JSON.parse(await startFake("fake-rbm.ts", "shop")) as Record<
    "url" | "serviceAccount" | "clientToken",
    string
  >;
  const gateway = await startFake("fake-gateway-process.ts");
  const { token, appSecret, phoneNumberIds } = FAKE_DEFAULTS;
  const text = "Your order 4711 is on its way and will be with you tomorrow.";
  return [
    {
      name: "WhatsApp",
      open: (client) =>
        createWhatsappCarrier({
          ...common,
          media: noMedia(),
          egress: client,
          settings: {
            ...WHATSAPP_DEFAULTS,
            baseUrl: graph,
            phoneNumberId: phoneNumberIds[0] ?? null,
            connections: IN_FLIGHT,
          },
          secrets: { token, appSecret, verifyToken: null },
          phoneNumberOf: () => null,
          templateOf: () => null,
        }),
      message: () =>
        messageOf("chatapp", "+15550783881", {
          kind: "template",
          templateName: "order_shipped",
          language: "en",
          header: null,
          text,
          footer: null,
          buttons: [],
          params: ["Ada", "4711"],
        }),
    },
    {
      name: "RCS for Business",
      open: (client) =>
        createRbmCarrier({
          ...common,
          media: noMedia(),
          egress: client,
          settings: {
            ...RBM_DEFAULTS,
            clientEmail: "",
            baseUrl: rbm.url,
            capabilityCheck: false,
            connections: IN_FLIGHT,
          },
          secrets: { serviceAccount: rbm.serviceAccount, clientToken: rbm.clientToken },
          agentOf: (botId) => botId,
          botOf: (agentId) => agentId,
          onOptOut: async () => {},
          onOptIn: async () => {},
        }),
      message: () =>
        messageOf("rcs", "shop", {
          botId: "shop",
          templateName: "order-shipped",
          kind: "text",
          text,
          suggestions: [],
          cards: [],
          params: ["Ada", "4711"],
        }),
    },
    {
      name: "HTTP, Twilio's form",
      open: (client) =>
        createHttpCarrier({
          ...common,
          egress: client,
          settings: {
            ...HTTP_DEFAULTS,
            ...PRESETS.twilio,
            preset: "twilio",
            baseUrl: gateway,
            values: { accountSid: ACCOUNT.name },
            requestsMax: IN_FLIGHT,
          },
          secrets: { authToken: ACCOUNT.secret, callback: "0123456789abcdefghij" },
        }),
      message: () => messageOf("sms", "HELIOG", { text, encoding: "gsm7", flash: false }),
    },
  ];
}

/** One loop per concurrent request until the time is over. */
async function perSecond(sendOne: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  const endsAt = startedAt + SECONDS * 1000;
  let sent = 0;
  const loop = async (): Promise<void> => {
    while (performance.now() < endsAt) {
      await sendOne();
      sent += 1;
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, loop));
  return sent / ((performance.now() - startedAt) / 1000);
}

interface Result {
  name: string;
  ratio: number;
  ratios: number[];
  ours: number;
  bare: number;
}

async function compare({ name, open, message }: Bench): Promise<Result> {
  let recorded: { target: Target; request: OutgoingRequest } | null = null;
  const recorder: HttpSender = {
    send(target, request, caller) {
      recorded = { target, request };
      egress.send(target, request, caller);
    },
  };
  const first = open(recorder);
  await first.start(async () => {});
  await first.submit(message());
  if (!recorded) throw new Error(`${name} sent nothing`);
  const { target, request } = recorded as { target: Target; request: OutgoingRequest };
  const { method, headers, body } = request;
  const [path = "/"] = target.lines.split(" ", 1);
  const pool = new Pool(target.origin, { connections: IN_FLIGHT });
  const carrier = open(egress);
  await carrier.start(async () => {});
  const ours = (): Promise<number> =>
    perSecond(async () => {
      const outcome = await carrier.submit(message());
      if (outcome.kind !== "taken") throw new Error(`${name}: ${JSON.stringify(outcome)}`);
    });
  const bare = (): Promise<number> =>
    perSecond(async () => {
      const response = await pool.request({ path, method, headers, body });
      await response.body.dump();
      if (response.statusCode >= 300) throw new Error(`the fake answered ${response.statusCode}`);
    });
  await ours();
  await bare();
  const rounds: { ours: number; bare: number }[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push({ bare: await bare(), ours: await ours() });
  await carrier.stop();
  await pool.close();
  const ratios = rounds.map((each) => each.ours / each.bare);
  return {
    name,
    ratio: median(ratios),
    ratios,
    ours: median(rounds.map((each) => each.ours)),
    bare: median(rounds.map((each) => each.bare)),
  };
}

const results: Result[] = [];
for (const bench of await benches()) results.push(await compare(bench));
for (const child of children) child.kill();
sink.disconnect();
egress.destroy();

print("ratio to a bare undici pool   ours/s   pool/s");
for (const { name, ratio, ratios, ours, bare } of results)
  print(
    `${ratio.toFixed(2).padStart(27)} ${ours.toFixed(0).padStart(8)} ${bare.toFixed(0).padStart(8)}   ${name} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)})`,
  );
await record("platforms", { rounds: ROUNDS, seconds: SECONDS, inFlight: IN_FLIGHT, results });
