import { Problem, type ProblemCode } from "../../model/problem.ts";
import type { Catalog } from "../../records/catalog.ts";

const MISSING_RECORD: ReadonlySet<ProblemCode> = new Set(["SENDER_NOT_REGISTERED", "TEMPLATE_NOT_FOUND"]);

/** Read-your-writes across nodes: a record that another node has just created is read before a send is refused without it. */
export async function prepareCurrent<T>(
  { catalog }: { catalog: Pick<Catalog, "refreshShared"> },
  prepare: () => Promise<T>,
): Promise<T> {
  try {
    return await prepare();
  } catch (error) {
    const isMissing = error instanceof Problem && MISSING_RECORD.has(error.code);
    if (!isMissing) throw error;
    await catalog.refreshShared();
    return prepare();
  }
}
