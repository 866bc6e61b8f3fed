import type { Move } from "../store.ts";
import { columns } from "./columns.ts";

/** The ids of parts, beside the batch of moves that say that they were taken. */
export const pieceColumns = (first: number) =>
  columns(
    {
      step_place: "integer",
      carrier: "text",
      carrier_message_id: "text",
      part: "integer",
      parts: "integer",
      whole: "text",
    },
    first,
  );

export const pieceRows = (moves: readonly Move[]) =>
  moves.flatMap(({ carrier, partIds = [] }, index) =>
    partIds.map((id, place) => ({
      step_place: index + 1,
      carrier,
      carrier_message_id: id,
      part: place + 1,
      parts: partIds.length,
      whole: partIds[0],
    })),
  );
