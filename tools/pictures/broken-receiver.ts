import { deliveryWorld, sendPackage, type DeliveryWorld } from '@agent-exchange/testkit'

const HOUR_SECONDS = 3_600
/** Packages of each hour of the day. */
const SENT_PER_HOUR = [2, 3, 2, 5, 7, 6, 8, 9, 7, 6, 8, 5]
/** The receiver answers 404 in the last hours: a deployment lost its route. */
const BROKEN_HOURS = 2

/** A day between two companies, at the end of which the receiver of one of them is broken. */
export async function brokenReceiver(): Promise<DeliveryWorld> {
  const setting = await deliveryWorld()
  const { world, receiver, sender, owner } = setting
  for (const [name, { organizationId }] of [
    ['Nordwerk Antriebe GmbH', sender],
    ['Hellström Precision Castings AB', owner],
  ] as const)
    await world.sql`update organization set name = ${name} where organization_id = ${organizationId}`
  await setting.endpoint()
  for (const [hour, count] of SENT_PER_HOUR.entries()) {
    receiver.reply = hour < SENT_PER_HOUR.length - BROKEN_HOURS ? () => 204 : () => 404
    for (let index = 0; index < count; index++) await sendPackage(sender, owner)
    await setting.until((all) => all.every(({ state }) => state !== 'pending'), 'ended')
    if (hour < SENT_PER_HOUR.length - 1) world.clock.advance(HOUR_SECONDS)
  }
  return setting
}
