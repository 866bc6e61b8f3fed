import { isPersonal, roleOf, type Route } from "../route.ts";

/** Table in `docs/users.md`: operations whose role does not follow from their method. */
export function rolesTable(routes: readonly Route[]): string {
  const rows = routes.flatMap((route) => {
    const name = `\`${route.method} ${route.path.replaceAll(/:(\w+)/g, "{$1}")}\``;
    if (isPersonal(route)) return [`| ${name} | ${route.summary} | everybody, about themselves |`];
    if (route.scope === null || route.role === undefined) return [];
    return [`| ${name} | ${route.summary} | ${roleOf(route)} |`];
  });
  return ["| Operation | | Role |", "|---|---|---|", ...rows].join("\n");
}
