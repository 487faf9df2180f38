import { join } from 'node:path'
import type { ProtocolObject } from '@agent-exchange/protocol'
import { CommandFailure } from '../packages/cli/src/failure.ts'
import { foundCompany } from './company.ts'
import { foundGatewayCompany, type GatewayCompany } from './gateway-company.ts'
import { contentOf } from './model-actions.ts'
import { COMPANIES } from './register-agent.ts'
import { openWithSdk, sdkCarmaker } from './sdk-carmaker.ts'
import type { Performance, Stage } from './stage.ts'
import { short, type Timeline } from './timeline.ts'

const WAIT_SECONDS = 15
/** Enough for the gateway to read the events that it missed. */
const CATCH_UP_SECONDS = 3

/** A package as the gateway gives it to a program. */
interface ShownPackage {
  readonly package_id: string
  readonly thread_id: string
  readonly object: ProtocolObject
  readonly provenance: { readonly receipts_sent?: readonly string[] }
}

/** The carmaker is an agent on the SDK; the supplier is a Python program with a gateway. */
export async function performWithGateway(stage: Stage): Promise<Performance> {
  const { exchange, folder, timeline, now, cleanup } = stage
  const { manufacturer: cars, supplier: seats } = COMPANIES
  const founding = { ...cars, timeline, folder: join(folder, 'carmaker') }
  const manufacturer = cleanup.use(await foundCompany(exchange, founding))
  stage.onWait?.('Starting a gateway and its database')
  const parties = { identity: seats, partner: manufacturer.agent.identity }
  const supplier = await foundGatewayCompany(stage, parties).finally(() => stage.onWait?.(undefined))
  const telling = { timeline, now, transport: 'native' } as const
  const { revoke, ...carmaker } = sdkCarmaker(manufacturer, seats, telling)
  return {
    driver: {
      opening: 'A demand change, reasoned and shared',
      agents: { manufacturer: manufacturer.agent, supplier },
      ...carmaker,
      async answer(object, { packageId: responds_to }) {
        const terms = { responds_to, policy_id: supplier.policyId, content: contentOf(object) }
        const sent = await supplier.program.result<ShownPackage>('answer', terms)
        timeline.add({
          who: 'supplier',
          to: 'exchange',
          kind: 'package',
          what: 'POST drafts, POST send: checked by policy, sealed, signed, accepted',
          detail: short(sent.package_id),
        })
        return { packageId: sent.package_id, threadId: sent.thread_id, object: sent.object }
      },
      async read(side, { packageId }) {
        if (side === 'manufacturer') return openWithSdk(manufacturer, packageId, telling)
        const receipts = await takeFromInbox(supplier, packageId, timeline)
        await manufacturer.waitForEvent(packageId, 'package.received')
        return receipts
      },
      async beforeMistake() {
        await supplier.stop()
        timeline.add({ who: 'supplier', kind: 'note', what: 'stops the gateway for maintenance' })
      },
      async takeBack({ packageId }) {
        await revoke(packageId)
        await supplier.restart()
        timeline.add({ who: 'supplier', kind: 'note', what: 'starts the gateway again, which catches up' })
        const taken = await supplier.program.result<ShownPackage | null>('take', { wait: CATCH_UP_SECONDS })
        if (taken) throw new CommandFailure('A revoked package was given to a program.')
        const detail = await supplier.program.refusal('read', { package_id: packageId })
        const what = 'POST inbox/leases: nothing; GET package: refused'
        timeline.add({ who: 'supplier', kind: 'note', what, detail })
      },
    },
    counts: () => [
      { what: 'events delivered by signed webhook', count: manufacturer.events.length },
      { what: 'steps of a Python program at a gateway', count: supplier.program.steps() },
    ],
  }
}

/** The gateway has opened the package and sent its receipts before a program gets it. */
async function takeFromInbox(
  { program }: GatewayCompany,
  packageId: string,
  timeline: Timeline,
): Promise<number> {
  const taken = await program.result<ShownPackage | null>('take', { wait: WAIT_SECONDS })
  if (taken?.package_id !== packageId) throw new CommandFailure('The inbox gave no or another package.')
  const receipts = taken.provenance.receipts_sent ?? []
  const detail = short(packageId)
  timeline.add({
    who: 'supplier',
    to: 'exchange',
    kind: 'receipt',
    what: `the gateway opens it; signed receipts: ${receipts.join(', ')}`,
    detail,
  })
  const what = `POST inbox/leases: a ${taken.object.object_type}`
  timeline.add({ who: 'supplier', kind: 'package', what, detail })
  return receipts.length
}
