/** The driver of the agent built from curl and openssl: `node -C source trials/conformance/agents/curl-agent.ts FOLDER`. */

import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { ROOT } from '../../../tools/repository/repository-files.ts'
import { answerLines } from './answer-lines.ts'

const [folder = ''] = process.argv.slice(2)
const SCRIPT = join(ROOT, 'interop/curl-agent/agent.sh')
const LIMIT_MS = 60_000
const handled: string[] = []

const agent = async (...words: string[]): Promise<string> => {
  const env = { ...process.env, AGENT_HOME: folder, no_proxy: '*' }
  const { stdout } = await promisify(execFile)('bash', [SCRIPT, ...words], { env, timeout: LIMIT_MS })
  return stdout.trimEnd()
}

/** Event ids by sequence, from the agent's own inbox. */
function eventIds(): Map<string, string> {
  const inbox = join(folder, 'inbox')
  const files = readdirSync(inbox).filter((name) => name.endsWith('.json'))
  const events = files.map(
    (name) => JSON.parse(readFileSync(join(inbox, name), 'utf8')) as { sequence: number; event_id: string },
  )
  return new Map(events.map(({ sequence, event_id }) => [String(sequence), event_id]))
}

await answerLines({
  async create({ base_url = '', client_id = '', organization_id = '', agent_id = '' }) {
    const jwk = await agent('init', base_url, organization_id, agent_id)
    await agent('client', client_id)
    return { client_jwk: JSON.parse(jwk) as object }
  },
  async register() {
    await agent('register')
    return {}
  },
  /** It prints one line for each event that it stored and acknowledged: the sequence first. */
  async poll() {
    const printed = await agent('poll')
    const ids = eventIds()
    const lines = printed.split('\n').filter((line) => line !== '')
    handled.push(...lines.map((line) => ids.get(line.split(' ', 1)[0] ?? '') ?? 'unknown'))
    return {}
  },
  handled: async () => Promise.resolve({ event_ids: handled }),
  async open({ package_id = '' }) {
    try {
      return { opened: true, object: JSON.parse(await agent('open', package_id)) as object }
    } catch (error) {
      const said = String(Reflect.get(Object(error), 'stderr') ?? '')
      return { opened: false, reason: said.trim().split('\n').at(-1) ?? '' }
    }
  },
})
