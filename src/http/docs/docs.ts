import type { OpenRoute } from "../route.ts";

export const docsRoutes: readonly OpenRoute[] = [];
