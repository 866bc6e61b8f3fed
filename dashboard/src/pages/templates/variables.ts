/** How many values a text takes: as many as it has `{#var#}`, or the highest number in braces. */
export function variablesIn(text: string): number {
  const inOrder = text.match(/\{#var#\}/g)?.length ?? 0;
  const byNumber = [...text.matchAll(/\{\{(\d{1,3})\}\}/g)].map(([, number]) => Number(number));
  return Math.max(inOrder, ...byNumber);
}
