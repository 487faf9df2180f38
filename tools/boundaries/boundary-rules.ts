/** The architecture as a table: permitted imports, and permitted access to clock and environment. */

const SCOPE = '@agent-exchange/'

/** The workspace package of an import specifier, or undefined for any other module. */
export function workspaceOf(specifier: string): string | undefined {
  return specifier.startsWith(SCOPE) ? specifier.slice(SCOPE.length).split('/')[0] : undefined
}

/** protocol ← crypto ← { service, sdk } ← cli; web ← { service, cli }. Service and SDK share only the network protocol. */
export const PACKAGE_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  crypto: ['protocol'],
  web: [],
  service: ['protocol', 'crypto', 'web'],
  sdk: ['protocol', 'crypto'],
  cli: ['protocol', 'crypto', 'web', 'service', 'sdk'],
  testkit: ['protocol', 'crypto', 'service', 'sdk', 'cli'],
}

/** Only tests may import this package. */
export const TEST_ONLY_PACKAGE = 'testkit'

/** A layer of the service imports only from its own row and from earlier rows. */
export const SERVICE_LAYERS: readonly (readonly string[])[] = [
  ['config', 'kernel', 'db'],
  ['features', 'oauth', 'delivery'],
  ['http', 'operator'],
  ['service.ts'],
  ['process'],
]

interface Reserved {
  /** Folders (with a trailing slash) or files that the rule applies to. */
  readonly within: readonly string[]
  /** Exceptions within these. */
  readonly except: readonly string[]
  readonly why: string
}

/** Modules that only a few places may import. Relative imports are resolved first. */
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

/** Access to clock and environment, each limited to one place so that tests can replace it. */
export const RESERVED_CODE: readonly (Reserved & { readonly code: RegExp })[] = [
  {
    code: /\bprocess\s*\.\s*env\b|\bimport\.meta\.env\b/gu,
    within: ['packages/protocol/', 'packages/crypto/', 'packages/web/', 'packages/service/', 'packages/sdk/'],
    except: ['packages/service/src/config/'],
    why: 'only service/src/config reads the environment',
  },
  {
    code: /\bDate\s*\.\s*now\b|\bnew\s+Date\s*(?:\(\s*\)|(?![\s(\w]))|(?<!new\s+)\bDate\s*\(|\bperformance\s*\./gu,
    within: ['packages/protocol/', 'packages/crypto/', 'packages/web/', 'packages/service/'],
    except: ['packages/service/src/kernel/clock.ts'],
    why: 'only service/src/kernel/clock.ts reads the clock: take the time as an argument',
  },
]
