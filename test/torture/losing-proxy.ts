import { connect, createServer, type Socket } from "node:net";
import { freePort } from "../support/free-port.ts";

/** Which answer of the database is to be lost: the last one to a transaction that used these words and was answered those. */
interface Loss {
  to: string;
  saying: RegExp;
}

/** A line to PostgreSQL that can lose an answer: the statement is done and committed, and nobody hears of it. */
export interface LosingProxy {
  url: string;
  /** Breaks the line at the next such answer; resolves when it has happened. */
  lose(loss: Loss): Promise<void>;
  /** Holds up the next statement with these words; the returned function lets it through. */
  holdUp(words: string): { reached: Promise<void>; letGo(): void };
  close(): void;
}

/** The end of every answer: ready for the next query, outside of a transaction. */
const READY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);

interface Hold {
  words: string;
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
    /** What went either way since the last answer that ended outside of a transaction. */
    let [asked, answered] = ["", ""];
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
      if (loss) asked += chunk.toString("latin1");
      const held = hold && chunk.includes(hold.words) ? hold : null;
      if (held) hold = null;
      held?.reached.resolve();
      sending = sending.then(() => held?.gone.promise).then(() => void far.write(chunk));
    });
    far.on("data", (chunk) => {
      answered += loss ? chunk.toString("latin1") : "";
      const isLast = chunk.subarray(-READY.length).equals(READY);
      if (isLast && loss && asked.includes(loss.to) && loss.saying.test(answered)) {
        loss.happened.resolve();
        loss = null;
        end();
        return;
      }
      if (isLast) [asked, answered] = ["", ""];
      near.write(chunk);
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));

  const url = new URL(databaseUrl);
  url.port = String(port);
  return {
    url: url.href,
    lose(wanted) {
      const happened = Promise.withResolvers<void>();
      loss = { ...wanted, happened };
      return happened.promise;
    },
    holdUp(words) {
      const wanted: Hold = { words, reached: Promise.withResolvers<void>(), gone: Promise.withResolvers<void>() };
      hold = wanted;
      return { reached: wanted.reached.promise, letGo: () => wanted.gone.resolve() };
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
