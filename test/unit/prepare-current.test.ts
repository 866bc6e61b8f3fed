import { expect, test } from "vitest";
import { Problem, type ProblemCode } from "../../src/model/problem.ts";
import { prepareCurrent } from "../../src/pipeline/accept/prepare-current.ts";

/** A record that another node has created: it is in memory once the store is read. */
async function prepareWith(code: ProblemCode): Promise<{ result: string; reads: number }> {
  let reads = 0;
  const catalog = { refreshShared: async () => void (reads += 1) };
  const prepare = async (): Promise<string> => {
    if (reads === 0) throw new Problem(code);
    return "prepared";
  };
  const result = await prepareCurrent({ catalog }, prepare).catch((error: unknown) => String(error));
  return { result, reads };
}

test.each(["SENDER_NOT_REGISTERED", "TEMPLATE_NOT_FOUND"] as const)(
  "a send that %s would refuse is prepared again once the records are read",
  async (code) => {
    expect(await prepareWith(code)).toEqual({ result: "prepared", reads: 1 });
  },
);

test("a send that is refused for another reason reads no records", async () => {
  expect(await prepareWith("MESSAGE_TOO_LONG")).toMatchObject({ reads: 0 });
});
