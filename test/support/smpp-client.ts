import { bind, type BindOptions } from "../../src/smpp/client.ts";
import { submitSm, type DeliverSm, type SubmitSm } from "../../src/smpp/pdu.ts";
import { responseTo } from "../../src/smpp/respond.ts";
import type { Session } from "../../src/smpp/session.ts";
import type { TestServer } from "./test-server.ts";

export interface SmppCredential {
  id: string;
  username: string;
  password: string;
}

/** A bound client that keeps what it receives. */
export interface SmppTestClient {
  session: Session;
  received: DeliverSm[];
  submit(fields?: Partial<SubmitSm>): Promise<{ status: number; messageId: string }>;
}

export const phone = (address: string) => ({ ton: 1, npi: 1, address });
export const senderOf = (address: string) => ({ ton: 5, npi: 0, address });
export const statOf = ({ shortMessage }: DeliverSm): string =>
  /stat:(\w+)/.exec(shortMessage.toString("latin1"))?.[1] ?? "";
export const idIn = ({ shortMessage }: DeliverSm): string =>
  /^id:(\S+)/.exec(shortMessage.toString("latin1"))?.[1] ?? "";
export const uuidOf = (digits: string): string => digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");

/** Clients of the SMPP server of a test. */
export class SmppTestClients {
  readonly #server: TestServer;
  readonly #open: Session[] = [];

  constructor(server: TestServer) {
    this.#server = server;
  }

  async create(fields: Record<string, unknown> = {}): Promise<SmppCredential> {
    const body = { kind: "smpp", name: "Reseller", ...fields };
    const answer = await this.#server.request<SmppCredential>("POST", "/api/credentials", body);
    if (answer.status !== 201) throw new Error(`no credential: ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  async tryBind({ username, password }: Omit<SmppCredential, "id">, more: Partial<BindOptions> = {}) {
    const received: DeliverSm[] = [];
    const result = await bind({
      host: "127.0.0.1",
      port: this.#server.app.smppPorts.plain ?? 0,
      systemId: username,
      password,
      onRequest: (pdu) => {
        if (pdu.command !== "deliver_sm") return null;
        received.push({ ...pdu, shortMessage: Buffer.from(pdu.shortMessage) });
        return responseTo(pdu);
      },
      ...more,
    });
    if (result.kind === "bound") this.#open.push(result.session);
    return { result, received };
  }

  async connect(as: SmppCredential, more: Partial<BindOptions> = {}): Promise<SmppTestClient> {
    const { result, received } = await this.tryBind(as, more);
    if (result.kind !== "bound") throw new Error(`not bound: ${JSON.stringify(result)}`);
    const { session } = result;
    const submit: SmppTestClient["submit"] = async (fields) => {
      const outcome = await session.request(
        submitSm({
          source: senderOf("SHOP"),
          destination: phone("15550100100"),
          registeredDelivery: 1,
          shortMessage: Buffer.from("Hello"),
          ...fields,
        }),
      );
      if (outcome.kind !== "answer") throw new Error(`no answer: ${outcome.kind}`);
      const { pdu } = outcome;
      return { status: pdu.status, messageId: "messageId" in pdu ? pdu.messageId : "" };
    };
    return { session, received, submit };
  }

  closeAll(): void {
    for (const session of this.#open.splice(0)) session.destroy();
  }
}

/** The status of a query_sm. */
export async function queryStatus({ session }: SmppTestClient, messageId: string): Promise<number | null> {
  const outcome = await session.request({ command: "query_sm", messageId, source: senderOf("SHOP"), tlvs: [] });
  return outcome.kind === "answer" ? outcome.pdu.status : null;
}

/** The status of a cancel_sm. */
export async function cancelStatus({ session }: SmppTestClient, messageId: string, to: string): Promise<number | null> {
  const source = senderOf("SHOP");
  const destination = phone(to);
  const ask = { command: "cancel_sm", serviceType: "", messageId, source, destination, tlvs: [] } as const;
  const outcome = await session.request(ask);
  return outcome.kind === "answer" ? outcome.pdu.status : null;
}
