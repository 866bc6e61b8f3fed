import fc from "fast-check";
import { Pool } from "undici";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { readConfig } from "../../src/config.ts";
import { createLog } from "../../src/lib/log.ts";
import { isCode, newCode } from "../../src/links/code.ts";
import { agentClassOf, createFollow, type Follow } from "../../src/links/follow.ts";
import type { Click } from "../../src/model/link.ts";
import type { LinkHit } from "../../src/store/links.ts";
import { StorageUnavailable } from "../../src/store/store.ts";
import { createMetrics } from "../../src/metrics.ts";
import { openTenants, type Tenants } from "../fuzz/tenants.ts";
import { Random } from "../fuzz/random.ts";
import { linkStoreSuite } from "../store/link-store.suite.ts";
import { NOON } from "../support/acceptances.ts";
import { ENGINES, openStore } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { repetitions } from "../support/repetitions.ts";
import type { ErrorBody } from "../support/test-server.ts";
import { insertLinks, TARGET } from "../support/links.ts";
import { MovedClock } from "../support/moved-clock.ts";

const HOUR_MS = 3_600_000;
/** On all engines together. */
const STRIKES = repetitions(4_000, 20_000);
const PHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1";

describe.each(ENGINES)("short links in the store on %s", (engine) => {
  linkStoreSuite(engine);
});

describe("a short-link code", () => {
  const codes = Array.from({ length: 100_000 }, newCode);

  test("a code has seven characters, none of which is mistaken for another", () => {
    expect(codes.filter((code) => !/^[A-HJ-NP-Za-km-z1-9]{7}$/.test(code))).toEqual([]);
    expect(new Set(codes.join("")).size).toBe(58);
  });

  test("a code has every character equally often in every place", () => {
    for (let place = 0; place < 7; place += 1) {
      const counts = new Map<string, number>();
      for (const code of codes) counts.set(code.charAt(place), (counts.get(code.charAt(place)) ?? 0) + 1);
      const expected = codes.length / 58;
      const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
      // With 57 degrees of freedom a fair source comes beyond this once in a thousand million runs; `byte % 58` gives 1,400.
      expect(chiSquare).toBeLessThan(145);
    }
  });

  test("a code hardly ever repeats", () => {
    // One pair among so many is to be expected in one run of 440; two pairs in one of 400,000.
    expect(new Set(codes).size).toBeGreaterThanOrEqual(codes.length - 1);
  });

  test("a code is recognised by its form, and nothing else is", () => {
    for (const code of codes.slice(0, 1000)) expect(isCode(code)).toBe(true);
    fc.assert(
      fc.property(fc.constantFrom(...codes.slice(0, 1000)), fc.string({ minLength: 1 }), fc.nat(7), (code, odd, at) => {
        expect(isCode(code.slice(0, at) + odd + code.slice(at))).toBe(false);
        expect(isCode(code.slice(0, at))).toBe(at === 7);
      }),
    );
    for (const odd of ["", "0aaaaaa", "Oaaaaaa", "Iaaaaaa", "laaaaaa", "aaaaaa\n", "aaaaaaa\n", "..%2f..", "éaaaaaa"])
      expect(isCode(odd)).toBe(false);
  });
});

