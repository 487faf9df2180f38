import type { Check } from '../../run/check.ts'
import { refused, succeeded } from '../../run/expect.ts'
import { MUTATIONS, OPERATION_NAMES, OPERATIONS } from '../operations.ts'
import { perform, validRequest } from '../scene.ts'

const correlation: Check = {
  name: 'headers/correlation-id',
  ids: ['API-03'],
  title: 'no operation runs without X-Correlation-ID, and the refused request has no effect',
  async run(context) {
    for (const operation of OPERATION_NAMES) {
      const request = await validRequest(context, operation)
      const without = { headers: { 'x-correlation-id': undefined } }
      refused(await perform(operation, request, without), `${operation} without X-Correlation-ID`)
      succeeded(await perform(operation, request), OPERATIONS[operation].status, `${operation} afterwards`)
    }
  },
}

const idempotency: Check = {
  name: 'headers/idempotency-key',
  ids: ['API-03'],
  title: 'no mutation runs without Idempotency-Key, and the refused request has no effect',
  async run(context) {
    for (const operation of MUTATIONS) {
      const request = await validRequest(context, operation)
      const without = { headers: { 'idempotency-key': undefined } }
      refused(await perform(operation, request, without), `${operation} without Idempotency-Key`)
      succeeded(await perform(operation, request), OPERATIONS[operation].status, `${operation} afterwards`)
    }
  },
}

export const HEADER_CHECKS: readonly Check[] = [correlation, idempotency]
