import type { WhatsappSecrets, WhatsappSettings } from "../../model/whatsapp-connection.ts";
import type { FileLocation } from "../carrier.ts";
import { exchangeHttp } from "../http-exchange.ts";
import type { PlatformDeps } from "../http-platform.ts";
import { apiUrl, appSecretProof, hide } from "./api-urls.ts";
import { fieldsOf, jsonOf, stringOf } from "./read-json.ts";

type LocateFileDeps = Pick<
  PlatformDeps<WhatsappSettings, WhatsappSecrets>,
  "settings" | "secrets" | "egress" | "clock"
>;

const SECOND_MS = 1000;

/** Asks for the address of a user's file, which is valid for minutes and needs the token as well. */
export async function locateFile(deps: LocateFileDeps, uri: string): Promise<FileLocation> {
  const { settings, secrets, egress, clock } = deps;
  // The token is sent to the platform only, also if its address was changed since the message came.
  if (!uri.startsWith(apiUrl(settings, ""))) return { kind: "gone", description: "The file is of another platform" };
  const headers = appSecretProof(settings, secrets);
  const limitMs = settings.responseSeconds * SECOND_MS;
  const response = await exchangeHttp(egress, clock, { method: "GET", url: uri, headers, body: null, limitMs });
  if (response.kind !== "answered")
    return { kind: "failed", description: `The platform did not answer: ${hide(response.reason, secrets)}` };
  const url = stringOf(fieldsOf(jsonOf(response.text))["url"]);
  if (response.status === 200 && url !== null && /^https?:\/\//.test(url)) {
    const isSecure = url.startsWith("https:") || settings.baseUrl.startsWith("http:");
    return isSecure
      ? { kind: "found", url, headers }
      : { kind: "gone", description: "The platform named an address without TLS" };
  }
  const description = `The platform answered with HTTP ${response.status}`;
  return { kind: response.status === 404 || response.status === 400 ? "gone" : "failed", description };
}
