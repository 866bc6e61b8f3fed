import { t } from "../../i18n/t.ts";

/** The order matters: Edge's User-Agent also names Chrome, and Chrome's also names Safari. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/Edg(?:e|A|iOS)?\//, "Edge"],
  [/OPR\//, "Opera"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/Chrom(?:e|ium)\/|CriOS\//, "Chrome"],
  [/Safari\//, "Safari"],
  [/curl\//, "curl"],
];

const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/Android/, "Android"],
  [/iPhone|iPad/, "iOS"],
  [/Windows/, "Windows"],
  [/Mac OS X|Macintosh/, "macOS"],
  [/Linux|X11/, "Linux"],
];

/** The product name of the browser with this User-Agent. */
export function browserName(agent: string): string {
  const browser = BROWSERS.find(([form]) => form.test(agent))?.[1];
  const system = SYSTEMS.find(([form]) => form.test(agent))?.[1];
  if (browser && system) return t("{browser} on {system}", { browser, system });
  return browser ?? system ?? (agent === "" ? t("Unknown browser") : agent.slice(0, 40));
}
