type Branch = Map<string | number, unknown>;

/**
 * A map whose keys are paths of equal length, stored as nested maps. Joining a path into one string for each lookup would
 * cost more.
 */
export class PathMap<V> {
  readonly #root: Branch = new Map();

  get(path: readonly (string | number)[]): V | undefined {
    let found: unknown = this.#root;
    for (let at = 0; at < path.length && found !== undefined; at++) found = (found as Branch).get(path[at] ?? "");
    return found as V | undefined;
  }

  set(path: readonly (string | number)[], value: V): void {
    let branch = this.#root;
    for (let at = 0; at < path.length - 1; at++) {
      const key = path[at] ?? "";
      let next = branch.get(key) as Branch | undefined;
      if (!next) branch.set(key, (next = new Map()));
      branch = next;
    }
    branch.set(path.at(-1) ?? "", value);
  }

  delete(path: readonly (string | number)[]): void {
    let branch: Branch | undefined = this.#root;
    for (let at = 0; at < path.length - 1; at++) branch = branch?.get(path[at] ?? "") as Branch | undefined;
    branch?.delete(path.at(-1) ?? "");
  }
}
