/**
 * An agent in a process of its own, with nothing but its folder:
 * `node -C source two-processes-agent.fixture.ts sender|recipient FOLDER ORGANIZATION AGENT`.
 * Prints one JSON document when its part is done.
 */
import type { NotificationEnvelope, PolicyEnvelope, ReasoningPackage } from '@agent-exchange/protocol'
import { verifyCapsule } from '@agent-exchange/log'
import { ExchangeError } from '@agent-exchange/sdk'
import { newObject } from '@agent-exchange/sdk/internal'
import { connectFolder } from '@agent-exchange/sdk/node'
import { until } from '@agent-exchange/testkit/until'
import { SECRET_WORDS } from './two-processes-words.fixture.ts'

const PATIENCE = { limitMs: 60_000, pollMs: 50 }
const SKILL = { id: 'skill_alignment', version: '1.0.0' }
const [role, folder = '', organizationId = '', agentId = ''] = process.argv.slice(2)

await using agent = await connectFolder(folder)
const seen: NotificationEnvelope[] = []
await using receiver = agent.receiver({
  inbox: agent.inbox(),
  handle: async (event) => void seen.push(event),
  limits: { pollMs: 100 },
})
await receiver.start()
const terms = { by: agent.identity, to: organizationId }
console.log(JSON.stringify(await (role === 'sender' ? send() : receive())))

async function send(): Promise<object> {
  const policy = newObject('policy_envelope', { ...terms, now: new Date() })
  const to = { organizationId, agentId }
  const first = await agent.send({ object: secretPackage(policy), policy, skill: SKILL, to })
  await eventAbout(first.packageId, 'package.received')
  const answer = await eventAbout((packageId) => packageId !== first.packageId, 'package.accepted')
  const { object } = await agent.open(answer.package_id)
  const second = await agent.send({
    object: { ...secretPackage(policy), thread_id: first.threadId },
    policy,
    skill: SKILL,
    to,
  })
  const { revocation } = await agent.revoke(second.packageId, {
    reasonCode: 'sent_in_error',
    reasonDetail: 'It was a mistake.',
  })
  return {
    sent: first.packageId,
    answered: object.object_type === 'response_object' && object.response_summary,
    state: await stateOf(first.packageId),
    revoked: second.packageId,
    outcome: revocation.outcome,
    verdict: await verdictOn(first.threadId),
  }
}

async function receive(): Promise<object> {
  const { package_id: first, thread_id: threadId } = await eventAbout(() => true, 'package.accepted')
  const { object, receipts } = await agent.open(first)
  const policy = newObject('policy_envelope', { ...terms, now: new Date() })
  const draft = newObject('response_object', { ...terms, now: new Date(), threadId, about: first })
  const answer = {
    ...draft,
    response_summary: SECRET_WORDS.answer,
    policy_envelope: { policy_id: policy.policy_id, purpose: policy.purpose },
  }
  const { packageId } = await agent.respond(first, { object: answer, policy, skill: SKILL })
  const second = await eventAbout((id) => id !== first && id !== packageId, 'package.accepted')
  await until('revocation', async () => (await stateOf(second.package_id)) === 'revoked', PATIENCE)
  const refusal = await agent.open(second.package_id).catch((error: unknown) => error)
  return {
    opened: object.object_type === 'reasoning_package' && object.reasoning.summary,
    receipts: receipts.map(({ state }) => state),
    refused: second.package_id,
    refusal: refusal instanceof ExchangeError && refusal.code,
    verdict: await verdictOn(threadId),
  }
}

/** What is not in the log yet rests on the exchange, which contradicts nothing. */
async function verdictOn(threadId: string): Promise<string> {
  const { capsule } = await agent.capsule({ threadId }, { waitMs: 0 })
  const { contradictions } = await verifyCapsule(capsule)
  return contradictions.length === 0 ? 'holds' : 'broken'
}

function secretPackage({ policy_id, purpose }: PolicyEnvelope): ReasoningPackage {
  const draft = newObject('reasoning_package', { ...terms, now: new Date(), policyId: policy_id })
  const [fact] = draft.facts
  return {
    ...draft,
    facts: fact ? [{ ...fact, statement: SECRET_WORDS.fact }] : [],
    reasoning: { ...draft.reasoning, summary: SECRET_WORDS.reasoning },
    policy_envelope: { ...draft.policy_envelope, purpose },
  }
}

async function stateOf(packageId: string): Promise<string> {
  const { state } = await agent.context.connection.call('getPackage', { path: { package_id: packageId } })
  return state
}

/** The first event of this kind, about this package or about one that is wanted. */
function eventAbout(
  which: string | ((packageId: string) => boolean),
  eventType: string,
): Promise<NotificationEnvelope> {
  const wanted = typeof which === 'string' ? (id: string) => id === which : which
  const find = () => seen.find(({ event_type, package_id }) => event_type === eventType && wanted(package_id))
  return until(eventType, find, PATIENCE)
}
