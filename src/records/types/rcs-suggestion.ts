import { fixedText, webAddress } from "../../channels/rcs/fixed-text.ts";
import { ISO_TIME, parseIsoTime } from "../../lib/iso-time.ts";
import { Type, type Infer, type Typed } from "../../lib/schema.ts";
import { isShowable } from "../../lib/text.ts";
import { readNumber } from "../../model/number.ts";
import type { Fault } from "../../model/problem.ts";
import { RECORDINGS, WEBVIEW_HEIGHTS, type Suggestion } from "../../model/rcs.ts";
import { oneOf } from "./shared-fields.ts";

const DATA_MAX = 2048;
const DATA_RULE = `data is a string of 1 to ${DATA_MAX} characters, or is left out and then the same as text.`;
const NUMBER_RULE = "number is international: a plus, the country code, 7 to 15 digits in all, like +919876543210.";
const TIME_RULE = "Give the time in epoch milliseconds, or like 2026-01-31T18:00:00Z with its zone.";
/** The end of the year 9999, the last time that ISO 8601 can express with four digits. */
const TIME_MAX = 253_402_300_799_999;
const isTime = (time: number): boolean => Number.isInteger(time) && time >= 0 && time <= TIME_MAX;

const time = (description: string): Typed<number | string> =>
  Type.Union(
    [
      Type.Integer({ minimum: 0, maximum: TIME_MAX, error: TIME_RULE }),
      Type.String({
        maxLength: 30,
        error: TIME_RULE,
        check: (written) => (ISO_TIME.test(written) && isTime(parseIsoTime(written)) ? null : TIME_RULE),
      }),
    ],
    { description, error: TIME_RULE },
  );

const degrees = (max: number, description: string): Typed<number> =>
  Type.Number({
    minimum: -max,
    maximum: max,
    description,
    error: `Give the place in degrees: a number from -${max} to ${max}.`,
  });

const dialled = (written: string): string | null => (written.includes("+") ? readNumber(written) : null);

/** A suggestion in requests. The limits are those of the platforms. */
export const suggestion = Type.Object(
  {
    type: oneOf(
      ["reply", "url", "dial", "viewLocation", "shareLocation", "calendar", "compose"],
      "Action of a tap: reply, open a URL, dial, show a location, share the phone's location, create a calendar event, or write a message to a number.",
    ),
    text: fixedText({ min: 1, max: 25 }, "Label."),
    data: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: DATA_MAX,
        description: "Postback data sent to the bot on a tap. Defaults to `text`.",
        error: DATA_RULE,
        check: (data) => (data.length <= DATA_MAX && isShowable(data) ? null : DATA_RULE),
      }),
    ),
    url: Type.Optional(webAddress("An http:// or https:// URL. Required if type is url.")),
    webview: Type.Optional(
      oneOf(
        WEBVIEW_HEIGHTS,
        "Opens the URL in a webview over the conversation, in full height, tall or half, if type is url. Without it the browser opens.",
      ),
    ),
    number: Type.Optional(
      Type.String({
        description: "An international phone number with plus. Required if type is dial or compose.",
        error: NUMBER_RULE,
        check: (number) => (dialled(number) === null ? NUMBER_RULE : null),
      }),
    ),
    latitude: Type.Optional(
      degrees(90, "Latitude in degrees, if type is viewLocation. Required unless `query` is given."),
    ),
    longitude: Type.Optional(
      degrees(180, "Longitude in degrees, if type is viewLocation. Required unless `query` is given."),
    ),
    label: Type.Optional(fixedText({ max: 100 }, "Name of the location, if type is viewLocation.")),
    query: Type.Optional(
      fixedText(
        { min: 1, max: 200 },
        "Words that the map searches for around the user, in place of a location, if type is viewLocation.",
      ),
    ),
    message: Type.Optional(
      fixedText({ min: 1, max: 100 }, "Text that the user may change and send to number, if type is compose."),
    ),
    recording: Type.Optional(
      oneOf(RECORDINGS, "Starts a recording that the user may send to number, if type is compose."),
    ),
    title: Type.Optional(fixedText({ min: 1, max: 100 }, "Title of the event. Required if type is calendar.")),
    startAt: Type.Optional(
      time("Start of the event: epoch milliseconds, or ISO 8601 with time zone. Required if type is calendar."),
    ),
    endAt: Type.Optional(time("End of the event, in the same format.")),
    description: Type.Optional(fixedText({ max: 500, lines: true }, "Description of the event.")),
  },
  {
    requiredBy: {
      field: "type",
      values: {
        url: ["url"],
        dial: ["number"],
        compose: ["number"],
        viewLocation: ["latitude", "longitude"],
        calendar: ["title", "startAt", "endAt"],
      },
      unless: { viewLocation: "query" },
    },
  },
);

/** The stored form of a suggestion, with the fields of its type only. */
export function toSuggestion(given: Infer<typeof suggestion>, parameter: string, faults: Fault[]): Suggestion {
  const { type, text, data = text } = given;
  if (type === "url") {
    const { url = "", webview } = given;
    return { type, text, data, url, ...(webview && { webview }) };
  }
  if (type === "compose") {
    const { message, recording } = given;
    if ((message === undefined) === (recording === undefined))
      faults.push({ parameter: `${parameter}.message`, message: "Give either message or recording." });
    const number = `+${dialled(given.number ?? "") ?? ""}`;
    return { type, text, data, number, ...(message !== undefined && { message }), ...(recording && { recording }) };
  }
  if (type === "dial") return { type, text, data, number: `+${dialled(given.number ?? "") ?? ""}` };
  if (type === "viewLocation") {
    const { latitude, longitude, label = "", query } = given;
    if (query === undefined) return { type, text, data, latitude: latitude ?? 0, longitude: longitude ?? 0, label };
    for (const [name, value] of Object.entries({ latitude, longitude, label: given.label }))
      if (value !== undefined)
        faults.push({ parameter: `${parameter}.${name}`, message: `A query finds the place: leave ${name} out.` });
    return { type, text, data, query };
  }
  if (type !== "calendar") return { type, text, data };
  const { title = "", description = "" } = given;
  const startAt = momentOf(given.startAt);
  const endAt = momentOf(given.endAt);
  if (endAt < startAt)
    faults.push({ parameter: `${parameter}.endAt`, message: "The event ends before it starts: give a later endAt." });
  return { type, text, data, title, startAt, endAt, description };
}

const momentOf = (written: number | string = 0): number =>
  typeof written === "number" ? written : parseIsoTime(written);
