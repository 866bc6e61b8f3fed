import type { WhatsappSecrets, WhatsappSettings } from "../../model/whatsapp-connection.ts";
import type { CarrierMedia, HandOver, SentFile } from "../carrier-media.ts";
import { apiUrl, appSecretProof, hide } from "./api-urls.ts";
import { meaningOf } from "./error-codes.ts";
import { fieldsOf, jsonOf, stringOf, wholeOf } from "./read-json.ts";

interface UploadMediaDeps {
  settings: WhatsappSettings;
  secrets: WhatsappSecrets;
  media: CarrierMedia;
}

const DAY_MS = 86_400_000;
/** The platform keeps an upload for 30 days. */
const LIFE_MS = 29 * DAY_MS;
/** A large file takes longer than a message. */
const LIMIT_MS = 120_000;

/** Uploads a file for a business number (`POST /{phone-number-id}/media`). */
export async function uploadMedia(
  { settings, secrets, media }: UploadMediaDeps,
  phoneNumberId: string | null,
  file: SentFile,
): Promise<HandOver> {
  const path =
    settings.phoneNumberInPath && phoneNumberId !== null ? `${encodeURIComponent(phoneNumberId)}/media` : "media";
  try {
    const { status, text } = await media.postForm(file, {
      url: apiUrl(settings, path),
      headers: appSecretProof(settings, secrets),
      fields: { messaging_product: "whatsapp", type: file.type },
      limitMs: LIMIT_MS,
    });
    const answer = fieldsOf(jsonOf(text));
    const id = stringOf(answer["id"]);
    if (status === 200 && id !== null && /^[\w.:-]{1,200}$/.test(id))
      return { kind: "taken", platformId: id, lifeMs: LIFE_MS };
    const code = wholeOf(fieldsOf(answer["error"])["code"]);
    const reason = code === null ? `it answered with HTTP ${status}` : `${code}, ${meaningOf(code).description}`;
    const isRefused = status === 400 || status === 413 || status === 415 || status === 422;
    return { kind: isRefused ? "refused" : "failed", description: `The platform did not take the file: ${reason}` };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { kind: "failed", description: `The platform did not take the file: ${hide(reason, secrets)}` };
  }
}
