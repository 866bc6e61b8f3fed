import { isPersonal, roleOf, type Route } from "../route.ts";

/** The table of `docs/users.md`: what the routes themselves say about who may pass, beyond what follows from their methods. */
export function rolesTable(routes: readonly Route[]): string {
  const rows = routes.flatMap((route) => {
    const name = `\`${route.method} ${route.path.replaceAll(/:(\w+)/g, "{$1}")}\``;
    if (isPersonal(route)) return [`| ${name} | ${route.summary} | everybody, about themselves |`];
    if (route.scope === null || route.role === undefined) return [];
    return [`| ${name} | ${route.summary} | ${roleOf(route)} |`];
  });
  return ["| Operation | | Role |", "|---|---|---|", ...rows].join("\n");
}
