/** The number of values that a text takes: its count of `{#var#}`, or its highest number in braces. */
export function variablesIn(text: string): number {
  const inOrder = text.match(/\{#var#\}/g)?.length ?? 0;
  const byNumber = [...text.matchAll(/\{\{(\d{1,3})\}\}/g)].map(([, number]) => Number(number));
  return Math.max(inOrder, ...byNumber);
}
