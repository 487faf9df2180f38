/** What a published package may hold. Pure: paths in, findings out. */

/** Files of a checkout that no user of a package needs: sources, tests, trials, the connector simulator. */
const NOT_PUBLISHED =
  /(?:^|\/)(?:src|test|tests|faults|real-edc|testkit)\/|\.test\.|[.-]fixture\.|simulator|(?:^|\/)faults\.|\.tsbuildinfo$/u

/** `dist/a/b.js`, its declaration and their maps all come from `src/a/b.ts`. */
const COMPILED = /^dist\/(.+?)\.(?:d\.ts|js)(?:\.map)?$/u

/**
 * Paths in a tarball that must not be there. `sources` are the paths below `src`: a compiled file without its
 * source is left over from an earlier build.
 */
export function strayFiles(packed: readonly string[], sources: ReadonlySet<string>): string[] {
  return packed.filter((path) => {
    if (NOT_PUBLISHED.test(path)) return true
    const name = COMPILED.exec(path)?.[1]
    return name !== undefined && !sources.has(`${name}.ts`)
  })
}
