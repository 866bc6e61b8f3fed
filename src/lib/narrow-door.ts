/** More wait at a narrow door than it lets wait. */
export class DoorFull extends Error {
  override name = "DoorFull";
}

/** Lets a few pieces of work through at a time, in order, and turns away what would wait too long. */
export function createNarrowDoor(limits: {
  atOnce: number;
  waiting: number;
}): <T>(work: () => Promise<T>) => Promise<T> {
  const queue: (() => void)[] = [];
  let free = limits.atOnce;
  return async (work) => {
    if (free > 0) free -= 1;
    else if (queue.length >= limits.waiting) throw new DoorFull("too much is waiting at the door");
    else await new Promise<void>((resolve) => void queue.push(resolve));
    try {
      return await work();
    } finally {
      // Whoever waits takes the place over; nobody can slip in between.
      const next = queue.shift();
      if (next) next();
      else free += 1;
    }
  };
}
