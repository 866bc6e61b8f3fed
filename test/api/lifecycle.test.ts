import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "../support/engines.ts";
import { eventually } from "../support/eventually.ts";
import { startTestServer, type Envelope, type TestServer, type PhoneMessageBody } from "../support/test-server.ts";

interface RichMessageBody {
  suggestions: { text: string; data: string }[];
}

/**
 * Read this first: one message per channel, from the request to the phone and back.
 * Everything here is real: the server listens, the store is on disk, only the carrier is simulated.
 */
describe.each(ENGINES)("the lifecycle of a message on %s", (engine) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startTestServer(engine);
  });
  afterAll(() => server.close());

  test("an SMS goes from the API to the phone, and its receipt makes it Delivered", async () => {
    // A business sends. The answer says that the message is on disk, not that it has arrived.
    const sent = await server.send({
      sender: "SHOP",
      to: "+1 555 010 0100",
      text: "Your order is on its way.",
      type: "TRANS",
    });
    expect(sent.status).toBe(200);
    const { id, data } = sent.body;
    expect(sent.body).toEqual({
      id,
      data: [{ recipient: "15550100100", messageId: `${id}:1` }],
      totalCount: 1,
      message: "Message Sent Successfully!",
      error: null,
    });
    const messageId = data[0]?.messageId ?? "";

    // The dispatcher hands it to the carrier, and the carrier to the phone.
    const arrived = await server.request<{ data: PhoneMessageBody }>(
      "GET",
      `/api/simulator/messages/wait?to=15550100100&messageId=${messageId}`,
    );
    expect(arrived.body.data).toMatchObject({
      messageId,
      sender: "SHOP",
      text: "Your order is on its way.",
      flash: false,
    });

    // The carrier's receipt comes back, and the customer can read what became of the message.
    const delivered = await server.settled(messageId);
    expect(delivered).toMatchObject({ messageId, recipient: "15550100100", status: "Delivered", credits: 1 });
    expect(delivered.submittedAt).toBeGreaterThanOrEqual(delivered.createdAt);
    expect(delivered.doneAt).toBeGreaterThanOrEqual(delivered.submittedAt ?? Number.POSITIVE_INFINITY);
  });

  test("an RCS message is shown with its buttons, read, and replied to with a tap", async () => {
    // The template is one that every new account has: a question with suggestions under it.
    const sent = await server.request<Envelope>("POST", "/v1/rcs", {
      number: "+15550100100",
      botId: "heliograph",
      templateName: "rate-us",
      type: "TRANS",
    });
    expect(sent.body.data).toEqual([{ recipient: "+15550100100", messageId: `${sent.body.id}:1` }]);
    const messageId = sent.body.data[0]?.messageId ?? "";

    // The phone shows what the template says.
    const { body } = await server.request<{ data: RichMessageBody }>(
      "GET",
      `/api/simulator/messages/wait?to=15550100100&messageId=${messageId}`,
    );
    const [suggestion] = body.data.suggestions;
    expect(body.data).toMatchObject({ channel: "rcs", kind: "rich", sender: "heliograph" });

    // Its owner taps the first suggestion, and the business finds the answer on the message's thread.
    await server.request("POST", "/api/simulator/phones/15550100100/tap", { messageId, text: suggestion?.text });
    const answers = await server.request<{ data: { messageId: string; suggestionResponse: object }[] }>(
      "GET",
      "/v1/inbound?channel=rcs",
    );
    expect(answers.body.data[0]).toMatchObject({
      messageId,
      suggestionResponse: { plainText: suggestion?.text, postBack: { data: suggestion?.data }, type: "REPLY" },
    });
    const read = await eventually(
      () => server.message(messageId),
      ({ state }) => state === "read",
    );
    expect(read.timeline.map(({ event }) => event).toSorted()).toEqual([
      "accepted",
      "delivered",
      "read",
      "replied",
      "sent",
    ]);
  });

  test("a chat-app template arrives with its values and its media header", async () => {
    const sent = await server.request<Envelope>("POST", "/v1/chatapp", {
      from: "+15550100199",
      to: "15550100100",
      type: "template",
      templateName: "invoice",
      components: {
        header: { type: "document", document: { link: "https://shop.example/invoice-4711.pdf" } },
        body: { params: ["Ada", "4711"] },
      },
    });
    const messageId = sent.body.data[0]?.messageId ?? "";
    const { body } = await server.request<{ data: { text: string } }>(
      "GET",
      `/api/simulator/messages/wait?to=15550100100&messageId=${messageId}`,
    );
    expect(body.data).toMatchObject({
      channel: "chatapp",
      header: { type: "document", link: "https://shop.example/invoice-4711.pdf" },
    });
    expect(body.data.text).toContain("4711");
    expect(await server.settled(messageId)).toMatchObject({ status: "Delivered" });
  });

  test("a message to an unreachable phone is Failed with the carrier's reason", async () => {
    const sent = await server.send({ to: "15550109001" });
    const failed = await server.settled(sent.body.data[0]?.messageId ?? "");
    expect(failed).toMatchObject({
      status: "Failed",
      state: "undelivered",
      errCode: "001",
      statusDescription: "The phone could not be reached",
    });
  });
});
