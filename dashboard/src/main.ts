import { language } from "./i18n/language.ts";
import { setCatalogue } from "./i18n/t.ts";

document.documentElement.lang = language;

// Loaded before the application, so that module constants are translated too. English needs no catalogue.
if (language === "hi") setCatalogue((await import("./i18n/hi.ts")).HINDI);
await import("./mount.tsx");
