/**
 * Sends one package for each line of a file, such as "agent_cars Rails are short in week 12.". Run it again after a
 * crash: the packages are written to a file before the first is sent, so none is sent twice.
 *
 *     aex agent defaults --allow org_cars
 *     node examples/send-batch.ts lines.txt
 */

import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { AgentAddress } from '@agent-exchange/sdk'
import { connectFolder, type FolderAgent } from '@agent-exchange/sdk/node'

const LARGEST_BATCH = 1_000
const [file = 'lines.txt'] = process.argv.slice(2)
const prepared = `${file}.packages.json`

await using agent = await connectFolder(process.env['AEX_AGENT_DIR'] ?? './aex-agent')
if (!existsSync(prepared)) await prepare(agent)

for (const input of JSON.parse(readFileSync(prepared, 'utf8')) as Prepared[]) {
  const { packageId, resumed } = await agent.send(input)
  console.log(`${resumed ? 'known' : 'sent'} ${packageId} to ${input.to.agentId}`)
}

interface Prepared {
  readonly object: ReturnType<FolderAgent['make']['reasoningPackage']>
  readonly to: AgentAddress
}

/** Contains plaintext, so only its owner may read it. Written whole or not at all. */
async function prepare({ make, context }: FolderAgent): Promise<void> {
  const lines = readFileSync(file, 'utf8').split('\n').filter(Boolean)
  if (lines.length > LARGEST_BATCH) throw new RangeError(`A batch has at most ${LARGEST_BATCH} lines.`)
  const packages: Prepared[] = []
  for (const line of lines) {
    const [agentId = '', ...words] = line.split(' ')
    const summary = words.join(' ')
    const { organization_id: organizationId } = await context.connection.call('getAgent', {
      path: { agent_id: agentId },
    })
    const object = make.reasoningPackage({
      to: organizationId,
      summary,
      facts: [summary],
      ask: 'Confirm.',
    })
    packages.push({ object, to: { organizationId, agentId } })
  }
  writeFileSync(`${prepared}.new`, JSON.stringify(packages), { mode: 0o600 })
  renameSync(`${prepared}.new`, prepared)
}
