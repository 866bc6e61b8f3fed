import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ENGINES } from "./support/engines.ts";
import { openHouse, type House, type PhoneMessageBody } from "./support/house.ts";

/**
 * Read this first: one message, from the door to the phone and back.
 * Everything here is real: the server listens, the store is on disk, only the carrier is simulated.
 */
describe.each(ENGINES)("the walk of a message on %s", (engine) => {
  let house: House;
  beforeAll(async () => {
    house = await openHouse(engine);
  });
  afterAll(() => house.close());

  test("an SMS goes from the door to the phone, and its receipt makes it Delivered", async () => {
    // A business sends. The answer says that the message is on disk, not that it has arrived.
    const sent = await house.send({
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
    const arrived = await house.ask<{ data: PhoneMessageBody }>(
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
    const delivered = await house.settled(messageId);
    expect(delivered).toMatchObject({ messageId, recipient: "15550100100", status: "Delivered", credits: 1 });
    expect(delivered.submittedAt).toBeGreaterThanOrEqual(delivered.createdAt);
    expect(delivered.doneAt).toBeGreaterThanOrEqual(delivered.submittedAt ?? Number.POSITIVE_INFINITY);
  });

  test("a phone that cannot be reached makes it Failed, with the carrier's reason", async () => {
    const sent = await house.send({ to: "15550109001" });
    const failed = await house.settled(sent.body.data[0]?.messageId ?? "");
    expect(failed).toMatchObject({
      status: "Failed",
      state: "undelivered",
      errCode: "001",
      statusDescription: "The phone could not be reached",
    });
  });
});
