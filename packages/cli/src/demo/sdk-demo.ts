import { join } from 'node:path'
import { foundCompany } from './company.ts'
import { COMPANIES } from './register-agent.ts'
import type { Performance, Stage } from './run-demo.ts'
import { seenLine } from './seen-by-exchange.ts'
import { tellStory } from './story.ts'
import type { ThrowawayCertificate } from './throwaway-certificate.ts'
import type { Timeline } from './timeline.ts'

interface SdkDemoOptions {
  readonly transport: 'native' | 'ds_x'
  readonly certificate: ThrowawayCertificate
}

/** Two agents on the SDK, with receivers for signed webhooks. */
export async function performWithSdk(
  { exchange, folder, timeline, now, cleanup }: Stage,
  { transport, certificate }: SdkDemoOptions,
): Promise<Performance> {
  const space = transport === 'ds_x' ? cleanup.use(await dataSpace(timeline)) : undefined
  const found = async (lane: keyof typeof COMPANIES, name: string) =>
    cleanup.use(
      await foundCompany(exchange, {
        ...COMPANIES[lane],
        certificate,
        timeline,
        folder: join(folder, name),
        ...(space && { dataSpace: space.of(lane) }),
      }),
    )
  const manufacturer = await found('manufacturer', 'carmaker')
  const supplier = await found('supplier', 'seats')
  await space?.approve(exchange)
  const seen = (packageId: string) => seenLine(exchange, packageId)
  const told = await tellStory({ manufacturer, supplier, timeline, transport, now, seen })
  return {
    told,
    agents: { manufacturer: manufacturer.agent, supplier: supplier.agent },
    counts: [
      {
        what: 'events delivered by signed webhook',
        count: manufacturer.events.length + supplier.events.length,
      },
    ],
  }
}

/** Loaded on demand: the simulator is not among the published packages. */
async function dataSpace(timeline: Timeline) {
  const { startDemoDataSpace } = await import('./demo-data-space.ts')
  return startDemoDataSpace(timeline)
}
