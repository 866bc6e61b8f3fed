import { language } from "./i18n/language.ts";
import { setCatalogue } from "./i18n/t.ts";

document.documentElement.lang = language;

// The catalogue comes first, so that constants of modules are translated, too. English needs none.
if (language === "hi") setCatalogue((await import("./i18n/hi.ts")).HINDI);
await import("./mount.tsx");
