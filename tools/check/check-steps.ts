/** The checks of `npm run check`, in starting order. */

export interface Step {
  readonly name: string
  readonly what: string
  /** Run in sequence; the first failure ends the step. */
  readonly commands: readonly (readonly [string, ...string[]])[]
  /** The step is skipped with a note if this file does not exist. */
  readonly needs?: string
}

/** Duplication in tests is often clearer than a shared abstraction, so the limit is higher there. */
const DUPLICATES_IN_TESTS = [
  '--pattern',
  '**/*.test.ts',
  '--ignore',
  '**/dist/**',
  '--min-lines',
  '30',
  '--min-tokens',
  '300',
]

/** Slow steps first, because two steps run at a time. */
export const STEPS: readonly Step[] = [
  {
    name: 'types',
    what: 'TypeScript, packages and everything else',
    commands: [
      ['tsc', '-b'],
      ['tsc', '-p', 'tsconfig.check.json'],
    ],
  },
  { name: 'lint', what: 'oxlint with types, warnings count', commands: [['oxlint', '--deny-warnings']] },
  { name: 'unused', what: 'no unused file, export or dependency', commands: [['knip', '--no-progress']] },
  { name: 'format', what: 'oxfmt has nothing to change', commands: [['oxfmt', '--check']] },
  {
    name: 'duplicates',
    what: 'no copied code',
    commands: [
      ['jscpd', '--config', '.jscpd.json'],
      ['jscpd', '--config', '.jscpd.json', ...DUPLICATES_IN_TESTS],
    ],
  },
  { name: 'boundaries', what: 'who may import what', commands: [['node', 'tools/boundaries/boundaries.ts']] },
  {
    name: 'public-entry',
    what: 'names that users of the SDK rely on',
    commands: [['node', 'tools/public-entry/public-entry.ts']],
  },
  {
    name: 'table-owners',
    what: 'one file writes each table of service and gateway',
    commands: [['node', 'tools/table-owners/table-owners.ts']],
  },
  {
    name: 'generated',
    what: 'generated files are what the sources give',
    commands: [['node', '-C', 'source', 'tools/generate/generate.ts', '--check']],
  },
  {
    name: 'openapi',
    what: 'the OpenAPI documents are valid by two independent validators',
    commands: [
      ['validate-api', 'packages/protocol/openapi.json'],
      ['validate-api', 'packages/protocol/openapi-extensions.json'],
      ['validate-api', 'packages/gateway/openapi.json'],
      ['redocly', 'lint', '--config', 'tools/check/redocly.yaml', 'packages/protocol/openapi.json'],
      ['redocly', 'lint', '--config', 'tools/check/redocly.yaml', 'packages/gateway/openapi.json'],
      [
        'redocly',
        'lint',
        '--config',
        'tools/check/redocly.yaml',
        'packages/protocol/openapi-extensions.json',
      ],
    ],
  },
  {
    name: 'requirements',
    what: 'ids in test names exist',
    commands: [['node', 'tools/requirements/requirements.ts', '--check']],
  },
  { name: 'links', what: 'links of the documentation resolve', commands: [['node', 'tools/links/links.ts']] },
  {
    name: 'hygiene',
    what: 'nothing machine-bound, unfinished or unpinned',
    commands: [['node', 'tools/hygiene/hygiene.ts']],
  },
]
