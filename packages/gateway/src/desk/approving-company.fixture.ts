import { freePorts, type WorldOptions } from '@agent-exchange/testkit'
import type { DeskRole } from '@agent-exchange/desk'
import type { StoredDraft } from '@agent-exchange/sdk'
import { addRule } from '../approvals/approval-rules.ts'
import { addPerson } from '../people/people.ts'
import { SKILL, startCompanies } from '../startup/two-instances.fixture.ts'

interface CompanyOptions {
  readonly world?: WorldOptions
  /** More variables of the gateway, once its address is known. */
  readonly settings?: (origin: string) => Promise<Record<string, string>>
}

/** A company whose rule asks for one approver, with a gateway at localhost and a partner at a real exchange. */
export async function startApprovingCompany({ world, settings }: CompanyOptions = {}) {
  await using stack = new AsyncDisposableStack()
  const companies = stack.use(await startCompanies(world))
  const agentId = await companies.addAgent('seats')
  const [port] = await freePorts(1)
  const origin = `http://localhost:${port}`
  const provided = await settings?.(origin)
  const gateway = stack.use(
    await companies.startInstance({
      AEX_GATEWAY_PORT: String(port),
      AEX_GATEWAY_PUBLIC_URL: origin,
      ...provided,
    }),
  )
  await gateway.agents.refresh()
  const hosted = gateway.agents.find(agentId)
  if (!hosted) throw new Error('the gateway does not run its agent')
  const { clock } = companies.world
  const now = () => new Date(clock.now())
  await addRule(
    gateway.db,
    {
      partner: 'org_partner',
      policyId: null,
      packageType: null,
      sensitivity: null,
      people: 1,
      approvers: [],
    },
    { actor: { kind: 'command', id: 'Ole Dahl' }, now: now() },
  )
  const owned = stack.move()
  return {
    origin,
    gateway,
    hosted,
    addAgent: companies.addAgent,
    partner: companies.partner,
    now,
    /** The secret of a link that signs the person in. */
    invite: (name: string, ...roles: DeskRole[]) =>
      addPerson(gateway.db, now(), { name, roles }, { kind: 'command', id: 'root' }),
    /** A draft that a program made, later than every passkey. */
    draft(): Promise<StoredDraft> {
      clock.advance(1)
      const { agent } = hosted
      const policy = agent.make.policyEnvelope({ to: 'org_partner', purpose: 'supply planning' })
      const object = agent.make.reasoningPackage({
        to: 'org_partner',
        policy,
        summary: 'Rails are short.',
        facts: ['A coil moved.'],
        ask: 'Confirm week 13.',
      })
      const to = { organizationId: 'org_partner', agentId: 'agent_partner' }
      return hosted
        .draftsBy({ kind: 'system', id: 'system_erp' })
        .create({ object, policy, to, skill: SKILL })
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
