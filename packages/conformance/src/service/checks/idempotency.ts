import type { Check } from '../../run/check.ts'
import { refused, refusedWith, same, succeeded } from '../../run/expect.ts'
import { blaming } from '../../run/finding.ts'
import type { Answer } from '../../wire/wire.ts'
import { MUTATIONS, type OperationName, OPERATIONS } from '../operations.ts'
import { perform, validRequest } from '../scene.ts'
import { draftPackage } from '../draft.ts'
import { walkStream } from '../stream.ts'

/** The acknowledgement has a requirement of its own. */
const idsOf = (operation: OperationName, ...ids: readonly string[]) =>
  operation === 'acknowledgeNotification' ? [...ids, 'EVT-11'] : ids

const retry: Check = {
  name: 'idempotency/exact-retry',
  ids: ['API-04', 'EVT-11'],
  title: 'an exact retry of each mutation gets the first status and body',
  async run(context) {
    for (const operation of MUTATIONS) {
      const request = await validRequest(context, operation)
      const key = { idempotencyKey: request.idempotencyKey ?? context.newId('idem') }
      const { status } = OPERATIONS[operation]
      const first = succeeded(await perform(operation, request, key), status, operation, ['API-01'])
      await blaming(idsOf(operation, 'API-04'), async () => {
        const second = await perform(operation, request, key)
        same([second.status, second.body], [first.status, first.body], `the retry of ${operation}`)
      })
    }
  },
}

const atOnce: Check = {
  name: 'idempotency/at-once',
  ids: ['API-04'],
  title: 'the same mutation sent four times at once has one effect and one answer',
  async run(context) {
    const { recipient } = context
    const before = await walkStream(recipient)
    const request = await validRequest(context, 'createPackageTransfer')
    const key = { idempotencyKey: context.newId('idem') }
    const answers = await Promise.all([1, 2, 3, 4].map(() => perform('createPackageTransfer', request, key)))
    // A service may ask the later ones to retry; then they get the first answer.
    const settled: Answer[] = []
    for (const answer of answers)
      settled.push(
        answer.body['retryable'] === true ? await perform('createPackageTransfer', request, key) : answer,
      )
    for (const answer of settled) {
      succeeded(answer, 202, 'one of four equal requests at once')
      same(answer.body, settled[0]?.body, 'one of four equal requests at once')
    }
    const acceptances = async () => {
      const { items } = await walkStream(recipient, before.cursor)
      return items.filter(
        ({ package_id, event_type }) =>
          package_id === settled[0]?.body['package_id'] && event_type === 'package.accepted',
      )
    }
    const accepted = await context.eventually(acceptances, ({ length }) => length > 0)
    same(accepted.length, 1, 'events of a package that was sent four times at once')
  },
}

const reuse: Check = {
  name: 'idempotency/other-content',
  ids: ['API-05', 'EVT-11', 'ERR-03'],
  title: 'each mutation refuses a used key with other content by 409 idempotency_key_reuse',
  async run(context) {
    for (const operation of MUTATIONS) {
      const request = await validRequest(context, operation)
      const { other } = request
      if (!other) continue
      const key = { idempotencyKey: request.idempotencyKey ?? context.newId('idem') }
      const { status } = OPERATIONS[operation]
      succeeded(await perform(operation, request, key), status, operation, ['API-01'])
      await blaming(idsOf(operation, 'API-05', 'ERR-03'), async () => {
        const changed = await perform(operation, { ...request, body: other }, key)
        refusedWith(changed, 409, 'idempotency_key_reuse', `${operation} with a used key and other content`)
        context.note('O-11', `idempotency_key_reuse: retryable ${String(changed.body['retryable'])}`)
      })
      const invalid = await perform(operation, { ...request, body: { nonsense: true } }, key)
      refused(invalid, `${operation} with a used key and invalid content`)
      context.note(
        'O-11',
        `a used key with invalid content: ${invalid.status} ${String(invalid.body['code'])}`,
      )
    }
  },
}

const scope: Check = {
  name: 'idempotency/own-organization',
  ids: ['API-04', 'AUTH-03'],
  title: 'the same key of another organization is another request',
  async run(context) {
    const { sender, recipient } = context
    const key = { idempotencyKey: context.newId('idem') }
    const draft = await draftPackage(context, sender, recipient)
    const answer = await draftPackage(context, recipient, sender)
    for (const [by, { receipt }] of [
      [sender, draft],
      [recipient, answer],
    ] as const) {
      const accepted = await by.organization.call('POST', '/v1/policy-receipts', receipt, key)
      succeeded(accepted, 201, 'a policy receipt with a key that another organization used')
      const { receipt: returned } = accepted.body as { receipt?: { sender_org_id?: string } }
      same(returned?.sender_org_id, by.organization.organizationId, 'the organization of the receipt')
    }
  },
}

const freeAfterRefusal: Check = {
  name: 'idempotency/refused-request',
  ids: ['API-05'],
  title: 'what a refused request does to its key is noted',
  async run(context) {
    const { sender, recipient } = context
    const key = { idempotencyKey: context.newId('idem') }
    const { receipt } = await draftPackage(context, sender, recipient)
    const { call } = sender.organization
    refused(await call('POST', '/v1/policy-receipts', { nonsense: true }, key), 'an invalid policy receipt')
    const again = await call('POST', '/v1/policy-receipts', receipt, key)
    context.note('O-48', again.status === 201 ? 'the key stays free' : `the key is used: ${again.status}`)
  },
}

export const IDEMPOTENCY_CHECKS: readonly Check[] = [retry, atOnce, reuse, scope, freeAfterRefusal]
