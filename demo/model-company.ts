import { randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDesk, type Desk } from '@agent-exchange/desk'
import type { Identity } from '@agent-exchange/sdk'
import { initApprover } from '@agent-exchange/sdk/internal/node'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import type { DemoExchange } from './demo-exchange.ts'
import { registerAgent, type Registration } from './register-agent.ts'
import { startScriptedModel, type ScriptedModel } from './scripted-model.ts'
import { policyFor } from './story-objects.ts'

const PASSPHRASE_BYTES = 18

/** A company whose agent is driven by a model, within the policies that a person wrote. */
export interface ModelCompany extends AsyncDisposable {
  readonly lane: Registration['lane']
  readonly agent: FolderAgent
  readonly model: ScriptedModel
  /** Where a person approves; undefined if no policy of the company requires it. */
  readonly approval: { readonly desk: Desk; readonly passphrase: string } | undefined
}

export interface ModelFounding extends Registration {
  readonly partner: Identity
  readonly now: () => Date
  /** Adds a policy that requires a person, an approver and a desk. */
  readonly hasApprover: boolean
  /** Shows that something takes seconds, until the promise settles. */
  readonly during: <T>(what: string, work: () => Promise<T>) => Promise<T>
}

export async function foundModelCompany(
  exchange: DemoExchange,
  founding: ModelFounding,
): Promise<ModelCompany> {
  const { lane, folder, timeline, hasApprover, during } = founding
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const agent = cleanup.use(await registerAgent(exchange, founding))
  writePolicies(founding)
  timeline.add({
    who: lane,
    kind: 'decision',
    what: hasApprover
      ? 'a person writes two policies; one requires an approval'
      : 'a person writes a policy for the model',
  })
  const approval = hasApprover
    ? await during('Making the approver’s key', () => openDesk(agent, cleanup))
    : undefined
  if (approval) timeline.add({ who: lane, kind: 'note', what: 'a person opens the desk of the agent' })
  const model = cleanup.use(await during('Starting an MCP server', () => startScriptedModel(folder)))
  const described = await model.result<{ agent_id: string }>('describe_agent')
  timeline.add({
    who: lane,
    kind: 'note',
    what: 'a scripted model starts the MCP server',
    detail: `aex agent mcp  describe_agent: ${described.agent_id}`,
  })
  const stop = undo.move()
  return { lane, agent, model, approval, [Symbol.asyncDispose]: () => stop.disposeAsync() }
}

function writePolicies({ folder, organizationId, agentId, partner, now, hasApprover }: ModelFounding): void {
  const policies = join(folder, 'policies')
  mkdirSync(policies, { mode: 0o700 })
  for (const isGuarded of hasApprover ? [false, true] : [false]) {
    const policy = policyFor({ organizationId, agentId }, partner, now(), isGuarded)
    const file = join(policies, isGuarded ? 'with-approval.json' : 'without-approval.json')
    writeFileSync(file, JSON.stringify(policy), { mode: 0o600 })
  }
}

/** The passphrase stays in this process. The MCP server, and with it the model, never has it. */
async function openDesk(agent: FolderAgent, cleanup: AsyncDisposableStack) {
  const passphrase = randomBytes(PASSPHRASE_BYTES).toString('base64url')
  await initApprover(agent.folder.folder, { passphrase })
  return { passphrase, desk: cleanup.use(await startDesk(agent, { port: 0 })) }
}
