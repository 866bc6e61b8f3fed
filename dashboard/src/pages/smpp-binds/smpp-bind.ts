export const BINDS = "/api/smpp-binds";

/** A bind of an ESME to the SMPP server. */
export interface SmppBind {
  id: string;
  systemId: string;
  kind: string;
  node: number;
  address: string;
  tls: boolean;
  boundAt: number;
  submits: number;
  accepted: number;
  refused: number;
  throttled: number;
  delivered: number;
  failed: number;
  pendingSubmits: number;
  pendingDeliveries: number;
}

export interface SmppPdu {
  at: number;
  direction: "in" | "out";
  sequence: number;
  command: string;
  status: number | null;
  messageId: string | null;
  source: string | null;
  destination: string | null;
  fault: string | null;
}