describe("a user agent", () => {
  test.each([
    ["person", PHONE],
    ["person", "Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Mobile Safari/537.36"],
    ["person", "Mozilla/5.0 (Linux; Android 9; CUBOT_NOTE_S) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36"],
    ["person", "Mozilla/5.0 (Mobile; LYF/F220B/LYF-F220B-003; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5"],
    ["person", "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/450.0;]"],
    ["person", "Opera/9.80 (J2ME/MIDP; Opera Mini/7.1.32052/37.9; U; en) Presto/2.12.423 Version/12.16"],
    ["person", "Nokia6300/2.0 (07.21) Profile/MIDP-2.0 Configuration/CLDC-1.1"],
    ["preview", "WhatsApp/2.25.1 A"],
    ["preview", "facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)"],
    ["preview", "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_11_1) AppleWebKit/601.2.4 (KHTML, like Gecko) Version/9.0.1 Safari/601.2.4 facebookexternalhit/1.1 Facebot Twitterbot/1.0"],
    ["preview", "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_5) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/13.1.1 Safari/605.1.15 (Applebot/0.1)"],
    ["preview", "Twitterbot/1.0"],
    ["preview", "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)"],
    ["preview", "TelegramBot (like TwitterBot)"],
    ["preview", "Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)"],
    ["preview", "Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5 skype-url-preview@microsoft.com"],
    ["preview", "LinkedInBot/1.0 (compatible; Mozilla/5.0; Apache-HttpClient +http://www.linkedin.com)"],
    ["preview", "Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b"],
    ["preview", "Mozilla/5.0 (Linux; Android 8.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Mobile Safari/537.36 Google-PageRenderer Google (+https://developers.google.com/+/web/snippet/)"],
    ["bot", "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"],
    ["bot", "Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)"],
    ["bot", "Mozilla/5.0 (compatible; Baiduspider/2.0)"],
    ["bot", "curl/8.5.0"],
    ["bot", "Wget/1.21.4"],
    ["bot", "python-requests/2.32.3"],
    ["bot", "Go-http-client/2.0"],
    ["bot", "okhttp/4.12.0"],
    ["bot", "node"],
    ["bot", "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/138.0.0.0 Safari/537.36"],
    ["bot", ""],
    ["bot", "  "],
    ["bot", undefined],
  ] as const)("is a %s: %s", (expected, agent) => {
    expect(agentClassOf(agent, "GET")).toBe(expected);
  }); // prettier-ignore

  test("a HEAD request is a preview, whatever its user agent", () => {
    expect(agentClassOf(PHONE, "HEAD")).toBe("preview");
    expect(agentClassOf(undefined, "HEAD")).toBe("preview");
  });

  test("a user agent is read up to a thousand characters", () => {
    expect(agentClassOf(`${"a".repeat(1000)} curl/8.5.0`, "GET")).toBe("person");
    expect(agentClassOf(`${"facebookexternalhi ".repeat(50)}curl/8.5.0`, "GET")).toBe("bot");
    fc.assert(fc.property(fc.string({ unit: "binary", maxLength: 2000 }), (agent) => {
      expect(["person", "bot", "preview"]).toContain(agentClassOf(agent, "GET"));
    })); // prettier-ignore
  });
});

