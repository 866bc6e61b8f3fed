const WIDTH = 30;

/** A line such as `[######      ] 50 %  1200 of 2400 rows`. */
export function progressBar(done: number, all: number, text: string): string {
  const share = all === 0 ? 1 : Math.min(1, Math.max(0, done / all));
  const filled = Math.round(share * WIDTH);
  return `[${"#".repeat(filled)}${" ".repeat(WIDTH - filled)}] ${Math.floor(share * 100)} %  ${text}`;
}
