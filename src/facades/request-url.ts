/** A URL with its user information as a header: a request's URL has none. */
export function withoutUserInfo(address: string): { url: string; headers: Record<string, string> } {
  const url = new URL(address);
  const { username, password } = url;
  if (username === "" && password === "") return { url: url.href, headers: {} };
  const login = `${decode(username)}:${decode(password)}`;
  url.username = "";
  url.password = "";
  return { url: url.href, headers: { authorization: `Basic ${Buffer.from(login).toString("base64")}` } };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