describe("following a short link", () => {
  const CODE = "aaaaaaa";
  const hit = (code: string): LinkHit => ({
    code,
    accountId: 1,
    requestId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47",
    n: 1,
    k: 1,
    url: TARGET,
    expiresAt: NOON + HOUR_MS,
  });

  /** A store that knows every code but one, and whose writes end when the test says so. */
  function scripted() {
    const lookups: (readonly string[])[] = [];
    const writes: { batch: readonly Click[]; resolve(): void; reject(error: Error): void }[] = [];
    const metrics = createMetrics();
    const lines: string[] = [];
    const clock = new MovedClock(NOON);
    const follow: Follow = createFollow({
      store: {
        findLinks: async (codes) => {
          lookups.push(codes);
          return codes.map((code) => (code === "zzzzzzz" ? null : hit(code)));
        },
        recordClicks: (batch) => new Promise((resolve, reject) => writes.push({ batch, resolve, reject })),
      },
      clock,
      log: createLog("debug", { write: (line) => void lines.push(line) }),
      metrics,
    });
    const counted = async (effect: string): Promise<number> => {
      const text = await metrics.registry.metrics();
      return Number(new RegExp(`clicks_total{agent="person",effect="${effect}"} (\\d+)`).exec(text)?.[1] ?? 0);
    };
    return { follow, lookups, writes, lines, clock, counted };
  }

  test("simultaneous requests share one read of the store", async () => {
    const { follow, lookups } = scripted();
    const answers = await Promise.all(
      ["aaaaaaa", "zzzzzzz", "bbbbbbb"].map((code) => follow.follow(code, PHONE, "GET")),
    );
    expect(answers).toEqual([{ kind: "found", url: TARGET }, { kind: "unknown" }, { kind: "found", url: TARGET }]);
    expect(lookups).toEqual([["aaaaaaa", "zzzzzzz", "bbbbbbb"]]);
  });

  test("a redirect does not wait for the click to be stored, but an orderly stop does", async () => {
    const { follow, writes, counted } = scripted();
    expect(await follow.follow(CODE, PHONE, "GET")).toEqual({ kind: "found", url: TARGET });
    let idle = false;
    const ended = follow.idle().then(() => (idle = true));
    const [write] = await eventually(
      () => writes,
      ({ length }) => length === 1,
    );
    expect(write?.batch).toMatchObject([{ accountId: 1, code: CODE, agent: "person", at: NOON }]);
    expect(idle).toBe(false);
    write?.resolve();
    await ended;
    expect(await counted("recorded")).toBe(1);
  });

  test("clicks that arrive during a write are stored together", async () => {
    const { follow, writes, clock } = scripted();
    for (let click = 1; click <= 5; click += 1) {
      await follow.follow(CODE, PHONE, "GET");
      writes[0]?.resolve();
    }
    expect(writes.map(({ batch }) => batch.length)).toEqual([1]);
    clock.advance(50);
    const all = await eventually(
      () => writes,
      ({ length }) => length === 2,
    );
    expect(all[1]?.batch).toHaveLength(4);
    all[1]?.resolve();
    await follow.idle();
  });

  test("redirects continue when too many clicks wait: those are dropped and counted", async () => {
    const { follow, writes, counted } = scripted();
    for (let sent = 0; sent < 22_000; sent += 1000) {
      const answers = await Promise.all(Array.from({ length: 1000 }, () => follow.follow(CODE, PHONE, "GET")));
      expect(answers).toEqual(answers.map(() => ({ kind: "found", url: TARGET })));
    }
    expect(await counted("dropped")).toBe(2000);
    const ended = follow.idle();
    let written = 0;
    for (let batch = 0; written < 20_000; batch += 1) {
      const write = (
        await eventually(
          () => writes,
          ({ length }) => length > batch,
        )
      )[batch];
      written += write?.batch.length ?? 0;
      write?.resolve();
    }
    await ended;
    expect(await counted("recorded")).toBe(20_000);
    expect(new Set(writes.flatMap(({ batch }) => batch.map(({ id }) => id))).size).toBe(20_000);
  });

  const nthWrite = async (writes: ReturnType<typeof scripted>["writes"], n: number) =>
    (
      await eventually(
        () => writes,
        ({ length }) => length === n,
      )
    )[n - 1];

  test("clicks are kept while the store is unavailable and stored when it is back, and no code is logged", async () => {
    const { follow, writes, lines, clock, counted } = scripted();
    await follow.follow(CODE, PHONE, "GET");
    const first = await nthWrite(writes, 1);
    first?.reject(new StorageUnavailable("the disk is full"));
    await eventually(
      () => lines,
      ({ length }) => length === 1,
    );
    expect(lines[0]).toContain("clicks could not be recorded");
    expect(lines[0]).not.toContain(CODE);
    expect(await counted("dropped")).toBe(0);
    expect(await follow.follow(CODE, PHONE, "GET")).toEqual({ kind: "found", url: TARGET });
    clock.advance(1000);
    const second = await nthWrite(writes, 2);
    expect(second?.batch).toEqual(first?.batch);
    second?.resolve();
    const ended = follow.idle();
    (await nthWrite(writes, 3))?.resolve();
    await ended;
    expect([await counted("recorded"), await counted("dropped")]).toEqual([2, 0]);
  });

  test("a shutdown tries once more to store clicks, then counts them as dropped", async () => {
    const { follow, writes, lines, counted } = scripted();
    await follow.follow(CODE, PHONE, "GET");
    const before = await nthWrite(writes, 1);
    for (let sent = 0; sent < 1500; sent += 1) await follow.follow(CODE, PHONE, "GET");
    const ended = follow.idle();
    before?.reject(new StorageUnavailable("away"));
    (await nthWrite(writes, 2))?.reject(new StorageUnavailable("away"));
    await ended;
    expect(writes, "the batches behind it would wait for the same store").toHaveLength(2);
    expect(await counted("dropped")).toBe(1501);
    expect(lines.filter((line) => line.includes("clicks dropped"))).toHaveLength(2);
  });

  test("a batch of clicks that keeps failing for another reason is dropped, and the next is stored", async () => {
    const { follow, writes, lines, clock, counted } = scripted();
    await follow.follow(CODE, PHONE, "GET");
    for (let failure = 1; failure <= 3; failure += 1) {
      (await nthWrite(writes, failure))?.reject(new Error("poison"));
      await eventually(
        () => lines.filter((line) => line.includes("could not be recorded")).length,
        (failures) => failures === failure,
      );
      clock.advance(1000);
    }
    await eventually(
      () => counted("dropped"),
      (dropped) => dropped === 1,
    );
    await follow.follow(CODE, PHONE, "GET");
    const ended = follow.idle();
    (await nthWrite(writes, 4))?.resolve();
    await ended;
    expect(await counted("recorded")).toBe(1);
  });

  test("a full click log is logged once, with the number of dropped clicks when it accepts clicks again", async () => {
    const { follow, writes, lines, counted } = scripted();
    for (let sent = 0; sent < 20_003; sent += 1) await follow.follow(CODE, PHONE, "GET");
    expect(await counted("dropped")).toBe(3);
    expect(lines.filter((line) => line.includes("click log full"))).toHaveLength(1);
    writes[0]?.resolve();
    const [line] = await eventually(
      () => lines.filter((each) => each.includes("click log has room again")),
      ({ length }) => length === 1,
    );
    expect(JSON.parse(line ?? "")).toMatchObject({ clicks: 3 });
  });

  test("an expired link redirects nowhere and counts no click", async () => {
    const { follow, writes, clock } = scripted();
    clock.advance(HOUR_MS - 1);
    expect(await follow.follow(CODE, PHONE, "GET")).toEqual({ kind: "found", url: TARGET });
    clock.advance(1);
    expect(await follow.follow(CODE, PHONE, "GET")).toEqual({ kind: "gone" });
    const all = await eventually(
      () => writes,
      ({ length }) => length > 0,
    );
    expect(all.flatMap(({ batch }) => batch)).toHaveLength(1);
    all[0]?.resolve();
    await follow.idle();
    expect(writes).toHaveLength(1);
  });

  test("a redirect fails while the store is unavailable", async () => {
    const follow = createFollow({
      store: {
        findLinks: () => Promise.reject(new StorageUnavailable("away")),
        recordClicks: () => Promise.resolve(),
      },
      clock: new MovedClock(),
      log: createLog("silent"),
    });
    await expect(follow.follow(CODE, PHONE, "GET")).rejects.toThrow(StorageUnavailable);
    await follow.idle();
  });
});

