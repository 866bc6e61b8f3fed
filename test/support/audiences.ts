import { eventually } from "./eventually.ts";
import type { Answer, ErrorBody } from "./test-server.ts";

export interface AudienceBody {
  id: string;
  name: string;
  test: boolean;
  state: string;
  size: number;
  received: number;
  checked: number;
  sheet: string | null;
  sheets: string[] | null;
  columns: string[] | null;
  mapping: { number: string; variables: Record<string, string> } | null;
  rows: number;
  recipients: number;
  faults: number;
  duplicates: number;
  optedOut: number;
  failure: { code: string; message: string } | null;
  fileUntil: number | null;
  error?: ErrorBody;
}

type Request = <T>(method: string, path: string, body?: unknown) => Promise<Pick<Answer<T>, "status" | "body">>;

const PART_BYTES = 1_000_000;

/** Uploads a file in parts; returns the id of its audience. */
export async function upload(request: Request, file: string | Buffer, fields: object = {}): Promise<string> {
  const bytes = Buffer.from(file);
  const { body } = await request<AudienceBody>("POST", "/v1/audiences", {
    name: "people",
    size: bytes.length,
    ...fields,
  });
  for (let offset = 0; offset < bytes.length; offset += PART_BYTES) {
    const base64 = bytes.subarray(offset, offset + PART_BYTES).toString("base64");
    await request("POST", `/v1/audiences/${body.id}/parts`, { offset, base64 });
  }
  return body.id;
}

/** The audience at the end of its check. */
export const checked = async (request: Request, id: string): Promise<AudienceBody> =>
  (
    await eventually(
      () => request<AudienceBody>("GET", `/v1/audiences/${id}`),
      ({ body }) => body.state === "ready" || body.state === "failed",
    )
  ).body;
