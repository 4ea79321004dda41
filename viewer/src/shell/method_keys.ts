// The methods that the keys 1 to 9 choose: the scene's own, and those that one most often wants to see beside it.

const FAVOURITES = [
  "auto", "pgs", "psor", "nncg", "block_gauss_seidel", "cone_newton", "admm", "block_principal", "multigrid",
];
const KEYS = 9;

/**
 * At most nine names, the scene's own first.
 *
 * `known` are all methods of the roster; `suitable` those that take the problem of the last step, null before the
 * first. Where few favourites are suitable, others of the roster fill the list in its order.
 */
export function methodKeys(own: string | null, known: readonly string[], suitable: readonly string[] | null): string[] {
  const may = new Set(suitable === null ? known : known.filter((name) => name === "auto" || suitable.includes(name)));
  const others = suitable === null ? [] : known;
  const names = [...(own !== null && known.includes(own) ? [own] : []), ...[...FAVOURITES, ...others].filter((name) => may.has(name))];
  return [...new Set(names)].slice(0, KEYS);
}
