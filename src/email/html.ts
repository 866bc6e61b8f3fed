const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (found) => ENTITIES[found] ?? found);

interface HtmlOf {
  subject: string;
  text: string;
  /** Language tag, for screen readers and fonts; null if unknown. */
  language: string | null;
  /** A part of the text that is shown large; null for none. */
  emphasis: string | null;
}

/** The text as a page without images, links and scripts, which mail programs block. `dir="auto"` writes Arabic from the right. */
export function htmlOf({ subject, text, language, emphasis }: HtmlOf): string {
  const lines = text.split(/\r?\n/).map((line) => `<p>${emphasised(escape(line), emphasis)}</p>`);
  const lang = language === null ? "" : ` lang="${escape(language)}"`;
  return [
    "<!doctype html>",
    `<html${lang} dir="auto"><head><meta charset="utf-8"><title>${escape(subject)}</title></head>`,
    `<body style="font-family:sans-serif;font-size:16px">${lines.join("")}</body></html>`,
  ].join("\n");
}

const emphasised = (line: string, emphasis: string | null): string =>
  emphasis === null
    ? line
    : line.replaceAll(
        escape(emphasis),
        (found) => `<strong style="font-size:24px;letter-spacing:2px">${found}</strong>`,
      );
