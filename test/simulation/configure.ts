import type { CreditRules } from "./invariants.ts";
import type { SimulatedNode } from "./node.ts";
import type { World } from "./world.ts";

/** Settings of the account, which differ between runs. */
interface Setting {
  key: string;
  credits: CreditRules | null;
  messagesPerSecond: number | null;
  failoverAfterSeconds: number | null;
}

/** Two carriers, routes over both, and endpoints for delivery reports. */
export async function configure(
  world: World,
  node: SimulatedNode,
  { key, credits, messagesPerSecond, failoverAfterSeconds }: Setting,
): Promise<void> {
  const ask = async (method: "GET" | "POST" | "PATCH" | "DELETE", url: string, body?: unknown): Promise<unknown> => {
    let result: unknown;
    let isDone = false;
    void node.request(method, url, { key, body }).then((answer) => {
      isDone = true;
      if (!answer || answer.status >= 300)
        throw new Error(`${method} ${url}: ${answer?.status} ${JSON.stringify(answer?.body)}`);
      result = answer.body;
    });
    await world.run(60_000, () => isDone);
    return result;
  };
  for (const name of ["north", "south"]) {
    // The second carrier allows one connection, so only one node has it.
    const binds = { connections: name === "north" ? 8 : 1 };
    const smpp = { host: "127.0.0.1", port: 2775, systemId: name, password: "secret", ...binds };
    const rate = messagesPerSecond === null ? {} : { messagesPerSecond };
    await ask("POST", "/api/carriers", { name, adapter: "smpp", ...rate, smpp });
    await ask("POST", "/api/routes", { name, channel: "sms", carrier: name, priority: 10, failoverAfterSeconds });
  }
  await ask("PATCH", "/api/account", { sameText: null });
  if (credits) await ask("PATCH", "/api/account", { credits: "metered", ...credits });
  if (credits) await ask("POST", "/api/prices", { routeClass: "PROMO", prefix: "1", creditsPerSegment: 3 });
  await ask("POST", "/api/dlr-configs", { name: "reports", url: "http://customer.invalid/reports" });
  for (const [channel, events] of Object.entries(WEBHOOKS))
    await ask("POST", "/api/webhooks", { name: channel, channel, url: `http://customer.invalid/${channel}`, events });
}

const WEBHOOKS = { sms: ["user_message"], rcs: ["message_status"], verify: ["verification_status"] };
