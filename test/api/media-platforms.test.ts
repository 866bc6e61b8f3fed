import { createHash } from "node:crypto";
import { readdirSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { basename, join } from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { FakeRbm, keyFile, RBM_CLIENT_TOKEN } from "../support/fake-rbm.ts";
import { callOf, FAKE_DEFAULTS, openFakeWhatsapp, type FakeWhatsapp } from "../support/fake-whatsapp.ts";
import { lead, type LedCarrier } from "../support/lead-carrier.ts";
import { FILES, newFile, uploadMedia } from "../support/media-files.ts";
import { startTestServer, type Envelope, type TestServer } from "../support/test-server.ts";

const TO = "15550109000";
const FROM = `+${FAKE_DEFAULTS.displayNumber}`;

describe.each(ENGINES)("media in messages on %s", (engine) => {
  let server: TestServer;
  let whatsapp: FakeWhatsapp;
  let rbm: FakeRbm;
  let chat: LedCarrier;
  let folder: string;

  beforeAll(async () => {
    folder = await mkdtemp(join(inject("scratchFolder"), "media-"));
    server = await startTestServer(engine, { env: { HELIOGRAPH_MEDIA_DIR: folder, HELIOGRAPH_MEDIA_MAX_MB: "1" } });
    whatsapp = await openFakeWhatsapp({ deliver: async (call) => deliver(call) });
    rbm = await FakeRbm.open({ agents: ["heliograph"] });
    const { token, appSecret, phoneNumberIds, businessAccountId } = FAKE_DEFAULTS;
    const [phoneNumberId] = phoneNumberIds;
    const baseUrl = whatsapp.url;
    const line = { baseUrl, token, appSecret, verifyToken: "a word", phoneNumberId, businessAccountId };
    chat = await lead(server, "whatsapp", "chatapp", line);
    const serviceAccount = keyFile(rbm.tokenUrl);
    await lead(server, "rbm", "rcs", { baseUrl: rbm.url, serviceAccount, clientToken: RBM_CLIENT_TOKEN });
    await server.request("POST", "/api/numbers", { name: FROM });
    // A message of the user opens the session.
    await receive({ type: "text", text: { body: "Hello" } });
  });
  afterAll(async () => {
    await server.close();
    await Promise.all([whatsapp.close(), rbm.close()]);
  });

  const deliver = async ({ body, headers }: { body: Buffer; headers: Record<string, string> }): Promise<number> =>
    (await fetch(chat.callbackUrl, { method: "POST", body: new Uint8Array(body), headers })).status;

  let received = 0;
  async function receive(content: object, from = TO): Promise<void> {
    received += 1;
    const message = { from, id: `wamid.in-${received}`, timestamp: String(Math.floor(Date.now() / 1000)), ...content };
    expect(await deliver(whatsapp.sign(callOf({ messages: [message] })))).toBe(200);
  }

  const send = (body: object) => server.request<Envelope>("POST", "/v1/chatapp", { from: FROM, to: TO, ...body });
  const idOf = ({ data }: Envelope): string => data[0]?.messageId ?? "";
  const ended = (messageId: string) =>
    eventually(
      () => server.message(messageId),
      ({ state }) => state === "submitted" || state === "rejected",
    );
  /** The body that the platform got. */
  async function taken(body: object): Promise<Readonly<Record<string, unknown>>> {
    const sent = await send(body);
    expect(sent).toMatchObject({ status: 200 });
    expect(await ended(idOf(sent.body))).toMatchObject({ state: "submitted" });
    return whatsapp.taken.find(({ body: { biz_opaque_callback_data: id } }) => id === idOf(sent.body))?.body ?? {};
  }

  test("one upload to the platform serves many messages, of sessions and of templates", async () => {
    const mediaId = await uploadMedia(server);
    const before = whatsapp.media.uploads.size;
    const [first, ...others] = await Promise.all(
      ["One", "Two", "Three"].map((caption) => taken({ type: "image", image: { mediaId, caption } })),
    );
    const { id } = (first?.["image"] ?? { id: "" }) as { id: string };
    expect(first).toMatchObject({ type: "image", image: { id, caption: "One" } });
    expect(others).toMatchObject([{ image: { id } }, { image: { id } }]);
    const components = { body: { params: ["Ada", "20%"] }, header: { type: "image", image: { mediaId } } };
    const template = await taken({ type: "template", templateName: "autumn_sale", components });
    expect(template["template"]).toMatchObject({
      components: [{ type: "header", parameters: [{ type: "image", image: { id } }] }, { type: "body" }],
    });
    expect(whatsapp.media.uploads.size).toBe(before + 1);
    expect(whatsapp.media.uploads.get(id)).toMatchObject({ type: "image/jpeg" });
    expect(whatsapp.faults).toEqual([]);
  });

  test("a document has the name of its upload, unless the message names another", async () => {
    const mediaId = await uploadMedia(server, { type: "application/pdf", name: "Preise März.pdf" });
    expect(await taken({ type: "document", document: { mediaId } })).toMatchObject({
      document: { filename: "Preise März.pdf" },
    });
    expect(await taken({ type: "document", document: { mediaId, filename: "other.pdf" } })).toMatchObject({
      document: { filename: "other.pdf" },
    });
  });

  test("an upload that the platform does not know any more is handed over again", async () => {
    const mediaId = await uploadMedia(server);
    const { image } = await taken({ type: "image", image: { mediaId } });
    const lost = (image as { id: string }).id;
    whatsapp.media.uploads.set("1166846181429999", { type: "image/jpeg", bytes: Buffer.alloc(0) });
    whatsapp.media.uploads.delete(lost);
    const again = await taken({ type: "image", image: { mediaId } });
    expect((again["image"] as { id: string }).id).not.toBe(lost);
    whatsapp.faults.splice(0);
  });

  test("a file that the platform refuses ends its message, and one that it does not answer about is sent later", async () => {
    const mediaId = await uploadMedia(server);
    whatsapp.next({ kind: "status", status: 503 });
    expect(await taken({ type: "image", image: { mediaId } })).toMatchObject({ type: "image" });
    whatsapp.next({ kind: "status", status: 400 });
    const sent = await send({ type: "image", image: { mediaId: await uploadMedia(server) } });
    expect(await ended(idOf(sent.body))).toMatchObject({ state: "rejected", errCode: "MEDIA_REFUSED" });
  });

  test("a message whose file was deleted before it left fails", async () => {
    const mediaId = await uploadMedia(server);
    const sendAt = Date.now() + 3000;
    const sent = await send({ type: "image", image: { mediaId }, sendAt });
    await server.request("DELETE", `/v1/media/${mediaId}`);
    expect(await ended(idOf(sent.body))).toMatchObject({ state: "rejected", errCode: "MEDIA_NOT_FOUND" });
  });

  test.each([
    ["an unknown id", "MEDIA_NOT_FOUND", async () => "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47"],
    ["a file of another kind", "MEDIA_TYPE_UNSUPPORTED", () => uploadMedia(server, { type: "audio/mpeg" })],
  ])("refuses %s, and names the field", async (_name, code, make) => {
    const { status, body } = await send({ type: "image", image: { mediaId: await make() } });
    expect({ status, error: body.error }).toMatchObject({ status: 422, error: { code, parameter: "image.mediaId" } });
  });

  test.each([
    [
      "link and mediaId",
      { link: "https://shop.example/a.jpg", mediaId: "0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47" },
      "image.mediaId",
    ],
    ["neither", {}, "image.link"],
    ["no id", { mediaId: "mine" }, "image.mediaId"],
    ["a link of our own form", { link: "media:0198f3a2-7c40-7d1e-9a51-3f0c8e2b6d47" }, "image.link"],
  ])("refuses an image with %s", async (_name, image, parameter) => {
    const { status, body } = await send({ type: "image", image });
    expect({ status, error: body.error }).toMatchObject({ status: 400, error: { parameter } });
  });

  test("a test message shows test media only, and the simulator shows it by its id", async () => {
    const apikey = server.testKey;
    const card = (mediaId: string) =>
      server.request<Envelope>(
        "POST",
        "/v1/rcs",
        { botId: "heliograph", number: "+15550100100", type: "TRANS", templateName: "a-card", content: [{ mediaId }] },
        { apikey },
      );
    const refused = await card(await uploadMedia(server));
    expect(refused.body.error).toMatchObject({ code: "MEDIA_NOT_FOUND", parameter: "content[0].mediaId" });
    const own = await uploadMedia(server, { apikey });
    const sent = await card(own);
    await server.settled(idOf(sent.body));
    const { body } = await server.request<{ data: object }>(
      "GET",
      `/api/simulator/messages/wait?to=15550100100&messageId=${idOf(sent.body)}`,
    );
    expect(body.data).toMatchObject({ cards: [{ fileUrl: `media:${own}` }] });
  });

  test("the RCS platform fetches a file once, by a signed URL, and messages name its file", async () => {
    const mediaId = await uploadMedia(server, { type: "image/png" });
    const rcs = () =>
      server.request<Envelope>("POST", "/v1/rcs", {
        botId: "heliograph",
        number: `+${TO}`,
        type: "TRANS",
        templateName: "autumn-sale",
        content: [{ mediaId }],
      });
    for (const sent of [await rcs(), await rcs()])
      expect(await ended(idOf(sent.body))).toMatchObject({ state: "submitted" });
    expect(rbm.fetched).toHaveLength(1);
    const [url = ""] = rbm.fetched;
    const file = await fetch(url);
    expect({ status: file.status, ...Object.fromEntries(file.headers) }).toMatchObject({
      status: 200,
      "content-type": "image/png",
      "x-content-type-options": "nosniff",
      "content-disposition": expect.stringMatching(/^attachment/),
    });
    expect(Buffer.from(await file.arrayBuffer()).subarray(0, 8)).toEqual(
      (FILES["image/png"] ?? Buffer.alloc(0)).subarray(0, 8),
    );
    expect(JSON.stringify(rbm.accepted)).toContain('"uploadedRbmFile":{"fileName":"files/1"}');
    const wrong = await server.request<Envelope>("POST", "/v1/rcs", {
      botId: "heliograph",
      number: `+${TO}`,
      type: "TRANS",
      templateName: "autumn-sale",
      content: [{ mediaId: await uploadMedia(server, { type: "application/pdf" }) }],
    });
    expect(wrong.body.error).toMatchObject({ code: "MEDIA_TYPE_UNSUPPORTED", parameter: "content[0].mediaId" });
  });

  interface Received {
    id: string;
    userFile: { payload: { fileUri: string } } | null;
    media: { id: string; state: string; type: string; size: number; sha256: string; url: string; failure: string };
  }

  /** Lets a user send a file; its message once the file is ready or failed. */
  async function receiveFile(bytes: Buffer | null, type = "image/jpeg", from = TO): Promise<Received> {
    const id = String(900_000 + received);
    if (bytes) whatsapp.media.sent.set(id, { type, bytes });
    await receive({ type: "image", image: { id, mime_type: type, sha256: "of the platform" } }, from);
    const list = () => server.request<{ data: Received[] }>("GET", `/v1/inbound?channel=chatapp&from=${from}`);
    // Messages of one second have no order.
    const own = async () =>
      (await list()).body.data.find(({ userFile }) => userFile?.payload.fileUri.endsWith(`/${id}`));
    const found = await eventually(own, (message) => message !== undefined && message.media.state !== "pending");
    return found as Received;
  }
  const contentOf = (id: string, query = "") =>
    fetch(`${server.url}/v1/media/${id}/content${query}`, { headers: { apikey: server.key } });

  test("a user's file is fetched with the token of the platform and kept with its message", async () => {
    const bytes = newFile("image/jpeg");
    const { id, media } = await receiveFile(bytes);
    expect(media).toMatchObject({
      state: "ready",
      type: "image/jpeg",
      size: bytes.length,
      sha256: createHash("sha256").update(bytes).digest("hex"),
      inboundId: id,
      url: `${server.url}/v1/media/${media.id}/content`,
    });
    const got = await contentOf(media.id, "?disposition=inline");
    expect(got.headers.get("content-disposition")).toBe("inline");
    expect(Buffer.from(await got.arrayBuffer())).toEqual(bytes);
    const asked = whatsapp.media.fetches;
    await receive({ type: "text", text: { body: "Did you get it?" } });
    expect(whatsapp.media.fetches).toBe(asked);
    // A message can show a file of a user.
    expect(await taken({ type: "image", image: { mediaId: media.id } })).toMatchObject({ type: "image" });
  });

  test("a download that fails is repeated, and a file that is gone is not", async () => {
    whatsapp.media.failures.push(503);
    const { media } = await receiveFile(newFile("image/jpeg"));
    expect(media).toMatchObject({ state: "ready", failure: null });
    const { media: gone } = await receiveFile(null);
    expect(gone).toMatchObject({ state: "failed", failure: "The platform answered with HTTP 404" });
    expect((await contentOf(gone.id)).status).toBe(409);
  });

  test("a user's file has the type of its content, and is a download unless it is a picture", async () => {
    const { media: page } = await receiveFile(Buffer.from("<script>alert(1)</script>"));
    expect(page.type).toBe("text/plain");
    const { media: archive } = await receiveFile(Buffer.from("PK\u0003\u0004 of anything"));
    expect(archive.type).toBe("application/octet-stream");
    for (const { id } of [page, archive]) {
      const { headers } = await contentOf(id, "?disposition=inline");
      expect(headers.get("content-disposition")).toBe("attachment");
      expect(headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    }
  });

  test("a user's file above the limit is not kept", async () => {
    const { media } = await receiveFile(Buffer.concat([newFile("image/jpeg"), Buffer.alloc(1_048_576)]));
    expect(media).toMatchObject({ state: "failed", failure: expect.stringContaining("1048576 bytes") });
  });

  test("the erasure of a number removes its files with their bytes", async () => {
    const from = "15550109044";
    const { media } = await receiveFile(newFile("image/jpeg"), "image/jpeg", from);
    const kept = await receiveFile(newFile("image/jpeg"));
    const names = (): string[] =>
      readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => basename(name));
    expect(names()).toContain(media.id);
    const { body } = await server.request<{ erasure: { id: string } }>("DELETE", `/v1/contacts/${from}?erase=true`);
    await eventually(
      () => server.request<{ state: string }>("GET", `/v1/erasures/${body.erasure.id}`),
      ({ body: { state } }) => state === "finished",
    );
    expect(names()).not.toContain(media.id);
    expect((await server.request("GET", `/v1/media/${media.id}`)).status).toBe(404);
    expect((await contentOf(kept.media.id)).status).toBe(200);
  });
});
