import { SIGNATURE_CODES, verifyCapsule, type CapsuleResult } from '@agent-exchange/log'
import type { NetworkStory, ProtocolObject, ReasoningPackage, ResponseObject } from '@agent-exchange/protocol'
import { threadStory, type CollectedCapsule, type Identity } from '@agent-exchange/sdk'
import { readThreadObjects, storyText } from '@agent-exchange/sdk/internal'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import { agreement, alignedStory, challenge, decision, demandChange, demoNames } from './story-objects.ts'
import type { Side, Timeline } from './timeline.ts'

/** A package as it was sent, with the members that its sender's software filled in. */
export interface Sent {
  readonly threadId: string
  readonly packageId: string
  readonly object: ProtocolObject
}

/** An agent that runs in a gateway, as a program of its company reaches it. */
export interface AgentAtGateway {
  readonly identity: Identity
  capsule(subject: { readonly threadId: string }): Promise<Pick<CollectedCapsule, 'capsule'>>
  /** A link that signs a new person in at the desk, once. */
  deskLink(): Promise<string>
}

/** The agents of both companies. That of the supplier may run in a gateway. */
export interface StoryAgents {
  readonly manufacturer: FolderAgent
  readonly supplier: FolderAgent | AgentAtGateway
}

/** How the two companies act: by calls of the SDK, by tool calls of two models, or through a gateway. */
export interface StoryDriver {
  /** Heading of the first chapter. */
  readonly opening: string
  readonly agents: StoryAgents
  /** The carmaker sends the first package, which a person approves. */
  share(object: ReasoningPackage): Promise<Sent>
  /** The carmaker sends another package in the same thread. */
  send(object: ReasoningPackage | NetworkStory): Promise<Sent>
  /** The supplier answers a package. */
  answer(object: ResponseObject, to: Sent): Promise<Sent>
  /** Waits for a package and opens it. Returns the number of signed receipts. */
  read(reader: Side, sent: Sent): Promise<number>
  /** Keeps the supplier from opening the package that is revoked next. */
  beforeMistake?(): Promise<void>
  /** The carmaker revokes a package, and the supplier cannot open it. */
  takeBack(sent: Sent): Promise<void>
  /** Verifies the thread by the driver's own means too. */
  verify?(threadId: string): Promise<void>
}

interface Telling {
  readonly driver: StoryDriver
  readonly timeline: Timeline
  readonly now: () => Date
  /** What the exchange holds of a package, in a line. */
  readonly seen: (packageId: string) => Promise<string>
}

export interface StoryResult {
  readonly threadId: string
  readonly packageIds: readonly string[]
  readonly receipts: number
  /** The first package, as its sender wrote it. */
  readonly first: ProtocolObject
  readonly evidence: Readonly<Record<Side, CapsuleResult>>
  /** What the packages say together, as the carmaker reads them. */
  readonly text: string
}

/** A demand change is reasoned, shared, challenged, answered and aligned; one package is taken back. */
export async function tellStory({ driver, timeline, now, seen }: Telling): Promise<StoryResult> {
  const { manufacturer, supplier } = driver.agents
  const parties = { manufacturer: manufacturer.identity, supplier: supplier.identity }
  const packages: Sent[] = []
  let receipts = 0
  /** Shows one sentence of a package beside what the exchange holds of it; then the other company reads it. */
  const exchanged = async (who: Side, sent: Sent, said?: string) => {
    packages.push(sent)
    if (said !== undefined) timeline.say({ who, said, seen: await seen(sent.packageId) })
    receipts += await driver.read(who === 'manufacturer' ? 'supplier' : 'manufacturer', sent)
    return sent
  }

  timeline.chapter(driver.opening)
  const reasoned = demandChange(parties, `thread_demo_${crypto.randomUUID()}`, now())
  const shared = await exchanged('manufacturer', await driver.share(reasoned), reasoned.reasoning.summary)
  const { threadId } = shared

  timeline.chapter('Challenged')
  const challenging = challenge(parties, shared, now())
  const challenged = await driver.answer(challenging, shared)
  await exchanged('supplier', challenged, challenging.response_summary)

  timeline.chapter('Answered')
  const deciding = decision(parties, threadId, now())
  const answered = await exchanged('manufacturer', await driver.send(deciding), deciding.reasoning.summary)
  await exchanged('supplier', await driver.answer(agreement(parties, answered, now()), answered))

  timeline.chapter('Aligned')
  const objects = packages.map(({ object }) => object)
  const story = alignedStory(parties, { threadId, objects }, now())
  await exchanged('manufacturer', await driver.send(story), story.summary)

  timeline.chapter('Taken back before anybody read it')
  await driver.beforeMistake?.()
  const mistaken = await driver.send(decision(parties, threadId, now()))
  await driver.takeBack(mistaken)

  timeline.chapter('Proved, without the exchange')
  await driver.verify?.(threadId)
  return {
    threadId,
    packageIds: [...packages, mistaken].map(({ packageId }) => packageId),
    receipts,
    first: shared.object,
    evidence: {
      manufacturer: await prove('manufacturer', manufacturer, threadId, timeline),
      supplier: await prove('supplier', supplier, threadId, timeline),
    },
    text: storyText(threadStory(await readThreadObjects(manufacturer, threadId), now()), {
      names: demoNames(parties),
    }),
  }
}

async function prove(
  who: Side,
  agent: StoryAgents[Side],
  threadId: string,
  timeline: Timeline,
): Promise<CapsuleResult> {
  const { capsule } = await agent.capsule({ threadId })
  const report = await verifyCapsule(capsule, { require: 'unpinned' })
  const { word, checks, exchangeClaims } = report
  const signatures = checks.filter(
    ({ code, result }) => result === 'holds' && SIGNATURE_CODES.has(code),
  ).length
  timeline.add({
    who,
    kind: 'proof',
    what: `evidence ${word}`,
    detail: `${signatures} signatures hold; ${exchangeClaims.length} claims are the exchange’s word alone`,
  })
  return report
}