test.each(ENGINES)("a click whose commit got no response is written again and counted once on %s", async (engine) => {
  const opened = await openStore(engine);
  try {
    const { store } = opened;
    const { codes } = await insertLinks(opened.execute);
    const code = codes[0]?.[0] ?? "";
    const clock = new MovedClock(NOON);
    let tries = 0;
    const recordClicks: typeof store.recordClicks = async (...args) => {
      tries += 1;
      if (tries === 1) throw new StorageUnavailable("away before the commit");
      await store.recordClicks(...args);
      if (tries === 2) throw new StorageUnavailable("away before the answer");
    };
    const follow = createFollow({ store: { ...store, recordClicks }, clock, log: createLog("silent") });
    expect(await follow.follow(code, PHONE, "GET")).toEqual({ kind: "found", url: TARGET });
    await eventually(
      () => {
        clock.advance(1000);
        return tries;
      },
      (seen) => seen === 3,
    );
    await follow.idle();
    expect(await store.findLink(1, code)).toMatchObject({ clicks: { person: 1, preview: 0, bot: 0 } });
  } finally {
    await opened.discard();
  }
});

interface LinkBody {
  id: string;
  url: string;
  shortUrl: string | null;
  messageId: string | null;
  createdAt: number;
  expiresAt: number;
  recipients: number;
  recipientsClicked: number;
  clicks: { person: number; preview: number; bot: number };
  complete: boolean;
}

