import type { RecordRow } from "../../parts/record/record-kind.ts";

/** Response types of one-time passwords. */
export interface Verification {
  verifyId: string;
  messageId: string;
  configId: string;
  to: string;
  country: string;
  state: string;
  attempts: number;
  attemptsMax: number;
  test: boolean;
  createdAt: number;
  expiresAt: number;
  doneAt: number | null;
  /** The product that made the code; null if Heliograph did. */
  source: string | null;
}

export interface Conversion {
  sends: number;
  verified: number;
  percent: number | null;
}

export interface TestNumber {
  number: string;
  code: string;
}

export interface VerifyConfig extends RecordRow {
  id: string;
  channels: readonly VerifyChannel[];
  length: number;
  lifeSeconds: number;
  checks: number;
  testNumbers: readonly TestNumber[];
  texts?: Readonly<Record<string, string>>;
  subjects?: Readonly<Record<string, string>>;
}

export interface VerifyChannel {
  channel: string;
  from: string;
  template?: string | null;
  waitSeconds?: number;
}
