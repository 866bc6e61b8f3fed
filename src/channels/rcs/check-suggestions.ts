import { readNumber } from "../../model/number.ts";
import type { Fault } from "../../model/problem.ts";
import type { Suggestion } from "../../model/rcs.ts";
import { readAddress, readWords } from "./check-words.ts";
import { isShowable } from "../../lib/plain-text.ts";

type Fields = Readonly<Record<string, unknown>>;

/** What platforms take at most of the words of a suggestion, a place and an event. */
export const SUGGESTION_MAX = { text: 25, data: 2048, label: 100, title: 100, description: 500 } as const;
/** The last moment of the year 9999: later ones have no common spelling. */
const TIME_MAX = 253_402_300_799_999;
/** With its zone: a time without one means another moment on every machine. */
const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/;

/** Reads what can be tapped, as platforms would take it; what is wrong goes to `faults`, by its place. */
export function checkSuggestions(parameter: string, given: unknown, max: number, faults: Fault[]): Suggestion[] {
  if (given === undefined) return [];
  if (!Array.isArray(given) || given.length > max) {
    faults.push({ parameter, message: `suggestions is an array of at most ${max} objects.` });
    return [];
  }
  return given.flatMap((each: unknown, index) => checkSuggestion(`${parameter}[${index}]`, each, faults) ?? []);
}

function checkSuggestion(parameter: string, given: unknown, faults: Fault[]): Suggestion | null {
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    faults.push({ parameter, message: "A suggestion is an object with type and text." });
    return null;
  }
  const fields = given as Fields;
  const { label = "", description = "" } = fields;
  const at = (field: string): string => `${parameter}.${field}`;
  const text = readWords(at("text"), fields.text, { min: 1, max: SUGGESTION_MAX.text }, faults);
  const data = fields.data === undefined ? text : readData(at("data"), fields.data, faults);
  switch (fields.type) {
    case "reply":
    case "shareLocation":
      return { type: fields.type, text, data };
    case "url":
      return { type: "url", text, data, url: readAddress(at("url"), fields.url, faults) };
    case "dial":
      return { type: "dial", text, data, number: readDialled(at("number"), fields.number, faults) };
    case "viewLocation":
      return {
        type: "viewLocation",
        text,
        data,
        latitude: readDegrees(at("latitude"), fields.latitude, 90, faults),
        longitude: readDegrees(at("longitude"), fields.longitude, 180, faults),
        label: readWords(at("label"), label, { min: 0, max: SUGGESTION_MAX.label }, faults),
      };
    case "calendar":
      return {
        type: "calendar",
        text,
        data,
        title: readWords(at("title"), fields.title, { min: 1, max: SUGGESTION_MAX.title }, faults),
        ...readSpan(parameter, fields, faults),
        description: readWords(
          at("description"),
          description,
          { min: 0, max: SUGGESTION_MAX.description, lines: true },
          faults,
        ),
      };
    default:
      faults.push({
        parameter: at("type"),
        message: "type is one of reply, url, dial, viewLocation, shareLocation or calendar.",
      });
      return null;
  }
}

function readData(parameter: string, given: unknown, faults: Fault[]): string {
  if (typeof given === "string" && given !== "" && given.length <= SUGGESTION_MAX.data && isShowable(given))
    return given;
  const message = `data is a string of 1 to ${SUGGESTION_MAX.data} characters, or is left out and then the same as text.`;
  faults.push({ parameter, message });
  return "";
}

function readDialled(parameter: string, given: unknown, faults: Fault[]): string {
  const number = typeof given === "string" && given.includes("+") ? readNumber(given) : null;
  if (number !== null) return `+${number}`;
  const message = "number is international: a plus, the country code, 7 to 15 digits in all, like +919876543210.";
  faults.push({ parameter, message });
  return "";
}

function readDegrees(parameter: string, given: unknown, max: number, faults: Fault[]): number {
  if (typeof given === "number" && given >= -max && given <= max) return given;
  faults.push({ parameter, message: `Give the place in degrees: a number from -${max} to ${max}.` });
  return 0;
}

function readSpan(parameter: string, fields: Fields, faults: Fault[]): { startAt: number; endAt: number } {
  const startAt = readTime(`${parameter}.startAt`, fields.startAt, faults);
  const endAt = readTime(`${parameter}.endAt`, fields.endAt, faults);
  if (startAt !== null && endAt !== null && endAt < startAt)
    faults.push({ parameter: `${parameter}.endAt`, message: "The event ends before it starts: give a later endAt." });
  return { startAt: startAt ?? 0, endAt: endAt ?? 0 };
}

function readTime(parameter: string, given: unknown, faults: Fault[]): number | null {
  const time = typeof given === "string" && ISO_TIME.test(given) ? Date.parse(given) : given;
  if (typeof time === "number" && Number.isInteger(time) && time >= 0 && time <= TIME_MAX) return time;
  const message = "Give the time in epoch milliseconds, or like 2026-01-31T18:00:00Z with its zone.";
  faults.push({ parameter, message });
  return null;
}
