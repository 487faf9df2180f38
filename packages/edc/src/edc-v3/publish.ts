import { digestsEqual, sha256Digest } from '@agent-exchange/crypto'
import type { PublishedAsset, PublishRequest } from '@agent-exchange/sdk'
import { ConnectorError } from '../connector-error.ts'
import { assetIdOf, offerIdOf, policyIdOf, requireId } from '../derived-ids.ts'
import type { WaitScope } from '../wait-scope.ts'
import type { HostedAddress } from '../data-address.ts'
import { requireNode, type Edc } from './edc.ts'
import { nodesOf, textOf, type Node } from './json-ld-reader.ts'
import { termsOf } from './policy-terms.ts'
import { EDC, localName, REQUEST_CONTEXT } from './vocabulary.ts'

/** Bytes first, the offer last: nobody is offered what is not there. Each step may have been done before. */
export async function publish(edc: Edc, request: PublishRequest, scope: WaitScope): Promise<PublishedAsset> {
  const assetId = request.assetId === undefined ? assetIdOf(request.packageId) : requireId(request.assetId)
  if (!edc.dataAddress)
    throw new ConnectorError('invalid_input', {
      what: 'Publishing needs a data address: give the connector one.',
    })
  if (!digestsEqual(await sha256Digest(request.bytes), request.digest))
    throw new ConnectorError('invalid_input', { assetId, what: 'The digest is not that of the bytes.' })
  const address = await edc.dataAddress.put(assetId, request.bytes)
  scope.report({ step: 'data_stored', assetId })
  const asset = await createAsset(edc, assetId, { ...request, address }, scope)
  scope.report({ step: 'asset_published', assetId })
  const policy = await createPolicy(edc, assetId, request.recipientParticipantId, scope)
  scope.report({ step: 'policy_published', assetId })
  const offer = await createOffer(edc, assetId, scope)
  scope.report({ step: 'offer_published', assetId })
  const { connectorId } = edc
  return { connectorId, assetId, digest: request.digest, created: asset || policy || offer }
}

/** Creates, or finds that it is there already and ours. True when it was created. */
async function create(
  edc: Edc,
  kind: 'assets' | 'policydefinitions' | 'contractdefinitions',
  { id, body, isOurs }: { id: string; body: Node; isOurs: (existing: Node) => boolean | Promise<boolean> },
  scope: WaitScope,
): Promise<boolean> {
  const whole = { '@context': REQUEST_CONTEXT, '@id': id, ...body }
  const answer = await edc.client
    .call({ method: 'POST', path: `/v3/${kind}`, body: whole, expect: [409], repeatable: true }, scope)
    .catch((error: unknown) => {
      throw policyFailure(error)
    })
  if (answer.status !== 409) return true
  const path = `/v3/${kind}/${encodeURIComponent(id)}`
  const existing = requireNode((await edc.client.call({ method: 'GET', path }, scope)).body, `GET ${path}`)
  if (await isOurs(existing)) return false
  throw new ConnectorError('conflict', { what: `Something else is published as ${id}.` })
}

/** From 0.14 on, EDC refuses a policy that it could not evaluate; before that it accepts and ignores it. */
function policyFailure(error: unknown): unknown {
  if (!(error instanceof ConnectorError) || !/not bound to any/u.test(error.errorDetail ?? '')) return error
  const { errorDetail = '', httpStatus = 400 } = error
  return new ConnectorError('unsupported_policy', { errorDetail, httpStatus })
}

function createAsset(
  edc: Edc,
  assetId: string,
  {
    packageId,
    digest,
    recipientParticipantId,
    address,
  }: PublishRequest & { readonly address: HostedAddress },
  scope: WaitScope,
): Promise<boolean> {
  // Private: a catalog tells nobody which package this is or for whom.
  const ours = { aexPackageId: packageId, aexDigest: digest, aexRecipient: recipientParticipantId }
  const body = {
    '@type': 'Asset',
    properties: { contenttype: 'application/octet-stream' },
    privateProperties: ours,
    dataAddress: {
      '@type': 'DataAddress',
      type: 'HttpData',
      baseUrl: address.url,
      authKey: address.headerName,
      authCode: address.headerValue,
    },
  }
  const isOurs = async (existing: Node) => {
    const [kept] = nodesOf(existing, 'privateProperties')
    if (!kept || !Object.entries(ours).every(([name, value]) => textOf(kept, name) === value)) return false
    const [where] = nodesOf(existing, 'dataAddress')
    const same =
      where && textOf(where, 'baseUrl') === address.url && textOf(where, 'authCode') === address.headerValue
    // The same package at another address: the data address has moved since, and the connector must follow.
    const moved = { '@context': REQUEST_CONTEXT, '@id': assetId, ...body }
    if (!same)
      await edc.client.call({ method: 'PUT', path: '/v3/assets', body: moved, repeatable: true }, scope)
    return true
  }
  return create(edc, 'assets', { id: assetId, body, isOurs }, scope)
}

function createPolicy(edc: Edc, assetId: string, recipient: string, scope: WaitScope): Promise<boolean> {
  const { property, operator, value } = edc.accessCondition(recipient)
  const constraint = {
    'odrl:leftOperand': { '@id': property },
    'odrl:operator': { '@id': `odrl:${operator}` },
    'odrl:rightOperand': value,
  }
  const permission = { 'odrl:action': { '@id': 'odrl:use' }, 'odrl:constraint': constraint }
  const body = {
    '@type': 'PolicyDefinition',
    policy: { '@type': 'odrl:Set', 'odrl:permission': [permission] },
  }
  const isOurs = (existing: Node) => {
    const [policy] = nodesOf(existing, 'policy')
    const conditions = policy ? termsOf(policy).conditions : []
    const [only] = conditions
    return (
      conditions.length === 1 &&
      only?.value === value &&
      only.operator === operator &&
      localName(only.property) === localName(property)
    )
  }
  return create(edc, 'policydefinitions', { id: policyIdOf(assetId), body, isOurs }, scope)
}

function createOffer(edc: Edc, assetId: string, scope: WaitScope): Promise<boolean> {
  const policyId = policyIdOf(assetId)
  const body = {
    '@type': 'ContractDefinition',
    accessPolicyId: policyId,
    contractPolicyId: policyId,
    // One asset by its id: an empty selector would offer everything that the connector has.
    assetsSelector: [{ '@type': 'Criterion', operandLeft: `${EDC}id`, operator: '=', operandRight: assetId }],
  }
  const isOurs = (existing: Node) => {
    const selectors = nodesOf(existing, 'assetsSelector')
    return (
      textOf(existing, 'accessPolicyId') === policyId &&
      selectors.length === 1 &&
      selectors.every((selector) => textOf(selector, 'operandRight') === assetId)
    )
  }
  return create(edc, 'contractdefinitions', { id: offerIdOf(assetId), body, isOurs }, scope)
}
