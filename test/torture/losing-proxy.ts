import { connect, createServer, type Socket } from "node:net";
import { freePort } from "../support/free-port.ts";

/**
 * The response to lose: the last one of a transaction whose statements contain `to` and whose response matches
 * `saying`.
 */
interface Loss {
  to: string;
  matching: RegExp;
}

/** TCP proxy to PostgreSQL that can drop a response after the commit: the client does not learn that it succeeded. */
export interface LosingProxy {
  url: string;
  /** Closes the connection instead of forwarding the next matching response; resolves when that has happened. */
  lose(loss: Loss): Promise<void>;
  /** Delays the next statement that contains a text until `letGo` is called. */
  delay(text: string): { reached: Promise<void>; letGo(): void };
  close(): void;
}

/** ReadyForQuery with status idle, the last bytes of every response outside a transaction. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

interface Hold {
  text: string;
  reached: PromiseWithResolvers<void>;
  gone: PromiseWithResolvers<void>;
}

export async function openLosingProxy(databaseUrl: string): Promise<LosingProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let loss: (Loss & { happened: PromiseWithResolvers<void> }) | null = null;
  let hold: Hold | null = null;

  const server = createServer((near) => {
    const far = connect(Number(target.port), target.hostname);
    const both = [near, far];
    /** Traffic in both directions since the last ReadyForQuery outside a transaction. */
    let [requests, responses] = ["", ""];
    const end = (): void => {
      for (const socket of both) {
        sockets.delete(socket);
        socket.destroy();
      }
    };
    for (const socket of both) {
      sockets.add(socket);
      socket.setNoDelay(true).on("error", end).on("close", end);
    }

    let sending = Promise.resolve();
    near.on("data", (chunk) => {
      if (loss) requests += chunk.toString("latin1");
      const held = hold && chunk.includes(hold.text) ? hold : null;
      if (held) hold = null;
      held?.reached.resolve();
      sending = sending.then(() => held?.gone.promise).then(() => void far.write(chunk));
    });
    far.on("data", (chunk) => {
      responses += loss ? chunk.toString("latin1") : "";
      const isLast = chunk.subarray(-READY.length).equals(READY);
      if (isLast && loss && requests.includes(loss.to) && loss.matching.test(responses)) {
        loss.happened.resolve();
        loss = null;
        end();
        return;
      }
      if (isLast) [requests, responses] = ["", ""];
      near.write(chunk);
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));

  const url = new URL(databaseUrl);
  url.port = String(port);
  return {
    url: url.href,
    lose(expected) {
      const happened = Promise.withResolvers<void>();
      loss = { ...expected, happened };
      return happened.promise;
    },
    delay(text) {
      const expected: Hold = { text, reached: Promise.withResolvers<void>(), gone: Promise.withResolvers<void>() };
      hold = expected;
      return { reached: expected.reached.promise, letGo: () => expected.gone.resolve() };
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
