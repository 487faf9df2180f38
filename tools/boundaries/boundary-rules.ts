/** The architecture as a table: permitted imports, and permitted access to clock and environment. */

const SCOPE = '@agent-exchange/'

/** The workspace package of an import specifier, or undefined for any other module. */
export function workspaceOf(specifier: string): string | undefined {
  return specifier.startsWith(SCOPE) ? specifier.slice(SCOPE.length).split('/')[0] : undefined
}

/**
 * The packages that each package may import. Service and SDK share only the network protocol, and nothing imports the
 * conformance kit. docs/architecture.md has the picture.
 */
export const PACKAGE_IMPORTS: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  crypto: ['protocol'],
  log: ['protocol', 'crypto', 'web'],
  web: [],
  database: [],
  pkcs11: ['crypto'],
  server: ['database', 'pkcs11'],
  service: ['protocol', 'crypto', 'log', 'web', 'database', 'server', 'pkcs11'],
  sdk: ['protocol', 'crypto', 'log'],
  edc: ['protocol', 'crypto', 'log', 'sdk'],
  mcp: ['protocol', 'crypto', 'log', 'sdk'],
  desk: ['protocol', 'crypto', 'log', 'sdk', 'web'],
  gateway: ['protocol', 'crypto', 'log', 'sdk', 'database', 'server', 'web', 'mcp', 'desk', 'pkcs11'],
  'edc-simulator': ['sdk', 'edc'],
  conformance: ['protocol', 'crypto', 'log'],
  cli: ['protocol', 'crypto', 'log', 'database', 'server', 'service', 'gateway', 'sdk', 'edc', 'mcp', 'desk'],
  testkit: ['protocol', 'crypto', 'log', 'database', 'server', 'service', 'sdk', 'cli'],
}

/** Private packages that only tests import, each with the folders that may load it on demand all the same. */
export const TEST_ONLY_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  testkit: ['demo/'],
  'edc-simulator': ['demo/'],
}

/** A layer of the service imports only from its own row and from earlier rows. */
const SERVICE_LAYERS: readonly (readonly string[])[] = [
  ['config', 'kernel', 'migrations', 'platform-keys'],
  ['features', 'oauth', 'webhooks'],
  ['http', 'operator'],
  ['console'],
  ['startup'],
  ['service.ts'],
  ['process', 'index.ts'],
]

/** A room of the SDK imports only itself and rooms above it in this list. Fixtures obey it too; tests do not. */
const SDK_LAYERS: readonly (readonly string[])[] = [
  ['errors.ts'],
  ['pause-and-backoff.ts'],
  ['policy'],
  ['data-space'],
  ['outbox'],
  ['log-state.ts', 'log-state-contract.fixture.ts'],
  ['keys'],
  ['connection'],
  ['deployment'],
  ['peers'],
  ['context.ts'],
  ['agent-keys'],
  ['objects'],
  ['story'],
  ['log'],
  ['create-context.ts'],
  [
    'agents.fixture.ts',
    'documentation.fixture.ts',
    'false-directory.fixture.ts',
    'meddling-proxy.fixture.ts',
    'proxied-agent.fixture.ts',
  ],
  ['open'],
  ['send'],
  ['receive'],
  ['evidence'],
  ['monitor'],
  ['drafts'],
  ['agent.ts'],
  ['node'],
  ['index.ts', 'internal.ts'],
]

/** Packages whose rooms have an order. */
export const PACKAGE_LAYERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  service: SERVICE_LAYERS,
  sdk: SDK_LAYERS,
}

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
    imports: /^node:/u,
    within: ['packages/log/src/'],
    except: [],
    why: 'log runs in a browser: no node: module',
  },
  {
    imports: /^(?:node:.+|undici)$/u,
    within: ['packages/sdk/src/'],
    except: ['packages/sdk/src/node/'],
    why: 'the SDK runs in a browser: node: modules and undici only in sdk/src/node',
  },
  {
    imports: /^@agent-exchange\/(?:database|gateway|service)(?:\/|$)/u,
    within: ['packages/cli/src/'],
    except: [
      'packages/cli/src/agent/client-variables.ts',
      'packages/cli/src/commands/backup.ts',
      'packages/cli/src/commands/backup-verify.ts',
      'packages/cli/src/commands/config.ts',
      'packages/cli/src/commands/gateway/',
      'packages/cli/src/commands/master-key.ts',
      'packages/cli/src/commands/migrate.ts',
      'packages/cli/src/commands/restore.ts',
      'packages/cli/src/commands/serve.ts',
      'packages/cli/src/commands/serve-directions.ts',
      'packages/cli/src/service-failure.ts',
    ],
    why: 'the service and its database are an optional peer of the CLI: only commands that program.ts marks as needing it import it',
  },
  {
    imports: /^(?:pg|postgres)(?:\/|$)/u,
    within: ['packages/'],
    except: ['packages/database/src/', 'packages/testkit/src/'],
    why: 'only packages/database talks to the database driver',
  },
  {
    imports: /^(?:fastify|@fastify\/.+)$/u,
    within: ['packages/'],
    except: [
      'packages/gateway/src/api/',
      'packages/service/src/http/',
      'packages/service/src/operator/',
      'packages/service/src/console/console-cookies.ts',
      'packages/service/src/console/mount-console.ts',
      'packages/service/src/console/open-console.ts',
      'packages/service/src/console/page-server.ts',
      'packages/service/src/console/sign-in/',
    ],
    why: 'only gateway/src/api, service/src/http, service/src/operator and the shell of the console know Fastify',
  },
  {
    imports:
      /^@agent-exchange\/database(?:\/|$)|^packages\/service\/src\/(?:features|webhooks|oauth|http)\//u,
    within: ['packages/service/src/console/'],
    except: [],
    why: 'the console knows only the operator API: call its routes',
  },
  {
    imports: /^packages\/service\/src\/features\/packages\//u,
    within: ['packages/service/src/webhooks/worker/'],
    except: [],
    why: 'the worker knows notifications, never packages (EVT-09)',
  },
]

/** Access to clock and environment, each limited to one place so that tests can replace it. */
export const RESERVED_CODE: readonly (Reserved & { readonly code: RegExp })[] = [
  {
    code: /\bprocess\s*\.\s*env\b|\bimport\.meta\.env\b/gu,
    within: [
      'packages/protocol/',
      'packages/crypto/',
      'packages/log/',
      'packages/web/',
      'packages/database/',
      'packages/server/',
      'packages/service/',
      'packages/sdk/',
      'packages/edc/',
      'packages/mcp/',
      'packages/pkcs11/',
      'packages/desk/',
    ],
    except: ['packages/service/src/config/'],
    why: 'only service/src/config reads the environment',
  },
  {
    code: /\bDate\s*\.\s*now\b|\bnew\s+Date\s*(?:\(\s*\)|(?![\s(\w]))|(?<!new\s+)\bDate\s*\(|\bperformance\s*\./gu,
    within: [
      'packages/protocol/',
      'packages/crypto/',
      'packages/log/',
      'packages/web/',
      'packages/database/',
      'packages/server/',
      'packages/service/',
    ],
    except: ['packages/server/src/clock.ts'],
    why: 'only server/src/clock.ts reads the clock: take the time as an argument',
  },
]
