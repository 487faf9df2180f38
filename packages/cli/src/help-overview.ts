/** What `aex --help` prints: one screen, with separate lists of agents' and operators' commands. */

interface Topic {
  readonly heading: string
  readonly rows: readonly (readonly [names: string, summary: string])[]
}

export const TOPICS: readonly Topic[] = [
  {
    heading: 'For companies whose agents use an exchange:',
    rows: [
      ['agent, gateway', 'Create and use an agent, run agents in production'],
      ['new, validate', 'Write protocol objects from templates, check them'],
      ['verify', 'Verify evidence offline, without an exchange'],
      ['monitor, witness', 'Watch the transparency log, cosign other logs'],
    ],
  },
  {
    heading: 'For operators of an exchange:',
    rows: [
      ['serve, config, migrate', 'Run it, show its settings, migrate its database'],
      ['backup, restore, master-key', 'Back it up, restore it, rotate its master key'],
      ['status, search, alert', 'See what needs attention, find anything by an id'],
      ['org, invite, client', 'Organizations, invitations, OAuth 2.0 clients'],
      ['connector, skill', 'Data-space connectors, skill releases'],
      ['package, thread', 'Where packages are, never what they say'],
      ['endpoint, delivery', 'Webhook endpoints and deliveries'],
      ['keys, log, operator', 'Its keys, its transparency log, its operators'],
    ],
  },
  {
    heading: 'For both:',
    rows: [
      ['openapi, profile', 'The API document, our choices on open points'],
      ['completion, help', 'Shell completion, help on a command'],
    ],
  },
]

const WHAT = 'Agent Exchange: sealed, signed reasoning packages between agents of companies'
const USAGE = 'Usage: aex COMMAND [options]'
const MORE = 'aex COMMAND --help shows options and examples, aex --version the version.'
const NAMES_WIDTH = Math.max(...TOPICS.flatMap(({ rows }) => rows.map(([names]) => names.length)))

export function overview(): string {
  const topics = TOPICS.map(({ heading, rows }) =>
    [heading, ...rows.map(([names, summary]) => `  ${names.padEnd(NAMES_WIDTH)}  ${summary}`)].join('\n'),
  )
  return `${[`${WHAT}\n${USAGE}`, ...topics, MORE].join('\n\n')}\n`
}
