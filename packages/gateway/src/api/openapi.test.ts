import assert from 'node:assert/strict'
import { test } from 'node:test'
import { schemaNamed, nameOf, validatorOf } from '@agent-exchange/protocol'
import { Validator } from '@seriousme/openapi-schema-validator'
import { gatewayOpenApi } from './openapi.ts'
import { operationExamples } from './openapi-examples.ts'
import { GATEWAY_OPERATION_IDS, gatewayOperations, type GatewayOperation } from './operations.ts'

test('the description is valid OpenAPI 3.1', async () => {
  const result = await new Validator().validate(structuredClone(gatewayOpenApi('https://gateway.example')))
  assert.deepEqual(result, { valid: true })
})

test('there are at most fifteen operations, and none approves', () => {
  assert.ok(GATEWAY_OPERATION_IDS.length <= 15)
  assert.ok(!/approv/iu.test(GATEWAY_OPERATION_IDS.join()))
})

test('each example is valid by its schema, and no request schema ignores unknown members', () => {
  for (const id of GATEWAY_OPERATION_IDS) {
    const { request, success, accepted }: GatewayOperation = gatewayOperations[id]
    const { request: sent, answer, accepted: waiting } = operationExamples[id]
    assert.deepEqual(validatorOf(success.body)(answer), [], id)
    if (accepted) assert.deepEqual(validatorOf(accepted)(waiting), [], id)
    if (!request) continue
    assert.deepEqual(validatorOf(request)(sent), [], id)
    const { additionalProperties } = schemaNamed(nameOf(request)) as {
      additionalProperties?: boolean
    }
    assert.equal(additionalProperties, false, id)
  }
})
