import { hasUrlVariable, withUrlValue } from "../../model/button-url.ts";
import { BUTTON_FIELDS, type ButtonValue, type ChatButton, type FilledButton } from "../../model/chatapp.ts";
import type { Fault } from "../../model/problem.ts";
import { readLink } from "./media-link.ts";

/** Faults of the values of a template's buttons. `at` is their path in the request. */
export function buttonFaults(buttons: readonly ChatButton[], values: readonly ButtonValue[], at: string): Fault[] {
  const faults: Fault[] = [];
  for (const [place, value] of values.entries()) {
    const fault = (field: string, message: string): void =>
      void faults.push({ parameter: `${at}[${place}]${field}`, message });
    const button = buttons[value.index];
    if (!button) fault(".index", `The template has no button ${value.index}: the first one is 0.`);
    else if (values.findIndex(({ index }) => index === value.index) < place)
      fault(".index", `An earlier value is for the button ${value.index} too: give each button one.`);
    else {
      const takes: readonly string[] = takenFields(button);
      for (const field of Object.keys(value))
        if (field !== "index" && !takes.includes(field)) fault(`.${field}`, refusal(button, takes));
    }
  }
  for (const [index, button] of buttons.entries()) {
    const field = neededField(button);
    if (field === null || values.some((value) => value.index === index && value[field] !== undefined)) continue;
    const example = JSON.stringify({ index, [field]: "…" });
    faults.push({ parameter: at, message: `The button ${JSON.stringify(button.text)} needs a value: add ${example}.` });
  }
  return faults;
}

const takenFields = (button: ChatButton): readonly string[] =>
  button.type === "url" && !hasUrlVariable(button.url) ? [] : BUTTON_FIELDS[button.type];

function refusal({ text }: ChatButton, takes: readonly string[]): string {
  const fix = takes.length === 0 ? "takes no value" : `takes ${takes.join(" and ")}`;
  return `The button ${JSON.stringify(text)} ${fix}.`;
}

function neededField(button: ChatButton): "text" | "code" | null {
  if (button.type === "copyCode") return "code";
  return button.type === "url" && hasUrlVariable(button.url) ? "text" : null;
}

/** The buttons as the phone shows them. */
export const fillButtons = (buttons: readonly ChatButton[], values: readonly ButtonValue[]): readonly FilledButton[] =>
  values.length === 0
    ? buttons
    : buttons.map((button, index) =>
        filled(
          button,
          values.find((value) => value.index === index),
        ),
      );

function filled(button: ChatButton, value: ButtonValue | undefined): FilledButton {
  if (button.type === "url") {
    const url = withUrlValue(button.url, value?.text ?? "");
    return { ...button, url: readLink(url) ?? url };
  }
  const own = value?.payload ?? value?.code;
  return own === undefined ? button : { ...button, value: own };
}
