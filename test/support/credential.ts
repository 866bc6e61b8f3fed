import type { CredentialKind } from "../../src/model/credential.ts";
import type { TestServer } from "./test-server.ts";

export interface Login {
  id: string;
  username: string;
  password: string;
}

/** Creates a credential of a server. */
export async function createLogin(server: TestServer, kind: CredentialKind, choices: object = {}): Promise<Login> {
  const { status, body } = await server.request<Login>("POST", "/api/credentials", { kind, name: "Test", ...choices });
  if (status !== 201) throw new Error(`no credential was created: ${status}`);
  return body;
}

/** Parameters as the query of a URL. */
export const queryText = (parameters: Record<string, string>): string => new URLSearchParams(parameters).toString();
