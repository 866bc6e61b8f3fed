/** Longer than the palette needs to load; afterwards keys belong to the page again. */
const AT_MOST_MS = 8000;

let text = "";
let hear: (text: string) => void = () => {};
let timer = 0;

function note(event: KeyboardEvent): void {
  if (event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement) return stopTypingAhead();
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") return stopTypingAhead();
  if (event.key !== "Backspace" && event.key.length !== 1) return;
  text = event.key === "Backspace" ? text.slice(0, -1) : text + event.key;
  // The page must not take the keys as its shortcuts.
  event.preventDefault();
  event.stopPropagation();
  hear(text);
}

/** Collects what the user types before the input that it is meant for has loaded and has the focus. */
export function startTypingAhead(): void {
  stopTypingAhead();
  window.addEventListener("keydown", note, true);
  timer = window.setTimeout(stopTypingAhead, AT_MOST_MS);
}

export function stopTypingAhead(): void {
  text = "";
  window.clearTimeout(timer);
  window.removeEventListener("keydown", note, true);
}

/** Receives the text so far and each later one. Returns what ends it. */
export function hearTypingAhead(receive: (text: string) => void): () => void {
  hear = receive;
  if (text !== "") receive(text);
  return () => {
    hear = () => {};
  };
}
