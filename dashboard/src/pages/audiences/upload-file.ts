import { api, ApiError, get, type Page } from "../../api.ts";
import { formatNumber } from "../../i18n/format.ts";
import { t } from "../../i18n/t.ts";
import { AUDIENCES, percentOf, type Audience } from "./audience.ts";

/** Small parts make progress visible, and an interruption repeats little. */
const PART_BYTES = 524_288;
const WAIT_MS = 2000;

interface Needs {
  tell: (sentence: string, percent?: number) => void;
  signal: AbortSignal;
}

/**
 * Resumable upload in parts. It waits for a lost connection, and continues an interrupted upload of the same file, also
 * from another browser.
 */
export async function uploadFile({ tell, signal }: Needs, file: File): Promise<Audience> {
  let audience = (await unfinished(file, signal)) ?? (await create(file, signal));
  while (audience.state === "uploading") {
    const { id, received } = audience;
    const percent = percentOf(received, file.size);
    tell(
      t("Uploading {name}: {percent}", { name: file.name, percent: formatNumber(Math.floor(percent)) + " %" }),
      percent,
    );
    try {
      const base64 = await base64Of(file.slice(received, received + PART_BYTES));
      const body = { offset: received, base64 };
      audience = await api<Audience>("POST", `${AUDIENCES}/${id}/parts`, { body, signal });
    } catch (problem) {
      if (!isRetryable(problem)) throw problem;
      tell(t("Connection lost. The upload continues by itself."), percent);
      audience = await readAgain(audience, signal);
    }
  }
  return audience;
}

const create = (file: File, signal: AbortSignal): Promise<Audience> =>
  api("POST", AUDIENCES, { body: { name: nameOf(file), size: file.size }, signal });

const nameOf = ({ name }: File): string => name.replace(/\.[a-z]{2,4}$/i, "").slice(0, 100) || name;

async function unfinished(file: File, signal: AbortSignal): Promise<Audience | undefined> {
  const { data } = await get<Page<Audience>>(AUDIENCES, { state: "uploading", limit: 200 }, signal);
  return data.find(({ name, size }) => name === nameOf(file) && size === file.size);
}

/** True for a missing response, an overloaded server, or a part that the server already has. */
const isRetryable = (problem: unknown): boolean =>
  problem instanceof ApiError && (problem.status === 0 || problem.status >= 500 || problem.status === 409);

/** Asks for the offset until the server answers. */
async function readAgain({ id }: Audience, signal: AbortSignal): Promise<Audience> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await get<Audience>(`${AUDIENCES}/${id}`, {}, signal);
    } catch (problem) {
      if (!isRetryable(problem)) throw problem;
      await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
    }
  }
}

function base64Of(part: Blob): Promise<string> {
  const reader = new FileReader();
  return new Promise((resolve, reject) => {
    reader.addEventListener("load", () => resolve((reader.result as string).replace(/^[^,]*,/, "")));
    reader.addEventListener("error", () => reject(reader.error ?? new Error(t("The file cannot be read."))));
    reader.readAsDataURL(part);
  });
}
