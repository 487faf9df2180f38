/** What no file of the repository may hold. Patterns are written so that this file passes them itself. */

export interface HygieneRule {
  readonly name: string
  readonly applies: (path: string) => boolean
  readonly pattern: RegExp
  readonly why: string
  /** Look at code alone, with comments and strings blanked (TypeScript only). */
  readonly codeOnly?: true
}

const everywhere = () => true
const inTests = (path: string) => path.endsWith('.test.ts')
const inLock = (path: string) => path === 'package-lock.json'
const notInLock = (path: string) => !inLock(path)

export const HYGIENE_RULES: readonly HygieneRule[] = [
  {
    name: 'machine-path',
    applies: everywhere,
    pattern: /(?<![\w.:-])\/(?:work|root|Users|home\/[\w-]+)\/|\/tmp\/bash|file:\/{3}/gu,
    why: 'a path of one machine: use one relative to the repository',
  },
  {
    name: 'registry-host',
    applies: everywhere,
    pattern: /\bregistry\.(?:[\w-]+\.)+[a-z]{2,}|\bnpm\.pkg\.[a-z]+\.com|_auth[T]oken\b/giu,
    why: 'a package registry: which one to use is for the machine to say',
  },
  {
    name: 'unfinished',
    applies: notInLock,
    pattern: /\b(?:TO[D]O|FIX[M]E|X{3})\b/gu,
    why: 'a note to finish later: finish it, or open an issue',
  },
  {
    name: 'only',
    applies: inTests,
    pattern: /\.only\b|\bonly:\s*true/gu,
    why: 'keeps every other test from running',
    codeOnly: true,
  },
  {
    name: 'skip',
    applies: inTests,
    pattern:
      /(?:^|[^\w$])(?:(?:test|it|describe|suite)\.(?:skip|todo)\b|\w+\.(?:skip|todo)\(\s*\)|(?:skip|todo):\s*true)/gu,
    why: "a test that never runs: decide inside it and say why, t.skip('reason')",
    codeOnly: true,
  },
  {
    name: 'lock-address',
    applies: inLock,
    pattern: /"resolved":\s*"[a-z+]+:/gu,
    why: 'an address in the lock file: integrity alone pins a package',
  },
]

/** Exceptions, each with its reason. `path` is a file, or a folder with a trailing slash. */
export const HYGIENE_ALLOWED: readonly { path: string; rule: string; because: string }[] = [
  { path: 'interop/vectors/', rule: 'unfinished', because: 'random base64 may spell anything' },
]

/** Groups of package.json whose versions are exact. Peer ranges are promises to others, so they may be open. */
export const PINNED_GROUPS = ['dependencies', 'devDependencies', 'optionalDependencies', 'overrides'] as const
