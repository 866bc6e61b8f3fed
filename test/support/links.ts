import { newId } from "../../src/lib/ids.ts";
import { newCode } from "../../src/links/code.ts";
import type { Click } from "../../src/model/link.ts";
import { NOON } from "./acceptances.ts";

export interface InsertedLinks {
  accountId: number;
  requestId: string;
  /** By recipient, then by target. */
  codes: string[][];
}

interface LinkOptions {
  accountId?: number;
  targets?: readonly string[];
  recipients?: number;
  createdAt?: number;
  expiresAt?: number;
}

const NINETY_DAYS_MS = 90 * 86_400_000;

export const TARGET = "https://shop.example/orders/4711?a=1&b=%C3%A9#top";

/** Inserts the links of a request directly into the tables. */
export async function insertLinks(
  execute: (sql: string) => Promise<unknown>,
  { accountId = 1, targets = [TARGET], recipients = 1, createdAt = NOON, ...options }: LinkOptions = {},
): Promise<InsertedLinks> {
  const { expiresAt = createdAt + NINETY_DAYS_MS } = options;
  const requestId = newId(createdAt);
  const codes = Array.from({ length: recipients }, () => targets.map(() => newCode()));
  await execute(
    `insert into link_targets (account_id, request_id, k, url, created_at, expires_at, recipients) values ${targets
      .map(
        (url, index) =>
          `(${accountId}, '${requestId}', ${index + 1}, ${quote(url)}, ${createdAt}, ${expiresAt}, ${recipients})`,
      )
      .join()}`,
  );
  await execute(
    `insert into links (code, account_id, request_id, n, k) values ${codes
      .flatMap((own, n) => own.map((code, k) => `('${code}', ${accountId}, '${requestId}', ${n + 1}, ${k + 1})`))
      .join()}`,
  );
  return { accountId, requestId, codes };
}

const quote = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** A click; default: by a person at noon. */
export function click(code: string, { accountId = 1, agent = "person", at = NOON }: Partial<Click> = {}): Click {
  return { accountId, code, id: newId(at), agent, at };
}
