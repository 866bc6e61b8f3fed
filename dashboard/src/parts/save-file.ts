/** Downloads a file that was created in the browser. */
export function saveFile(name: string, type: string, chunks: readonly string[]): void {
  const url = URL.createObjectURL(new Blob([...chunks], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
