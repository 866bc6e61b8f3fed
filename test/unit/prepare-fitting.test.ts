import { expect, test } from "vitest";
import { prepareFitting } from "../../src/campaigns/prepare-fitting.ts";
import type { CampaignRequests, Sending } from "../../src/campaigns/requests.ts";
import type { MediaVerdict } from "../../src/egress/media.ts";
import type { Prepared, PrepareDeps } from "../../src/pipeline/accept/prepare.ts";

const TOO_LARGE: MediaVerdict = { kind: "too large", bytes: 2, bytesMax: 1 };

/** The verdicts on two files that the preparation of a batch of one recipient gets, and the links that were looked at. */
async function lookAt(dryRun: boolean): Promise<{ verdicts: unknown[]; looked: string[] }> {
  const looked: string[] = [];
  const probeWithin = (link: string): Promise<MediaVerdict> => {
    looked.push(link);
    return Promise.resolve(TOO_LARGE);
  };
  const verdicts: unknown[] = [];
  const requests: CampaignRequests = {
    isPersonal: true,
    isShared: (text) => text === "shared",
    select: (fit) => ({ fit, skipped: [] }),
    async prepare({ media }) {
      for (const link of ["shared", "own"]) verdicts.push(await media.probeWithin(link, "image", 1000));
      return {} as Prepared;
    },
  };
  const deps = { media: { probeWithin } } as unknown as PrepareDeps;
  await prepareFitting(deps, { dryRun } as Sending, requests, [
    { row: 2, number: "15550100100", values: [], optedOut: false },
  ]);
  return { verdicts, looked };
}

test("the feed of a campaign looks at no file, whatever the size of its batch", async () => {
  expect(await lookAt(false)).toEqual({ verdicts: [{ kind: "unknown" }, { kind: "unknown" }], looked: [] });
});

test("a preview and the start look at the files that all recipients share", async () => {
  expect(await lookAt(true)).toEqual({ verdicts: [TOO_LARGE, { kind: "unknown" }], looked: ["shared"] });
});
