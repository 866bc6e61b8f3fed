/** The languages of the dashboard by code, each under its own name. */
export const LANGUAGES = { en: "English", hi: "हिन्दी" } as const;
export type Language = keyof typeof LANGUAGES;

/** Storage key of the chosen language. */
export const STORED = "heliograph-language";

const isLanguage = (code: string | null | undefined): code is Language =>
  code !== null && code !== undefined && code in LANGUAGES;

function chosen(): Language {
  // Tests import modules in Node, which has no document.
  if (!("document" in globalThis)) return "en";
  const stored = localStorage.getItem(STORED);
  if (isLanguage(stored)) return stored;
  return navigator.languages.map((tag) => tag.split("-")[0]).find(isLanguage) ?? "en";
}

/** The language of this page. It changes only with a reload, so module constants can be translated too. */
export const language = chosen();

/** Locale for `Intl`: the browser's regional locale if its language is the dashboard's. */
export const locale =
  navigator.languages.find((tag) => tag.split("-")[0] === language) ?? (language === "hi" ? "hi-IN" : "en");
