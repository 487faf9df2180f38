import { freePorts, QUICK_LOG, startWorld, until } from '@agent-exchange/testkit'
import type { RunningGateway } from '../../packages/gateway/src/startup/start-gateway.ts'
import { addRule } from '../../packages/gateway/src/approvals/approval-rules.ts'
import { addPerson } from '../../packages/gateway/src/people/people.ts'
import { SKILL, startCompany } from '../../packages/gateway/src/startup/two-instances.fixture.ts'
import { startSignInProvider, type Employee } from './sign-in-provider.ts'

export const FACT = 'A coil of steel arrives four days late.'
export const REQUEST = 'Confirm that variant B can wait until week 13.'

/** One exchange; a carmaker whose people sign in with its provider; a supplier with a gateway of its own. */
export async function startDayAtWork(employees: readonly Employee[]) {
  await using stack = new AsyncDisposableStack()
  const world = stack.use(await startWorld({ profile: QUICK_LOG, config: { role: 'all' } }))
  const now = () => new Date(world.clock.now())
  const [port] = await freePorts(1)
  const origin = `http://localhost:${port}`
  const provider = stack.use(await startSignInProvider(origin, employees))
  const [cars, seats] = [stack.use(await startCompany(world)), stack.use(await startCompany(world))]
  const carsId = await cars.addAgent('cars')
  const seatsId = await seats.addAgent('seats')
  const own = { AEX_GATEWAY_PORT: String(port), AEX_GATEWAY_PUBLIC_URL: origin, ...provider.settings }
  const atCars = stack.use(await cars.startInstance(own))
  const atSeats = stack.use(await seats.startInstance())
  await until('both gateways lead', () => atCars.agents.isLeading() && atSeats.agents.isLeading())
  const supplier = agentOf(atSeats, seatsId)
  const rule = { partner: 'org_seats', policyId: null, packageType: null, sensitivity: null } as const
  await addRule(
    atCars.db,
    { ...rule, people: 1, approvers: [] },
    { actor: { kind: 'command', id: 'Ole Dahl' }, now: now() },
  )

  const owned = stack.move()
  return {
    origin,
    provider,
    /** The supplier's program asks the carmaker, and the carmaker's gateway has the package. */
    async ask(): Promise<string> {
      const policy = supplier.agent.make.policyEnvelope({ to: 'org_cars', purpose: 'supply planning' })
      const object = supplier.agent.make.reasoningPackage({
        to: 'org_cars',
        policy,
        summary: 'Rails for two variants are short in week 12.',
        facts: [FACT],
        ask: REQUEST,
      })
      const to = { organizationId: 'org_cars', agentId: carsId }
      const { threadId } = await supplier.agent.send({ object, policy, to, skill: SKILL })
      await until('the request is stored', () => has(atCars, carsId, threadId))
      return threadId
    },
    /** The supplier's gateway has received and opened an answer. */
    answerArrives: (threadId: string) =>
      until('the answer is stored', () => has(atSeats, seatsId, threadId, 'received')),
    /** A link that signs a person of the supplier in. */
    async inviteSupplier(): Promise<string> {
      const person = { name: 'Sven Seat', roles: ['planner'] } as const
      const { link } = await addPerson(atSeats.db, now(), person, { kind: 'command', id: 'root' })
      return `${atSeats.urls.api}/enter?link=${link}`
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

function agentOf(gateway: RunningGateway, agentId: string) {
  const hosted = gateway.agents.find(agentId)
  if (!hosted) throw new Error('the gateway does not run its agent')
  return hosted
}

async function has({ contents }: RunningGateway, agentId: string, threadId: string, direction = 'received') {
  const found = await contents.list(agentId, { threadId, limit: 10 })
  return found.some((each) => each.direction === direction)
}
