import { setTimeout as sleep } from 'node:timers/promises'
import type { Check } from '../../run/check.ts'
import type { Context } from '../../run/context.ts'
import { same, succeeded } from '../../run/expect.ts'
import { perform, sent, validRequest } from '../scene.ts'
import { walkStream } from '../stream.ts'

const RETURN_LIMIT_MS = 60_000
const POLL_MS = 200

async function untilBack({ baseUrl, send }: Context): Promise<void> {
  for (const end = Date.now() + RETURN_LIMIT_MS; Date.now() < end; await sleep(POLL_MS)) {
    try {
      const { status } = await send({ method: 'GET', url: `${baseUrl}/openapi.json`, headers: {} })
      if (status < 500) return
    } catch {
      // It does not listen yet.
    }
  }
  throw new Error(`the service did not answer within ${RETURN_LIMIT_MS / 1_000} s after the hook restart`)
}

const survives: Check = {
  name: 'restart/state',
  ids: ['API-04', 'EVT-04'],
  title: 'after a restart, a retry gets its first answer and the stream goes on without a gap',
  needs: ['restart'],
  last: true,
  async run(context) {
    const { recipient } = context
    const request = await validRequest(context, 'createPackageTransfer')
    const key = { idempotencyKey: context.newId('idem') }
    const first = succeeded(await perform('createPackageTransfer', request, key), 202, 'a package', [
      'API-01',
      'PKG-04',
    ])
    const before = await walkStream(recipient)
    await context.hooks.restart?.({})
    await untilBack(context)
    const again = await perform('createPackageTransfer', request, key)
    same([again.status, again.body], [202, first.body], 'a retry after the restart', ['API-04'])
    const resumed = await walkStream(recipient)
    same(resumed.items.slice(0, before.items.length), before.items, 'the stream after the restart', [
      'EVT-04',
    ])
    await sent(context)
    const { items } = await walkStream(recipient)
    const sequences = items.map(({ sequence }) => Number(sequence))
    const rising = sequences.map((_, index) => (sequences[0] ?? 0) + index)
    same(sequences, rising, 'sequences over the restart', ['EVT-04'])
  },
}

export const RESTART_CHECKS: readonly Check[] = [survives]
