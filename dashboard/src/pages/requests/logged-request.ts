/** An entry of the request log. */
export interface LoggedRequest {
  id: string;
  node: number;
  at: number;
  actor: { kind: "key" | "agent" | "user"; id: string | null; name: string | null };
  test: boolean;
  method: string;
  path: string;
  query: readonly string[];
  status: number;
  code: string | null;
  requestId: string | null;
  durationMs: number;
  body: unknown;
}
