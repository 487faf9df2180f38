/** Who may import what, and who may touch the outside world: the architecture as a table. */

const SCOPE = '@agent-exchange/'

/** Package name in an import specifier, or undefined for anything that is not ours. */
export function workspaceOf(specifier: string): string | undefined {
  return specifier.startsWith(SCOPE) ? specifier.slice(SCOPE.length).split('/')[0] : undefined
}

/** protocol ← crypto ← { service, sdk } ← cli. Service and SDK meet only on the wire. */
export const PACKAGE_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  crypto: ['protocol'],
  service: ['protocol', 'crypto'],
  sdk: ['protocol', 'crypto'],
  cli: ['protocol', 'crypto', 'service', 'sdk'],
  testkit: ['protocol', 'crypto', 'service', 'sdk', 'cli'],
}

/** Imported by tests alone, whatever the package. */
export const TEST_ONLY_PACKAGE = 'testkit'

/** Inside the service, a layer imports from its own row and from those before it. */
export const SERVICE_LAYERS: readonly (readonly string[])[] = [
  ['config', 'kernel', 'db'],
  ['features', 'oauth', 'delivery'],
  ['http', 'operator'],
  ['service.ts'],
  ['process'],
]

interface Reserved {
  /** Folders (with a trailing slash) or files that the rule governs. */
  readonly within: readonly string[]
  /** Where, of those, it is allowed all the same. */
  readonly except: readonly string[]
  readonly why: string
}

/** Modules kept to a few places. `path` is what a relative import resolves to. */
export const RESERVED_IMPORTS: readonly (Reserved & { readonly imports: RegExp })[] = [
  {
    imports: /^node:/u,
    within: ['packages/protocol/src/'],
    except: [],
    why: 'protocol runs in a browser: no node: module',
  },
  {
    imports: /^node:/u,
    within: ['packages/crypto/src/'],
    except: ['packages/crypto/src/primitives-node.ts'],
    why: 'crypto runs in a browser: node: modules only in primitives-node.ts',
  },
  {
    imports: /^(?:node:.+|undici)$/u,
    within: ['packages/sdk/src/'],
    except: ['packages/sdk/src/node/', 'packages/sdk/src/connectors/'],
    why: 'the SDK runs in a browser: node: modules and undici only in sdk/src/node and sdk/src/connectors',
  },
  {
    imports: /^(?:pg|postgres)(?:\/|$)/u,
    within: ['packages/'],
    except: ['packages/service/src/db/', 'packages/testkit/src/'],
    why: 'only service/src/db talks to the database driver',
  },
  {
    imports: /^(?:fastify|@fastify\/.+)$/u,
    within: ['packages/'],
    except: ['packages/service/src/http/', 'packages/service/src/operator/'],
    why: 'only service/src/http and service/src/operator know Fastify',
  },
  {
    imports: /^packages\/service\/src\/features\/packages\//u,
    within: ['packages/service/src/delivery/'],
    except: [],
    why: 'delivery knows notifications, never packages (EVT-09)',
  },
]

/** Reads of the outside world kept to one place each, so that tests can stand in for it. */
export const RESERVED_CODE: readonly (Reserved & { readonly code: RegExp })[] = [
  {
    code: /\bprocess\s*\.\s*env\b|\bimport\.meta\.env\b/gu,
    within: ['packages/protocol/', 'packages/crypto/', 'packages/service/', 'packages/sdk/'],
    except: ['packages/service/src/config/'],
    why: 'only service/src/config reads the environment',
  },
  {
    code: /\bDate\s*\.\s*now\b|\bnew\s+Date\s*(?:\(\s*\)|(?![\s(\w]))|(?<!new\s+)\bDate\s*\(|\bperformance\s*\./gu,
    within: ['packages/protocol/', 'packages/crypto/', 'packages/service/'],
    except: ['packages/service/src/kernel/clock.ts'],
    why: 'only service/src/kernel/clock.ts reads the clock: take the time as an argument',
  },
]
