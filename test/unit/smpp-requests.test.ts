import { expect, it } from "vitest";
import { submit, type SubmitDeps } from "../../src/facades/smpp/submit.ts";
import type { SmppClient } from "../../src/facades/smpp/client.ts";
import { QueueFull } from "../../src/lib/async.ts";
import { heldProblem } from "../../src/model/hold.ts";
import { smppAccessOf } from "../../src/model/smpp-access.ts";
import type { LiveBind } from "../../src/facades/smpp/live-binds.ts";
import { RequestHandler, type RequestDeps } from "../../src/facades/smpp/requests.ts";
import { submitSm } from "../../src/smpp/pdu.ts";
import { STATUS } from "../../src/smpp/status.ts";

it("a submit after the server began to unbind gets a temporary refusal and is not stored", async () => {
  // Any use of the store or the pipeline would throw.
  const deps = { clock: { now: () => 0 } } as RequestDeps;
  const counters = { submits: 0, refused: 0 };
  const bind = { session: { isOpen: false }, counters } as unknown as LiveBind;
  const answer = await new RequestHandler(deps).answer(bind, submitSm({ shortMessage: Buffer.from("late") }));
  expect(answer).toMatchObject({ command: "submit_sm_resp", status: STATUS.ESME_RMSGQFUL });
  expect(counters).toMatchObject({ submits: 1, refused: 1 });
});

it.each([
  ["overloaded", {}],
  ["held", { refusal: heldProblem() }],
])("a part of a long text is refused as temporary while the service is %s, and reaches no store", async (_, gate) => {
  const admission = {
    admit: () => {
      throw new QueueFull("busy");
    },
  };
  const requestAge = { arrival: () => 0, isLate: () => false };
  const acceptDeps = { gate: { refusal: null, ...gate }, admission, requestAge };
  const deps = { clock: { now: () => 0 }, acceptDeps } as unknown as SubmitDeps;
  const client = { account: { id: 1 }, credentialId: "c", access: smppAccessOf({}) } as unknown as SmppClient;
  const address = { ton: 1, npi: 1, address: "15550100100" };
  const shortMessage = Buffer.concat([Buffer.from([5, 0, 3, 13, 2, 1]), Buffer.from("part")]);
  const pdu = submitSm({ source: address, destination: address, esmClass: 0x40, shortMessage });
  expect(await submit(deps, client, pdu, address)).toEqual({ status: STATUS.ESME_RMSGQFUL, messageId: "" });
});

it("a system id with a thousand messages on their way is throttled on all its binds, and another one is not", async () => {
  const clientOf = (credentialId: string) => ({
    account: { id: 1, suspended: false },
    credentialId,
    scopes: ["sms"],
    access: { ...smppAccessOf({}), window: 1000 },
  });
  const bindOf = (credentialId: string) =>
    ({
      client: clientOf(credentialId),
      session: { isOpen: true },
      counters: { submits: 0, pendingSubmits: 0, refused: 0, throttled: 0, accepted: 0 },
    }) as unknown as LiveBind;
  let release: (error: Error) => void = () => {};
  const stored = new Promise<never>((_, reject) => (release = reject));
  const requestAge = { arrival: () => 0, isLate: () => false };
  const acceptDeps = { gate: { refusal: null }, admission: { admit: () => stored }, requestAge };
  const deps = { clock: { now: () => 0 }, acceptDeps } as unknown as RequestDeps;
  const handler = new RequestHandler(deps);
  const address = { ton: 1, npi: 1, address: "15550100100" };
  const shortMessage = Buffer.concat([Buffer.from([5, 0, 3, 13, 2, 1]), Buffer.from("part")]);
  const pdu = submitSm({ source: address, destination: address, esmClass: 0x40, shortMessage });
  const binds = [bindOf("flooder"), bindOf("flooder"), bindOf("flooder")];
  const flood = Array.from({ length: 1500 }, (_, n) => handler.answer(binds[n % 3] as LiveBind, pdu));
  const slow = handler.answer(bindOf("slow"), pdu);
  release(new QueueFull("busy"));
  const statuses = (await Promise.all(flood)).map((answer) => (answer && "status" in answer ? answer.status : null));
  expect(statuses.filter((status) => status === STATUS.ESME_RTHROTTLED)).toHaveLength(500);
  expect(statuses.filter((status) => status === STATUS.ESME_RMSGQFUL)).toHaveLength(1000);
  expect(await slow).toMatchObject({ status: STATUS.ESME_RMSGQFUL });
  expect(await handler.answer(bindOf("flooder"), pdu), "none are pending").toMatchObject({
    status: STATUS.ESME_RMSGQFUL,
  });
});
