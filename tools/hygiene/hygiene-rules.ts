/** Text that no file of the repository may contain. The patterns do not match this file. */

export interface HygieneRule {
  readonly name: string
  readonly applies: (path: string) => boolean
  readonly pattern: RegExp
  readonly why: string
  /** Search code only, without comments and strings (TypeScript). */
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
    why: 'a machine-specific path: use a path relative to the repository',
  },
  {
    name: 'registry-host',
    applies: everywhere,
    pattern: /\bregistry\.(?:[\w-]+\.)+[a-z]{2,}|\bnpm\.pkg\.[a-z]+\.com|_auth[T]oken\b/giu,
    why: 'a package registry: each machine configures its own',
  },
  {
    name: 'unpublished',
    applies: notInLock,
    pattern: /\bnpm (?:install|i|add) (?:-\S+ )*@agent-exchange\//gu,
    why: 'the packages are in no registry yet: docs/installing.md has the command that works',
  },
  {
    name: 'unfinished',
    applies: notInLock,
    pattern: /\b(?:TO[D]O|FIX[M]E|X{3})\b/gu,
    why: 'unfinished work: finish it, or open an issue',
  },
  {
    name: 'only',
    applies: inTests,
    pattern: /\.only\b|\bonly:\s*true/gu,
    why: 'prevents all other tests from running',
    codeOnly: true,
  },
  {
    name: 'skip',
    applies: inTests,
    pattern:
      /(?:^|[^\w$])(?:(?:test|it|describe|suite)\.(?:skip|todo)\b|\w+\.(?:skip|todo)\(\s*\)|(?:skip|todo):\s*true)/gu,
    why: "a test that never runs: skip inside the test and give the reason, t.skip('reason')",
    codeOnly: true,
  },
  {
    name: 'lock-address',
    applies: inLock,
    pattern: /"resolved":\s*"[a-z+]+:/gu,
    why: 'a URL in the lock file: the integrity hash alone pins a package',
  },
]

/** Exceptions, each with its reason. `path` is a file, or a folder with a trailing slash. */
export const HYGIENE_ALLOWED: readonly { path: string; rule: string; because: string }[] = [
  { path: 'interop/vectors/', rule: 'unfinished', because: 'random base64 may contain any word' },
  { path: 'docs/images/', rule: 'unfinished', because: 'bytes of a picture may contain any word' },
]

/** Groups of package.json that need exact versions. Peer dependencies may be ranges. */
export const PINNED_GROUPS = ['dependencies', 'devDependencies', 'optionalDependencies', 'overrides'] as const
