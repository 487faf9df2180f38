import { join } from 'node:path'
import { ExchangeError } from '@agent-exchange/sdk'
import { foundCompany, type Company } from './company.ts'
import { startDemoDataSpace } from './demo-data-space.ts'
import { COMPANIES, SKILL } from './register-agent.ts'
import { openWithSdk, sdkCarmaker, type Telling } from './sdk-carmaker.ts'
import { stepsOf, under } from './sdk-steps.ts'
import type { Performance, Stage, Transport } from './stage.ts'
import type { StoryDriver } from './story.ts'
import { policyFor } from './story-objects.ts'

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

function sdkDriver(
  companies: Readonly<Record<'manufacturer' | 'supplier', Company>>,
  telling: Telling,
): StoryDriver {
  const { manufacturer, supplier } = companies
  const { timeline, now } = telling
  const [cars, seats] = [manufacturer.agent.identity, supplier.agent.identity]
  const policy = policyFor(seats, cars, now(), false)
  const { revoke, ...carmaker } = sdkCarmaker(manufacturer, seats, telling)
  return {
    opening: 'A demand change, reasoned and shared',
    agents: { manufacturer: manufacturer.agent, supplier: supplier.agent },
    ...carmaker,
    async answer(content, { packageId }) {
      const object = under(content, policy)
      const onProgress = stepsOf(supplier, timeline)
      return {
        ...(await supplier.agent.respond(packageId, { object, policy, skill: SKILL }, { onProgress })),
        object,
      }
    },
    async read(side, { packageId }) {
      const receipts = await openWithSdk(companies[side], packageId, telling)
      const sender = side === 'supplier' ? manufacturer : supplier
      await sender.waitForEvent(packageId, 'package.received')
      return receipts
    },
    async takeBack({ packageId }) {
      await revoke(packageId)
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
