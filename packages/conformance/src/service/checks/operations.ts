import type { Check } from '../../run/check.ts'
import { asksForToken, describe, holds, refused, same, succeeded } from '../../run/expect.ts'
import { blaming } from '../../run/finding.ts'
import type { CallOptions } from '../../run/organization.ts'
import { isObject } from '../../wire/wire.ts'
import { WITHOUT_TOKEN } from '../download.ts'
import { OPERATION_NAMES, type OperationName, OPERATIONS } from '../operations.ts'
import { perform, validRequest } from '../scene.ts'
import { requireShape } from '../shape.ts'

/** Requirements that the success of an operation also shows. */
const ALSO: Partial<Readonly<Record<OperationName, readonly string[]>>> = {
  registerAgent: ['ID-01'],
  getAgent: ['ID-02'],
  getAgentKeys: ['ID-07'],
  getNotificationSigningKeys: ['ID-08'],
  getSkillRelease: ['ID-09'],
  createPolicyReceipt: ['POL-01'],
  createPackageTransfer: ['PKG-04'],
  createWebhookEndpoint: ['EVT-15'],
  getThread: ['PKG-13'],
}

const succeeds = (operation: OperationName): Check => ({
  name: `operations/${operation}`,
  ids: ['API-01', 'API-07', ...(ALSO[operation] ?? [])],
  title: `${operation} succeeds with ${OPERATIONS[operation].status} and its body`,
  async run(context) {
    const { status, body } = OPERATIONS[operation]
    await blaming(['API-01', ...(ALSO[operation] ?? [])], async () => {
      const answer = await perform(operation, await validRequest(context, operation))
      succeeded(answer, status)
      const type = answer.headers['content-type'] ?? ''
      const isJson = /^application\/json\b/u.test(type)
      holds(isJson, `${describe(answer)} with content type ${type}`, ['API-07'])
      if (body) requireShape(answer.body, body, operation)
    })
  },
})

const nothingElse: Check = {
  name: 'operations/nothing-else',
  ids: ['API-01'],
  title: 'other paths and methods below /v1 do not succeed',
  async run({ sender }) {
    const call = (method: string, path: string) => sender.organization.call(method, path)
    for (const path of ['/v1/conformance-no-such-path', '/v1/agents', '/v1/packages', '/v1/clients'])
      refused(await call('GET', path), `GET ${path}, which is no operation`)
    for (const method of ['PUT', 'PATCH', 'DELETE'])
      refused(
        await call(method, `/v1/agents/${sender.agentId}`),
        `${method} on an agent, which is no operation`,
      )
  },
}

const description: Check = {
  name: 'operations/openapi',
  ids: ['API-02'],
  title: '/openapi.json is OpenAPI 3.1.1, version 1.0.0, with exactly the 21 operations',
  async run({ sender }) {
    const read = (options?: CallOptions) =>
      sender.organization.call('GET', '/openapi.json', undefined, options)
    const open = await read(WITHOUT_TOKEN)
    const answer = asksForToken(open) ? await read() : open
    const { body } = succeeded(answer, 200, 'the API description')
    same(body['openapi'], '3.1.1', 'openapi')
    same(isObject(body['info']) && body['info']['version'], '1.0.0', 'info.version')
    const paths = isObject(body['paths']) ? body['paths'] : {}
    const described = Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(isObject(item) ? item : {}).flatMap(([method, operation]) =>
        isObject(operation) && typeof operation['operationId'] === 'string'
          ? [`${operation['operationId']} ${method.toUpperCase()} ${path}`]
          : [],
      ),
    )
    const expected = OPERATION_NAMES.map(
      (each) => `${each} ${OPERATIONS[each].method} ${OPERATIONS[each].path}`,
    )
    same(described.toSorted(), expected.toSorted(), 'the described operations')
  },
}

export const OPERATION_CHECKS: readonly Check[] = [...OPERATION_NAMES.map(succeeds), nothingElse, description]
