import { exampleObjects } from '@agent-exchange/protocol'
import { setOrganizationName } from '@agent-exchange/sdk/internal/node'
import { SKILL, type DeskSide } from '../src/desk.fixture.ts'

/** A second conversation, whose request the carmaker has opened and not answered. */
export async function askForDecision(supplier: DeskSide, carmaker: DeskSide): Promise<void> {
  const to = carmaker.agent.identity
  const purpose = 'supply alignment'
  const policy = supplier.agent.make.policyEnvelope({ to: to.organizationId, purpose })
  const { business_context: context } = exampleObjects.reasoning_package
  const object = supplier.agent.make.reasoningPackage({
    to: to.organizationId,
    policy,
    summary: 'One press is down until Thursday, so only one variant can be built this week.',
    facts: ['Press 4 stands still since Monday.'],
    ask: 'Decide which variant is built first.',
    business_context: { ...context, use_case: 'priority_decision', time_horizon: 'this week' },
  })
  const { packageId } = await supplier.agent.send({ object, policy, to, skill: SKILL })
  await carmaker.agent.open(packageId)
}

/** A conversation with facts, a challenge, options, a constraint, a network story and an answer that is due. */
export async function tellThread(supplier: DeskSide, carmaker: DeskSide) {
  for (const { agent } of [supplier, carmaker]) {
    await setOrganizationName(
      agent.folder.files.settings,
      supplier.agent.identity.organizationId,
      'Seats Ltd',
    )
    await setOrganizationName(agent.folder.files.settings, carmaker.agent.identity.organizationId, 'Carmaker')
  }
  const { facts, reasoning, business_context, intent, confidence } = exampleObjects.reasoning_package
  const policyOf = ({ agent }: DeskSide, to: DeskSide) =>
    agent.make.policyEnvelope({ to: to.agent.identity.organizationId, purpose: 'supply alignment' })
  const fromSupplier = policyOf(supplier, carmaker)
  const fromCarmaker = policyOf(carmaker, supplier)
  const first = supplier.agent.make.reasoningPackage({
    to: carmaker.agent.identity.organizationId,
    summary: reasoning.summary,
    facts,
    ask: intent.recipient_request,
    action: intent.sender_action,
    business_context,
    confidence,
    policy: fromSupplier,
  })
  const sent = await supplier.agent.send({
    object: first,
    policy: fromSupplier,
    to: carmaker.agent.identity,
    skill: SKILL,
  })
  await carmaker.agent.open(sent.packageId)
  const challenge = carmaker.agent.make.responseObject({
    to: sent,
    summary: 'One of the two variants can wait; the other cannot.',
    actions: ['challenge', 'add_context', 'provide_constraint'],
    agreement: { agrees_with_sender_summary: false, challenged_points: [facts[0]?.fact_id ?? ''] },
    added_facts: [
      {
        fact_id: 'fact_variant_stock',
        statement: 'Variant B is covered until week 13.',
        evidence_refs: ['ev_line_stock'],
        sensitivity: 'internal',
      },
    ],
    constraints: [
      { constraint_type: 'line capacity', scope: 'line 2', severity: 'high', time_impact: 'weeks 12 to 14' },
    ],
    boundaries: { disclosure_level: 'aggregated', not_disclosed: ['line rates'] },
    policy: fromCarmaker,
  })
  const answered = await carmaker.agent.respond(sent.packageId, {
    object: challenge,
    policy: fromCarmaker,
    skill: SKILL,
  })
  await supplier.agent.open(answered.packageId)
  const options = supplier.agent.make.responseObject({
    to: answered,
    summary: 'Two ways are possible.',
    actions: ['provide_option'],
    options: [
      { option_id: 'option_a_first', summary: 'Build variant A first, B from week 14.' },
      { option_id: 'option_air_freight', summary: 'Fly in one coil, and build both.' },
    ],
    policy: fromSupplier,
  })
  const offered = await supplier.agent.respond(answered.packageId, {
    object: options,
    policy: fromSupplier,
    skill: SKILL,
  })
  await carmaker.agent.open(offered.packageId)
  const story = carmaker.agent.make.networkStory({
    thread: sent.threadId,
    summary: 'Rails are short in week 12; variant B is covered.',
    about: [first.id],
    status: 'active',
    agreed_facts: [facts[0]?.statement ?? ''],
    open_questions: ['Is air freight released?'],
  })
  await carmaker.agent.send({
    object: story,
    policy: fromCarmaker,
    to: supplier.agent.identity,
    skill: SKILL,
  })
  return { threadId: sent.threadId, packageId: sent.packageId, offeredId: offered.packageId }
}