interface DetailBody extends LinkBody {
  from: number;
  to: number;
  bucket: string;
  buckets: { at: number; clicks: LinkBody["clicks"] }[];
}

describe.each(ENGINES)("short links over HTTP on %s", (engine) => {
  const clock = new MovedClock(NOON);
  let tenants: Tenants;
  beforeAll(async () => {
    tenants = await openTenants(engine, clock);
  });
  afterAll(() => tenants.close());

  const open = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(tenants.server.url + path, { redirect: "manual", headers: { "user-agent": PHONE }, ...init });

  const ask = <T>(path: string) => tenants.server.request<T>("GET", path);

  /** Reads a link once this many clicks are stored; clicks are batched, so the clock must advance. */
  const counted = (id: string, total: number, headers: Record<string, string> = {}): Promise<DetailBody> =>
    eventually(
      async () => {
        clock.advance(50);
        return (await tenants.server.request<DetailBody>("GET", `/api/links/${id}`, undefined, headers)).body;
      },
      ({ clicks }) => clicks.person + clicks.preview + clicks.bot >= total,
    );

  test("a code redirects to its target exactly as stored, below /s and at the root", async () => {
    const { codes, requestId } = await insertLinks(tenants.execute);
    const code = codes[0]?.[0] ?? "";
    for (const path of [`/s/${code}`, `/${code}`, `/s/${code}?to=https://evil.example`, `/s/%${code.charCodeAt(0).toString(16)}${code.slice(1)}`]) {
      const answer = await open(path);
      expect([path, answer.status, answer.headers.get("location")]).toEqual([path, 302, TARGET]);
      expect(answer.headers.get("cache-control")).toBe("no-store");
      expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
      expect(await answer.text()).toBe("");
    } // prettier-ignore
    expect(await counted(`${requestId}:1`, 4)).toMatchObject({ recipientsClicked: 1, clicks: { person: 4 } });
  });

  test("HEAD shows the target and counts as a preview, a program as a bot", async () => {
    const { codes } = await insertLinks(tenants.execute);
    const code = codes[0]?.[0] ?? "";
    for (const path of [`/s/${code}`, `/${code}`]) {
      const head = await open(path, { method: "HEAD" });
      expect([head.status, head.headers.get("location")]).toEqual([302, TARGET]);
    }
    await open(`/s/${code}`, { headers: { "user-agent": "curl/8.5.0" } });
    expect(await counted(code, 3)).toMatchObject({ clicks: { person: 0, preview: 2, bot: 1 }, recipientsClicked: 0 });
  });

  test.each(["/s/zzzzzzz", "/zzzzzzz", "/s/not-a-code", "/s/0OIl0OI"])(
    "%s, which does not exist, shows a page that says so",
    async (path) => {
      const answer = await open(path);
      expect(answer.status).toBe(404);
      await expectPage(answer, "There is no such link");
    },
  );

  test("an expired link shows a page that says so, and counts no click", async () => {
    const { codes } = await insertLinks(tenants.execute, { expiresAt: NOON });
    const code = codes[0]?.[0] ?? "";
    const answer = await open(`/s/${code}`);
    expect(answer.status).toBe(410);
    await expectPage(answer, "This link has expired");
    expect((await open(`/${code}`)).status).toBe(410);
    expect((await counted(code, 0)).clicks).toEqual({ person: 0, preview: 0, bot: 0 });
  });

  async function expectPage(answer: Response, title: string): Promise<void> {
    expect(answer.headers.get("location")).toBeNull();
    expect(answer.headers.get("content-type")).toBe("text/html; charset=utf-8");
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("content-security-policy")).toMatch(
      /^default-src 'none'; style-src 'sha256-[A-Za-z0-9+/]{43}='; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    const text = await answer.text();
    expect(text).toContain(`<h1>${title}</h1>`);
    expect(text).not.toMatch(/https?:|src=|href=|<script/);
  }

  test("a path at the root that is not a code is 404", async () => {
    for (const path of ["/abc", "/robots.txt", "/zzzzzzz/", "/zzzzzz0", "/zzzzzzzz", "/zzzzzzz%0a", `/${"z".repeat(300)}`]) {
      const { status, body } = await ask<{ error: ErrorBody }>(path);
      expect([path, status, body.error.code]).toEqual([path, 404, "ROUTE_NOT_FOUND"]);
    }
    const { status } = await tenants.server.request("POST", "/abc", {});
    expect(status).toBe(404);
  }); // prettier-ignore

  test("a path that is not a code does not reach the store", async () => {
    const lookup = vi.spyOn(tenants.server.app.store, "findLinks");
    for (const path of ["/s/not-a-code", "/s/zzzzzz0", "/s/zzzzzzz%0a", "/s/", "/abc", "/zzzzzz0"]) await open(path);
    expect(lookup).not.toHaveBeenCalled();
    await open("/s/zzzzzzz");
    expect(lookup).toHaveBeenCalledExactlyOnceWith(["zzzzzzz"]);
    lookup.mockRestore();
  });

  test("a code accepts only GET and HEAD", async () => {
    for (const path of ["/s/zzzzzzz", "/zzzzzzz"]) {
      const { status, headers } = await tenants.server.request("POST", path, {});
      expect([status, headers.get("allow")]).toEqual([405, "GET"]);
    }
  });

  test("a page of the server whose path could be a code is served", async () => {
    expect(isCode("metrics")).toBe(true);
    const answer = await open("/metrics");
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain("heliograph_link_clicks_total");
  });

  test("targets are listed newest first with a cursor, and each is read with its clicks over time", async () => {
    const { accountId, minted } = await tenants.addAccount(`lister-${engine}`);
    const asOther = <T>(path: string) => tenants.server.request<T>("GET", path, undefined, { apikey: minted.secret });
    const planted = [];
    for (let hour = 0; hour < 3; hour += 1)
      planted.push(await insertLinks(tenants.execute, { accountId, recipients: 2, createdAt: NOON + hour * HOUR_MS }));
    const ids = planted.map(({ requestId }) => `${requestId}:1`);
    const first = await asOther<{ data: LinkBody[]; nextCursor: string }>("/api/links?limit=2");
    expect(first.body.data.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    const second = await asOther<{ data: LinkBody[] }>(`/api/links?limit=2&cursor=${first.body.nextCursor}`);
    expect(second.body).toMatchObject({ data: [{ id: ids[0], url: TARGET, recipients: 2 }], nextCursor: null });

    const code = planted[0]?.codes[1]?.[0] ?? "";
    await open(`/s/${code}`);
    clock.advance(HOUR_MS);
    await open(`/s/${code}`);
    const seen = await counted(`${code}?bucket=hour`, 2, { apikey: minted.secret });
    expect(seen).toMatchObject({
      id: code,
      url: TARGET,
      shortUrl: `${tenants.server.url}/s/${code}`,
      messageId: `${planted[0]?.requestId}:2`,
      recipients: 1,
      recipientsClicked: 1,
      bucket: "hour",
      buckets: [
        { at: NOON, clicks: { person: 1, preview: 0, bot: 0 } },
        { at: NOON + HOUR_MS, clicks: { person: 1, preview: 0, bot: 0 } },
      ],
    });
    expect(seen.to).toBe(clock.now() + 1);
    expect(seen.from).toBe(seen.to - 48 * HOUR_MS);
    const { body: ofTarget } = await asOther<DetailBody>(
      `/api/links/${ids[0]}?from=${NOON}&to=${new Date(NOON + HOUR_MS).toISOString()}&bucket=day`,
    );
    expect(ofTarget).toMatchObject({
      id: ids[0],
      shortUrl: null,
      messageId: null,
      recipients: 2,
      recipientsClicked: 1,
      clicks: { person: 2 },
      complete: true,
      buckets: [{ at: NOON - 12 * HOUR_MS, clicks: { person: 1 } }],
    });
  });

  test.each([
    ["bucket=week", "bucket"],
    ["from=now", "from"],
    [`from=${NOON}&to=${NOON}`, "from"],
    [`from=0&to=${NOON}`, "from"],
  ])("clicks requested with %s are refused, naming the fault", async (query, parameter) => {
    const { status, body } = await ask<{ error: ErrorBody }>(`/api/links/zzzzzzz?${query}`);
    expect([status, body.error.code, body.error.parameter]).toEqual([400, "INVALID_REQUEST", parameter]);
  });

  test.each(["zzzzzzz", "not-a-code", "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47:1"])(
    "%s, which the account does not have, is not found",
    async (id) => {
      const { status, body } = await ask<{ error: ErrorBody }>(`/api/links/${id}`);
      expect([status, body.error.code]).toEqual([404, "RECORD_NOT_FOUND"]);
    },
  );

  test("no path, query or header redirects anywhere but to a stored target", async () => {
    const targets = Array.from({ length: 20 }, (_, index) => `https://target-${index}.example/a?b=${index}#c`);
    const { codes } = await insertLinks(tenants.execute, { targets, createdAt: clock.now() });
    const stored = new Map(codes.flat().map((code, index) => [code, targets[index]]));
    const pool = new Pool(tenants.server.url, { connections: 32 });
    const random = Random.of(7, ENGINES.indexOf(engine));
    let redirects = 0;
    const wrong: string[] = [];
    const strike = async (): Promise<void> => {
      const code = random.pick(codes.flat());
      const path = oddLink(random, code);
      const { statusCode, headers, body } = await pool.request({
        method: random.pick(["GET", "GET", "GET", "HEAD", "POST"]),
        path,
        headers: ["user-agent", PHONE, ...random.pick([[], ["host", "evil.example"], ["x-forwarded-host", "evil.example"], ["referer", "https://evil.example/"]])],
      }); // prettier-ignore
      await body.dump();
      if (statusCode >= 500) wrong.push(`${statusCode} ${path}`);
      if (headers["location"] === undefined && statusCode !== 302) return;
      redirects += 1;
      if (statusCode !== 302 || headers["location"] !== stored.get(code)) wrong.push(`${path} → ${String(headers["location"])}`);
    }; // prettier-ignore
    for (let sent = 0; sent < STRIKES / ENGINES.length; sent += 100)
      await Promise.all(Array.from({ length: 100 }, strike));
    await pool.close();
    expect(wrong).toEqual([]);
    expect(redirects).toBeGreaterThan((STRIKES / ENGINES.length) * 0.15);
  });
});

const EVIL = ["https://evil.example", "//evil.example", "/\\evil.example", "%2f%2fevil.example", "javascript:alert(1)", "%0d%0aLocation:https://evil.example", "evil.example", "..", "%2e%2e", ".", "@evil.example", "%00", ":80"]; // prettier-ignore

/** A short link with something foreign in, before or after it; now and then the link alone. */
function oddLink(random: Random, code: string): string {
  const evil = random.pick(EVIL);
  const at = random.below(8);
  return random.pick([
    `/s/${code}`,
    `/${code}`,
    `/s/${code}?${random.pick(["url", "to", "next", "r"])}=${evil}`,
    `/${code}?${evil}`,
    `/${code}?code=${code}&location=${evil}`,
    `/s/${code}/${evil}`,
    `/s/${code}${evil}`,
    `/s/${evil}/${code}`,
    `/${evil}/${code}`,
    `/${evil}${code}`,
    `//${evil}/s/${code}`,
    `/s//${code}`,
    `/s/${code.slice(0, at)}${evil}${code.slice(at)}`,
    `/${code.slice(0, at)}${evil}${code.slice(at)}`,
    `/s/${encodeURIComponent(evil)}`,
    `/${encodeURIComponent(evil)}`,
    `/s/${code.toLowerCase()}x`,
    `/s/%${code.charCodeAt(0).toString(16)}${code.slice(1)}`,
    `/s;${evil}/${code}`,
    `/s/${code};${evil}`,
    `/S/${code}`,
  ]);
}

test("a configured short domain is the start of links", () => {
  expect(readConfig({ HELIOGRAPH_SHORT_LINK_BASE: "https://go.example/" }).shortLinkBase).toBe("https://go.example");
  expect(readConfig({}).shortLinkBase).toBeNull();
});
