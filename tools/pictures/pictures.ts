/** `npm run pictures`: takes the pictures of the console in docs/images, from a real service with a real story. */

import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sendPackage, sendReceipt, type DeliveryWorld } from '@agent-exchange/testkit'
import { openBrowser } from '@agent-exchange/testkit/browser'
import { ROOT } from '../repository/repository-files.ts'
import { brokenReceiver } from './broken-receiver.ts'

const FOLDER = join(ROOT, 'docs/images')
const WIDTH = 1_100
/** A guide with large pictures loads slowly. */
const MAXIMUM_BYTES = 150_000

interface Picture {
  readonly name: string
  readonly path: string
  readonly height: number
  readonly colorScheme?: 'light' | 'dark'
  /** The element at the top of the picture. */
  readonly from?: string
}

await using setting = await brokenReceiver()
const { world, receiver, sender, owner } = setting
mkdirSync(FOLDER, { recursive: true })
const { body } = await world.operate('POST', '/operators', { name: 'nightshift', role: 'operator' })
await using browser = await openBrowser()

const [failed] = (await setting.deliveries()).filter(({ state }) => state === 'failed').slice(-1)
if (!failed) throw new Error('no delivery failed')
const endpointId = await endpointOf(setting, failed.delivery_id)
await take({ name: 'console-failed-deliveries', path: '/deliveries?state=failed', height: 680 })
await take({ name: 'console-delivery', path: `/deliveries/${failed.delivery_id}`, height: 780 })
await take({ name: 'console-endpoint', path: `/endpoints/${endpointId}`, height: 620, from: 'h2' })
await take({ name: 'console-replay', path: `/replay?webhook_endpoint_id=${endpointId}`, height: 720 })

receiver.reply = () => 204
const replay = await world.operate('POST', `/deliveries/${failed.delivery_id}/replay`, {
  reason: 'route of the receiver restored',
})
await setting.until(
  (all) => all.some((each) => each.delivery_id === replay.body['delivery_id'] && each.state === 'delivered'),
  'delivered',
)
const [place] = await world.sql<{ package_id: string; thread_id: string; content_digest: string }[]>`
  select package_id, thread_id, content_digest from package join delivery using (package_id)
  where delivery_id = ${failed.delivery_id}`
if (!place) throw new Error('the package is gone')
await owner.get(`/content/packages/${place.package_id}`)
const metadata = { ...place } as unknown as Parameters<typeof sendReceipt>[1]
for (const state of ['received', 'opened']) await sendReceipt(owner, metadata, state)
await sendPackage(owner, sender, { threadId: place.thread_id, respondsTo: place.package_id })
const thread = { path: `/threads/${place.thread_id}`, height: 720, from: 'h2' }
await take({ ...thread, name: 'console-timeline' })
await take({ ...thread, name: 'console-timeline-dark', colorScheme: 'dark' })

async function take({ name, path, height, colorScheme = 'light', from }: Picture): Promise<void> {
  await using watched = await browser.open(world.operatorUrl + path, {
    viewport: { width: WIDTH, height },
    colorScheme,
  })
  const { page } = watched
  // The story is ahead of the clock of this machine.
  await page.clock.setFixedTime(world.clock.now())
  await page.getByLabel('Operator token').fill(String(body['token']))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  const box = from === undefined ? null : await page.locator(from).first().boundingBox()
  const file = join(FOLDER, `${name}.png`)
  const y = Math.max(0, (box?.y ?? 0) - 16)
  await page.screenshot({ path: file, fullPage: true, clip: { x: 0, y, width: WIDTH, height } })
  const bytes = statSync(file).size
  if (bytes > MAXIMUM_BYTES) throw new Error(`${name} has ${bytes} bytes, more than ${MAXIMUM_BYTES}`)
  console.log(`docs/images/${name}.png  ${bytes} bytes`)
}

async function endpointOf({ world: { sql } }: DeliveryWorld, deliveryId: string): Promise<string> {
  const [row] = await sql`select webhook_endpoint_id from delivery where delivery_id = ${deliveryId}`
  return String(row?.['webhook_endpoint_id'])
}
