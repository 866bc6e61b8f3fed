import { expect, test } from "vitest";
import { LateAnswers } from "../../src/carriers/smpp/late-answers.ts";
import type { Response } from "../../src/smpp/pdu.ts";
import type { Session } from "../../src/smpp/session.ts";

/** Only its identity matters. */
const bind = (): Session => ({}) as Session;
const TAKEN: Response = { command: "submit_sm_resp", status: 0, messageId: "a1", tlvs: [] };

test("a late response is passed on once, on the bind that owed it", () => {
  const late = new LateAnswers();
  const [one, other] = [bind(), bind()];
  const heard: Response[] = [];
  late.expect(one, 7, (pdu) => heard.push(pdu));
  expect(late.receive(other, 7, TAKEN)).toBe(false);
  expect(late.receive(one, 8, TAKEN)).toBe(false);
  expect(late.receive(one, 7, { command: "unbind_resp", status: 0 })).toBe(false);
  expect(late.receive(one, 7, TAKEN)).toBe(true);
  expect(late.receive(one, 7, TAKEN)).toBe(false);
  expect(heard).toEqual([TAKEN]);
});

test("a bind without responses is tracked for its last 10,000 requests only", () => {
  const late = new LateAnswers();
  const session = bind();
  for (let sequence = 1; sequence <= 10_001; sequence += 1) late.expect(session, sequence, () => {});
  expect([1, 2, 10_001].map((sequence) => late.receive(session, sequence, TAKEN))).toEqual([false, true, true]);
});
