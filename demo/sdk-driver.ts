import { join } from 'node:path'
import type { NetworkStory, PolicyEnvelope, ReasoningPackage } from '@agent-exchange/protocol'
import { ExchangeError, type OpenProgress } from '@agent-exchange/sdk'
import { foundCompany, type Company } from './company.ts'
import { startDemoDataSpace } from './demo-data-space.ts'
import { COMPANIES, SKILL } from './register-agent.ts'
import type { Performance, Stage } from './stage.ts'
import type { Sent, StoryDriver } from './story.ts'
import { policyFor } from './story-objects.ts'
import { short, type Timeline } from './timeline.ts'

type Transport = 'native' | 'ds_x'

/** Two agents on the SDK, with receivers for signed webhooks. */
export async function performWithSdk(
  { exchange, folder, timeline, now, cleanup }: Stage,
  transport: Transport,
): Promise<Performance> {
  const space = transport === 'ds_x' ? cleanup.use(await startDemoDataSpace(timeline)) : undefined
  const found = async (lane: keyof typeof COMPANIES, name: string) =>
    cleanup.use(
      await foundCompany(exchange, {
        ...COMPANIES[lane],
        timeline,
        folder: join(folder, name),
        ...(space && { dataSpace: space.of(lane) }),
      }),
    )
  const companies = {
    manufacturer: await found('manufacturer', 'carmaker'),
    supplier: await found('supplier', 'seats'),
  }
  const { manufacturer, supplier } = companies
  await space?.approve(exchange)
  return {
    driver: sdkDriver(companies, { timeline, transport, now }),
    counts: () => [
      {
        what: 'events delivered by signed webhook',
        count: manufacturer.events.length + supplier.events.length,
      },
    ],
  }
}

interface Telling {
  readonly timeline: Timeline
  readonly transport: Transport
  readonly now: () => Date
}

function sdkDriver(
  companies: Readonly<Record<'manufacturer' | 'supplier', Company>>,
  { timeline, transport, now }: Telling,
): StoryDriver {
  const { manufacturer, supplier } = companies
  const [cars, seats] = [manufacturer.agent.identity, supplier.agent.identity]
  const policies = {
    approved: policyFor(cars, seats, now(), true),
    manufacturer: policyFor(cars, seats, now(), false),
    supplier: policyFor(seats, cars, now(), false),
  }
  const send = async (
    content: ReasoningPackage | NetworkStory,
    policy: PolicyEnvelope,
    more: Pick<Parameters<typeof manufacturer.agent.send>[0], 'approve'> = {},
  ): Promise<Sent> => {
    const object = content.object_type === 'network_story' ? content : under(content, policy)
    const input = { skill: SKILL, to: seats, object, policy, ...more }
    const sent = await manufacturer.agent.send(input, { onProgress: stepsOf(manufacturer, timeline) })
    return { ...sent, object }
  }
  return {
    opening: 'A demand change, reasoned and shared',
    agents: { manufacturer: manufacturer.agent, supplier: supplier.agent },
    async share(content) {
      const sent = await send(content, policies.approved, {
        approve: ({ purpose, checks }) => {
          timeline.add({
            who: 'manufacturer',
            kind: 'decision',
            what: 'a person approves',
            detail: `${purpose}; ${checks.length} policy checks passed`,
          })
          return { approved: true, approvalReference: 'approval_demo_1' }
        },
      })
      return sent
    },
    send: (content) => send(content, policies.manufacturer),
    async answer(content, { packageId }) {
      const object = under(content, policies.supplier)
      const input = { object, policy: policies.supplier, skill: SKILL }
      const onProgress = stepsOf(supplier, timeline)
      return { ...(await supplier.agent.respond(packageId, input, { onProgress })), object }
    },
    async read(side, { packageId }) {
      const reader = companies[side]
      await reader.waitForEvent(packageId, 'package.accepted')
      const onProgress = openingOf(reader, timeline, transport)
      const { receipts } = await reader.agent.open(packageId, { onProgress })
      const sender = side === 'supplier' ? manufacturer : supplier
      await sender.waitForEvent(packageId, 'package.received')
      return receipts.length
    },
    async takeBack({ packageId }) {
      const { revocation } = await manufacturer.agent.revoke(packageId, {
        reasonCode: 'sent_in_error',
        reasonDetail: 'The plan was already agreed.',
      })
      timeline.add({
        who: 'manufacturer',
        to: 'exchange',
        kind: 'decision',
        what: 'revokes the package, signed',
        detail: `${short(packageId)}  ${revocation.outcome}`,
      })
      await supplier.waitForEvent(packageId, 'package.accepted')
      const refusal = await supplier.agent.open(packageId).then(
        () => undefined,
        (error: unknown) => error,
      )
      if (!(refusal instanceof ExchangeError)) throw new Error('a revoked package was opened')
      timeline.add({
        who: 'supplier',
        kind: 'note',
        what: 'tries to open it and cannot',
        detail: refusal.code,
      })
    },
  }
}

/** The same object under a policy of its sender. */
function under<T extends { readonly policy_envelope: object }>(
  object: T,
  { policy_id, purpose }: PolicyEnvelope,
): T {
  return { ...object, policy_envelope: { ...object.policy_envelope, policy_id, purpose } }
}

const STEPS = {
  validated: 'checks the object against its schema',
  checked: 'evaluates five policy checks',
  sealed: 'seals for both sides and signs',
  published: 'offers the sealed bytes through its connector',
  receipt_accepted: 'hands in the signed policy receipt',
  accepted: 'hands in the package: accepted, durable',
} as const

/** Shows each step of sending; what reaches the exchange is drawn as an arrow. */
function stepsOf({ lane }: Company, timeline: Timeline) {
  return ({ step, packageId }: { readonly step: string; readonly packageId: string }): void => {
    if (!(step in STEPS)) return
    const isSent = step === 'accepted' || step === 'receipt_accepted'
    timeline.add({
      who: lane,
      ...(isSent && { to: 'exchange' as const }),
      kind: step === 'published' ? 'transfer' : 'package',
      what: STEPS[step as keyof typeof STEPS],
      detail: short(packageId),
    })
  }
}

/** Shows each step of opening. */
function openingOf({ lane: who }: Company, timeline: Timeline, transport: Transport) {
  return (progress: OpenProgress): void => {
    if (progress.step === 'fetched') {
      // In ds_x the bytes came from the other connector, which has shown them already.
      const bytes = { kind: 'package', what: 'the sealed bytes', detail: short(progress.packageId) } as const
      if (transport === 'native') timeline.add({ who: 'exchange', to: who, ...bytes })
    } else if (progress.step === 'opened') {
      const detail = `signed by ${short(progress.keyId)}`
      timeline.add({ who, kind: 'package', what: `verifies and opens a ${progress.objectType}`, detail })
    } else {
      const { state, signature } = progress.receipt
      const detail = `${short(progress.packageId)}  by ${short(signature.key_id)}`
      timeline.add({ who, to: 'exchange', kind: 'receipt', what: `signed receipt: ${state}`, detail })
    }
  }
}
