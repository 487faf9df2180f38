import { readFileSync } from 'node:fs'
import type { Identity } from '../context.ts'
import { createContext } from '../create-context.ts'
import type { SendInput } from '../send/send-input.ts'
import { sendPackage } from '../send/send-package.ts'
import { openFileKeyStore } from './file-key-store.ts'
import { openSqliteOutbox } from './sqlite-outbox.ts'

/** The arguments of a sender in a process of its own, as JSON in a file. */
export interface SenderOrders {
  readonly baseUrl: string
  readonly clientId: string
  readonly identity: Identity
  readonly keysFile: string
  readonly outboxFile: string
  readonly input: SendInput
  /** The request around which the process dies. */
  readonly dieAt: { readonly path: string; readonly when: 'before' | 'after' }
}

const [ordersFile = ''] = process.argv.slice(2)
const orders = JSON.parse(readFileSync(ordersFile, 'utf8')) as SenderOrders
const { baseUrl, clientId, identity, dieAt } = orders
const die = () => process.kill(process.pid, 'SIGKILL')

const context = createContext({
  baseUrl,
  clientId,
  identity,
  keys: openFileKeyStore(orders.keysFile),
  fetch: async (url, init) => {
    const isHere = init?.method === 'POST' && new URL(url).pathname === dieAt.path
    if (isHere && dieAt.when === 'before') die()
    const response = await fetch(url, init)
    if (isHere) die()
    return response
  },
})
await sendPackage(context, orders.input, { outbox: openSqliteOutbox(orders.outboxFile) })
