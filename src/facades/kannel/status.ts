import type { Credential } from "../../accounts/secret-index.ts";
import type { FacadeCall, FacadeReply, FacadeRoute } from "../../http/facade.ts";
import type { Services } from "../../http/route.ts";
import { carrierKey, SIMULATOR } from "../../model/catalog.ts";
import type { StoredCredential } from "../../model/credential.ts";
import { Problem } from "../../model/problem.ts";
import { FAILED_STATES, GRAINS, type Counted, type Grain } from "../../model/stats.ts";
import { queryAs } from "../../store/query-caller.ts";
import type { StatsTotal } from "../../store/stats.ts";
import { queryOf, readForm } from "../parameters.ts";
import { statusText, statusXml, type Flow, type GatewayStatus, type SmscStatus } from "./status-page.ts";

/** A test key does not see the numbers of live messages. */
const RULE = { scope: "read", testKeys: null } as const;
const REPORTED: readonly Counted[] = ["delivered", ...FAILED_STATES];
const SECOND_MS = 1000;

/**
 * The login of a status request. Kannel has one password and no username, and monitoring scripts give nothing else: the
 * password may therefore be `username:password`.
 */
function logIn(call: FacadeCall): Promise<Credential<StoredCredential>> {
  const given = readForm(queryOf(call.url));
  const word = (name: string): string => given.get(name)?.toString("utf8") ?? "";
  const [password, username] = [word("password"), word("username")];
  const colon = password.indexOf(":");
  const login =
    username === "" && colon > 0
      ? { username: password.slice(0, colon), password: password.slice(colon + 1) }
      : { username, password };
  return call.authenticate(login, RULE);
}

/** The numbers of the credential's account. Carriers count on this node and since its start, all else since midnight (UTC). */
async function readStatus(services: Services, { account, key }: Credential<StoredCredential>): Promise<GatewayStatus> {
  const { store, clock } = services;
  const now = clock.now();
  const since = (grain: Grain, steps: number): { grain: Grain; from: number; to: number } => {
    const lengthMs = GRAINS[grain];
    const start = now - (now % lengthMs);
    return { grain, from: start - steps * lengthMs, to: start + lengthMs };
  };
  const spans = [since("10m", 1), since("hour", 1), since("day", 0)];
  const [totals, sendQueue, receiveQueue] = await queryAs({ accountId: account.id, signal: services.stopping }, () =>
    Promise.all([
      Promise.all(spans.map((span) => store.sumStats(account.id, span))),
      store.countWaitingMessages(account.id),
      store.countWaitingOf(account.id, key.id),
    ]),
  );
  const flow = (words: readonly Counted[], channel: string): Flow => ({
    total: countOf(totals[2] ?? [], words, channel),
    rates: spans.map(({ from }, place) => {
      const seconds = Math.max(1, (now - from) / SECOND_MS);
      return countOf(totals[place] ?? [], words, channel) / seconds;
    }),
  });
  return {
    uptimeSeconds: Math.floor(process.uptime()),
    received: { ...flow(["received"], "sms"), queued: receiveQueue },
    sent: { ...flow(["submitted"], "sms"), queued: sendQueue },
    reportsReceived: flow(REPORTED, "sms"),
    reportsSent: flow(["callback delivered"], ""),
    smscs: smscsOf(services, account.id, now),
  };
}

const countOf = (totals: readonly StatsTotal[], words: readonly Counted[], channel: string): number =>
  totals.reduce((sum, each) => (words.includes(each.what) && each.channel === channel ? sum + each.count : sum), 0);

/** The account's own carriers; the simulator is shared by all accounts. */
function smscsOf({ catalog, carriers, metrics }: Services, accountId: number, now: number): SmscStatus[] {
  return [...catalog.of(accountId).named("carrier").values()].flatMap(({ id, name, content }): SmscStatus[] => {
    const carrier = name === SIMULATOR ? null : carriers.find(accountId, name);
    if (!carrier) return [];
    const key = carrierKey(accountId, name);
    const state = carrier.state?.();
    const binds = (state?.binds ?? []).filter((bind) => bind.state === "bound");
    const upSince = Math.min(now - process.uptime() * SECOND_MS, ...binds.map(({ since }) => since));
    const seconds = Math.max(0, Math.floor((now - (binds[0]?.since ?? upSince)) / SECOND_MS));
    return [
      {
        id,
        name: `${content.adapter.toUpperCase()}:${name}`,
        adminId: name,
        status: carrier.isUp() ? `online ${seconds}s` : "re-connecting",
        failed: metrics.outcomes(key, "refused").value,
        queued: (state?.binds ?? []).reduce((sum, { inFlight }) => sum + inFlight, 0),
        sent: metrics.outcomes(key, "taken").value,
        perSecond: state?.submitsPerSecond ?? 0,
        reports: metrics.receipts(key, "moved").value + metrics.receipts(key, "repeated").value,
      },
    ];
  });
}

const FORMS = {
  "/status.xml": statusXml,
  "/status.txt": statusText,
  "/status": statusText,
} as const;

/** `GET /status.xml`, `/status.txt` and `/status`, which monitoring scripts read. */
export const statusRoutes: readonly FacadeRoute[] = Object.entries(FORMS).map(([path, render]) => ({
  method: "GET",
  path,
  async handle(services, call): Promise<FacadeReply> {
    try {
      return page(200, render(await readStatus(services, await logIn(call))));
    } catch (error) {
      const isDenied = error instanceof Problem && error.code === "UNAUTHORIZED";
      if (!isDenied) throw error;
      return page(403, render(null));
    }
  },
}));

/** Kannel calls XML plain text, too. */
const page = (status: number, text: string): FacadeReply => ({
  status,
  contentType: "text/plain; charset=utf-8",
  text,
});
