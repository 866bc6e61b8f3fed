import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from "vitest";
import { bind as bindClient } from "../../src/smpp/client.ts";
import { submitSm, type BindCommand, type DeliverSm, type SubmitSm } from "../../src/smpp/pdu.ts";
import { responseTo } from "../../src/smpp/respond.ts";
import type { Session } from "../../src/smpp/session.ts";
import type { Login } from "../support/credential.ts";
import { freshDatabase } from "../support/databases.ts";
import { eventually } from "../support/eventually.ts";
import { startServer, type ServerProcess } from "../support/server-process.ts";

/** The SMPP server on two nodes: a client may bind to any of them. */

const ENV = {
  HELIOGRAPH_MASTER_KEY: "a master key of both nodes",
  HELIOGRAPH_SMPP_PORT: "0",
  HELIOGRAPH_LOG_LEVEL: "info",
  HELIOGRAPH_NODE_SILENT_SECONDS: "10",
};
/** Final states, and the intermediate one. */
const ALL_RECEIPTS = 0x11;

interface Client {
  session: Session;
  received: DeliverSm[];
  submit(to: string, more?: Partial<SubmitSm>): Promise<string>;
}

let database: Awaited<ReturnType<typeof freshDatabase>>;
let one: ServerProcess;
let two: ServerProcess;
let login: Login;
const open: Session[] = [];

const ask = async <T>(path: string, body?: object): Promise<T> => {
  const headers = { apikey: one.apiKey, "content-type": "application/json" };
  const response = await fetch(two.baseUrl + path, {
    headers,
    ...(body && { method: "POST", body: JSON.stringify(body) }),
  });
  expect(response.status).toBeLessThan(300);
  return (await response.json()) as T;
};

beforeAll(async () => {
  database = await freshDatabase(inject("postgresUrl"));
  one = await startServer({ databaseUrl: database.url, env: ENV });
  two = await startServer({ databaseUrl: database.url, env: ENV });
  login = (await eventually(
    () => ask<Login>("/api/credentials", { kind: "smpp", name: "Reseller" }).catch(() => null),
    (created) => created !== null,
  )) as Login;
});
afterEach(() => {
  for (const session of open.splice(0)) session.destroy();
});
afterAll(async () => {
  await one?.cleanup();
  await two?.cleanup();
  await database?.drop();
});

function portOf(server: ServerProcess): number {
  const line =
    server
      .output()
      .split("\n")
      .find((each) => each.includes("smpp listening")) ?? "";
  return Number(/"port":(\d+)/.exec(line)?.[1] ?? /port=(\d+)/.exec(line)?.[1]);
}

async function connect(server: ServerProcess, as: BindCommand): Promise<Client> {
  const received: DeliverSm[] = [];
  const { session } = await eventually(
    async () => {
      const result = await bindClient({
        host: "127.0.0.1",
        port: portOf(server),
        systemId: login.username,
        password: login.password,
        as,
        onRequest: (pdu) => {
          if (pdu.command !== "deliver_sm") return null;
          received.push({ ...pdu, shortMessage: Buffer.from(pdu.shortMessage) });
          return responseTo(pdu);
        },
      });
      return result.kind === "bound" ? result : { session: null };
    },
    (result) => result.session !== null,
  );
  if (!session) throw new Error("not bound");
  open.push(session);
  return {
    session,
    received,
    async submit(to, more = {}) {
      const fields = { source: { ton: 5, npi: 0, address: "SHOP" }, destination: { ton: 1, npi: 1, address: to } };
      const pdu = submitSm({ ...fields, registeredDelivery: 1, shortMessage: Buffer.from("Hello"), ...more });
      const outcome = await session.request(pdu);
      if (outcome.kind !== "answer" || !("messageId" in outcome.pdu) || outcome.pdu.status !== 0)
        throw new Error(`not accepted: ${JSON.stringify(outcome)}`);
      return outcome.pdu.messageId;
    },
  };
}

const textOf = ({ shortMessage }: DeliverSm): string => shortMessage.toString("latin1");
/** `id stat`. */
const receiptsAt = ({ received }: Client): string[] =>
  received.map((pdu) => [/^id:(\S+)/.exec(textOf(pdu))?.[1], /stat:(\w+)/.exec(textOf(pdu))?.[1]].join(" "));

describe("two nodes with an SMPP server on one database", () => {
  it("a receipt goes to the bind on the other node, in order for each message", async () => {
    const transmitter = await connect(one, "bind_transmitter");
    const receiver = await connect(two, "bind_receiver");
    const ids = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        transmitter.submit(String(15_550_164_000 + n), { registeredDelivery: ALL_RECEIPTS }),
      ),
    );
    const receipts = await eventually(
      () => receiptsAt(receiver),
      (seen) => ids.every((id) => seen.includes(`${id} DELIVRD`)),
    );
    for (const id of ids)
      expect(receipts.filter((receipt) => receipt.startsWith(id))).toEqual([`${id} ENROUTE`, `${id} DELIVRD`]);
  });

  it("a text from a phone goes to the bind on the other node", async () => {
    const receiver = await connect(one, "bind_receiver");
    await ask("/api/simulator/phones/15550164100/reply", { to: "15550164999", text: "Hello there" });
    const [text] = await eventually(
      () => receiver.received.map(textOf),
      ({ length }) => length === 1,
    );
    expect(text).toBe("Hello there");
  });

  it("parts of a long text at different nodes make one message", async () => {
    const [first, second] = [await connect(one, "bind_transceiver"), await connect(two, "bind_transceiver")];
    const to = "15550164200";
    const part = (index: number): Partial<SubmitSm> => ({
      esmClass: 0x40,
      shortMessage: Buffer.concat([Buffer.from([5, 0, 3, 21, 2, index]), Buffer.from(`part ${index} `)]),
    });
    const ids = await Promise.all([first.submit(to, part(1)), second.submit(to, part(2))]);
    await eventually(
      () => [...receiptsAt(first), ...receiptsAt(second)],
      (seen) => ids.every((id) => seen.includes(`${id} DELIVRD`)),
    );
    const { data } = await ask<{ data: { text: string }[] }>(`/api/simulator/phones/${to}/messages`);
    expect(data.map(({ text }) => text)).toEqual(["part 1 part 2 "]);
  });

  it("waiting receipts reach the node that the client binds to, also those of a killed node", async () => {
    const transmitter = await connect(one, "bind_transmitter");
    const ids = await Promise.all(Array.from({ length: 20 }, (_, n) => transmitter.submit(String(15_550_164_300 + n))));
    await eventually(
      () => Promise.all(ids.map((id) => messageState(id))),
      (states) => states.every((state) => state === "delivered"),
    );
    await one.kill("SIGKILL");
    const receiver = await connect(two, "bind_receiver");
    const receipts = await eventually(
      () => receiptsAt(receiver),
      (seen) => ids.every((id) => seen.includes(`${id} DELIVRD`)),
    );
    expect(new Set(receipts).size).toBe(ids.length);
  });
});

/** The state of a message of which the client has the id. */
async function messageState(id: string): Promise<string> {
  const uuid = id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  return (await ask<{ state: string }>(`/v1/messages/${uuid}:1`)).state;
}
