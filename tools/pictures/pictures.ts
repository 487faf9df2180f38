/** `npm run pictures`: takes the pictures in docs/images, of the console and of the desk, from real services. */

import { mkdirSync } from 'node:fs'
import { sendPackage, sendReceipt, type DeliveryWorld } from '@agent-exchange/testkit'
import { openBrowser } from '@agent-exchange/testkit/browser'
import { brokenReceiver } from './broken-receiver.ts'
import { takeDeskPictures } from './desk-pictures.ts'
import { checkPicture, PICTURE_FOLDER, pictureFile } from './picture-folder.ts'

const WIDTH = 1_100

interface Picture {
  readonly name: string
  readonly path: string
  readonly height: number
  /** The element at the top of the picture. */
  readonly from?: string
}

await using setting = await brokenReceiver()
const { world, receiver, sender, owner } = setting
mkdirSync(PICTURE_FOLDER, { recursive: true })
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
await take({ name: 'console-timeline', path: `/threads/${place.thread_id}`, height: 720, from: 'h2' })
takeDeskPictures()

async function take({ name, path, height, from }: Picture): Promise<void> {
  await using watched = await browser.open(world.operatorUrl + path, {
    viewport: { width: WIDTH, height },
    colorScheme: 'light',
  })
  const { page } = watched
  // The story is ahead of the clock of this machine.
  await page.clock.setFixedTime(world.clock.now())
  await page.getByLabel('Operator token').fill(String(body['token']))
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Sign out' }).waitFor()
  const box = from === undefined ? null : await page.locator(from).first().boundingBox()
  const y = Math.max(0, (box?.y ?? 0) - 16)
  await page.screenshot({ path: pictureFile(name), fullPage: true, clip: { x: 0, y, width: WIDTH, height } })
  checkPicture(name)
}

async function endpointOf({ world: { sql } }: DeliveryWorld, deliveryId: string): Promise<string> {
  const [row] = await sql`select webhook_endpoint_id from delivery where delivery_id = ${deliveryId}`
  return String(row?.['webhook_endpoint_id'])
}
