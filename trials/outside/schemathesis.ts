import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { OutsideExchange } from './exchange.ts'
import { run } from '../shared/programs.ts'
import { pythonWith } from '../shared/python-environment.ts'
import { REFUSALS } from './refusals.ts'
import type { Report } from '../shared/report.ts'

const VERSION = '4.32.5'
const LIMIT_MS = 240_000
/** Cases per operation and phase; the run takes at most three minutes on two cores. */
const MAX_EXAMPLES = 40
const MAXIMUM_LINE = 1_000
const MAXIMUM_LINES = 300
/** Fixed, so that a finding can be reproduced. */
const SEED = 20_260_301

export interface Trial {
  readonly exchange: OutsideExchange
  readonly folder: string
  readonly report: Report
}

/** Generates requests from the document and checks the responses. */
export async function trySchemathesis({ exchange, folder, report }: Trial): Promise<void> {
  await report.step(`schemathesis ${VERSION}`, 'all checks, on every operation', async () => {
    const python = await pythonWith(`schemathesis-${VERSION}`, [`schemathesis==${VERSION}`])
    const settings = join(folder, 'settings.json')
    const { organizationId, agentId } = exchange.organization
    const own = { organization_id: organizationId, sender_org_id: organizationId, sender_agent_id: agentId }
    writeFileSync(settings, JSON.stringify({ own, known: exchange.known, refusals: REFUSALS }))
    const token = await exchange.organization.token()
    const { code, output } = await run(
      python,
      [
        '-m',
        'schemathesis.cli',
        '--config-file',
        join(import.meta.dirname, 'schemathesis.toml'),
        'run',
        exchange.document,
        '--url',
        exchange.url,
        '--checks',
        'all',
        '--max-examples',
        String(MAX_EXAMPLES),
        '--seed',
        String(SEED),
        '--continue-on-failure',
        '--header',
        `Authorization: Bearer ${token}`,
      ],
      {
        cwd: folder,
        env: {
          SCHEMATHESIS_HOOKS: 'hooks',
          PYTHONPATH: import.meta.dirname,
          PYTHONDONTWRITEBYTECODE: '1',
          OUTSIDE_SETTINGS: settings,
        },
        limitMs: LIMIT_MS,
      },
    )
    if (code !== 0) throw new Error(`found defects\n${shown(output)}`)
    return summaryOf(output)
  })
}

/** Truncates long lines, such as stack traces that quote source code. */
function shown(output: string): string {
  const lines = output.split('\n').map((line) => line.slice(0, MAXIMUM_LINE))
  return lines.slice(-MAXIMUM_LINES).join('\n')
}

/** The number of generated requests. */
function summaryOf(output: string): string {
  const generated = /^ *(?<count>\d+) generated/mu.exec(output)?.groups?.['count']
  if (generated === undefined) throw new Error(`cannot parse its report\n${shown(output)}`)
  return `${generated} requests, no defect`
}
