import { SIGNATURE_CODES, verifyCapsule, type CapsuleResult } from '@agent-exchange/log'
import type { PolicyEnvelope, ProtocolObject } from '@agent-exchange/protocol'
import { ExchangeError, type OpenProgress, type SentPackage } from '@agent-exchange/sdk'
import type { Company } from './company.ts'
import { SKILL } from './register-agent.ts'
import { agreement, alignedStory, challenge, decision, demandChange, policyFor } from './story-objects.ts'
import { short, type Timeline } from './timeline.ts'

export interface Cast {
  readonly manufacturer: Company
  readonly supplier: Company
  readonly timeline: Timeline
  readonly transport: 'native' | 'ds_x'
  readonly now: () => Date
  /** What the exchange holds of a package, in a line. */
  readonly seen: (packageId: string) => Promise<string>
}

/** What the story leaves behind, for the summary. */
export interface Told {
  readonly threadId: string
  readonly packageIds: readonly string[]
  readonly receipts: number
  /** The first package, as its sender wrote it. */
  readonly first: ProtocolObject
  readonly evidence: Readonly<Record<'manufacturer' | 'supplier', CapsuleResult>>
}

/** A demand change is reasoned, shared, challenged, answered and aligned; one package is taken back. */
export async function tellStory(cast: Cast): Promise<Told> {
  const { manufacturer, supplier, timeline, now } = cast
  const parties = { manufacturer: manufacturer.agent.identity, supplier: supplier.agent.identity }
  const policies = {
    approved: policyFor(parties.manufacturer, parties.supplier, now(), true),
    manufacturer: policyFor(parties.manufacturer, parties.supplier, now(), false),
    supplier: policyFor(parties.supplier, parties.manufacturer, now(), false),
  }
  const to = parties.supplier
  const common = { skill: SKILL, to }

  timeline.chapter('A demand change, reasoned and shared')
  const threadId = `thread_demo_${crypto.randomUUID()}`
  const first = under(demandChange(parties, threadId, now()), policies.approved)
  const shared = await manufacturer.agent.send(
    {
      ...common,
      object: first,
      policy: policies.approved,
      approve: ({ purpose, checks }) => {
        timeline.add({
          who: 'manufacturer',
          kind: 'decision',
          what: 'a person approves',
          detail: `${purpose}; ${checks.length} policy checks passed`,
        })
        return { approved: true, approvalReference: 'approval_demo_1' }
      },
    },
    { onProgress: stepsOf(manufacturer, timeline) },
  )
  await quote(cast, manufacturer, shared, first.reasoning.summary)
  let receipts = await read(supplier, shared, cast)
  await manufacturer.told(shared.packageId, 'package.received')

  timeline.chapter('Challenged')
  const challenging = under(challenge(parties, shared, now()), policies.supplier)
  const challenged = await supplier.agent.respond(
    shared.packageId,
    {
      object: challenging,
      policy: policies.supplier,
      skill: SKILL,
    },
    { onProgress: stepsOf(supplier, timeline) },
  )
  await quote(cast, supplier, challenged, challenging.response_summary)
  receipts += await read(manufacturer, challenged, cast)

  timeline.chapter('Answered')
  const deciding = under(decision(parties, threadId, now()), policies.manufacturer)
  const answered = await manufacturer.agent.send(
    {
      ...common,
      object: deciding,
      policy: policies.manufacturer,
    },
    { onProgress: stepsOf(manufacturer, timeline) },
  )
  await quote(cast, manufacturer, answered, deciding.reasoning.summary)
  receipts += await read(supplier, answered, cast)
  const agreeing = under(agreement(parties, answered, now()), policies.supplier)
  const agreed = await supplier.agent.respond(
    answered.packageId,
    {
      object: agreeing,
      policy: policies.supplier,
      skill: SKILL,
    },
    { onProgress: stepsOf(supplier, timeline) },
  )
  receipts += await read(manufacturer, agreed, cast)

  timeline.chapter('Aligned')
  const story = alignedStory(parties, { threadId, objects: [first, challenging, deciding, agreeing] }, now())
  const aligned = await manufacturer.agent.send(
    {
      ...common,
      object: story,
      policy: policies.manufacturer,
    },
    { onProgress: stepsOf(manufacturer, timeline) },
  )
  await quote(cast, manufacturer, aligned, story.summary)
  receipts += await read(supplier, aligned, cast)

  timeline.chapter('Taken back before anybody read it')
  const mistaken = await manufacturer.agent.send(
    {
      ...common,
      object: under(decision(parties, threadId, now()), policies.manufacturer),
      policy: policies.manufacturer,
    },
    { onProgress: stepsOf(manufacturer, timeline) },
  )
  await takeBack(cast, mistaken)

  timeline.chapter('Proved, without the exchange')
  const sent = [shared, challenged, answered, agreed, aligned, mistaken]
  return {
    threadId,
    packageIds: sent.map(({ packageId }) => packageId),
    receipts,
    first,
    evidence: {
      manufacturer: await prove(manufacturer, threadId, timeline),
      supplier: await prove(supplier, threadId, timeline),
    },
  }
}

/** One sentence of a chapter, beside what the exchange holds of it. */
async function quote(
  { timeline, seen }: Cast,
  { lane }: Company,
  { packageId }: SentPackage,
  said: string,
): Promise<void> {
  timeline.say({ who: lane, said, seen: await seen(packageId) })
}

/** The same object under a policy of its sender's. */
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

/** Waits for the event, opens, and shows each step as it happens. Returns how many signed receipts were sent. */
async function read(reader: Company, { packageId }: SentPackage, cast: Cast): Promise<number> {
  await reader.told(packageId, 'package.accepted')
  const { receipts } = await reader.agent.open(packageId, { onProgress: openingOf(reader, cast) })
  return receipts.length
}

function openingOf({ lane: who }: Company, { timeline, transport }: Cast) {
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

async function takeBack(
  { manufacturer, supplier, timeline }: Cast,
  { packageId }: SentPackage,
): Promise<void> {
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
  await supplier.told(packageId, 'package.accepted')
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
}

export async function prove(
  { agent, lane }: Pick<Company, 'agent' | 'lane'>,
  threadId: string,
  timeline: Timeline,
): Promise<CapsuleResult> {
  const { capsule } = await agent.capsule({ threadId })
  const report = await verifyCapsule(capsule, { require: 'unpinned' })
  const { word, checks, exchangeWord } = report
  const signatures = checks.filter(
    ({ code, result }) => result === 'holds' && SIGNATURE_CODES.has(code),
  ).length
  timeline.add({
    who: lane,
    kind: 'proof',
    what: `evidence ${word}`,
    detail: `${signatures} signatures hold; ${exchangeWord.length} claims are the exchange’s word alone`,
  })
  return report
}
