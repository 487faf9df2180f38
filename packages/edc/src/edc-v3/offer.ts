import type { AcquireRequest } from '@agent-exchange/sdk'
import { ConnectorError } from '../connector-error.ts'
import type { WaitScope } from '../wait-scope.ts'
import { requireNode, type Edc } from './edc.ts'
import { asText, idOf, nodesOf, valuesOf, type Node } from './json-ld-reader.ts'
import { acceptPlainUse, termsOf } from './policy-terms.ts'
import { spelledOut } from './spelled-out.ts'
import { localName, ODRL, PULL, REQUEST_CONTEXT } from './vocabulary.ts'

/** The one offer of an asset, ready to be sent back: as it came, plus who assigns what. */
export async function findOffer(edc: Edc, request: AcquireRequest, scope: WaitScope): Promise<Node> {
  const dataset = await requestDataset(edc, request, scope)
  const { assetId } = request
  if (idOf(dataset) !== assetId)
    throw new ConnectorError('offer_mismatch', { assetId, what: 'The answer is about another asset.' })
  const offers = nodesOf(dataset, 'hasPolicy')
  const [offer] = offers
  if (!offer) throw new ConnectorError('no_offer', { assetId })
  if (offers.length > 1)
    throw new ConnectorError('several_offers', { assetId, what: `There are ${offers.length} offers.` })
  if (!formatsOf(dataset).includes(PULL))
    throw new ConnectorError('offer_mismatch', { assetId, what: `The asset cannot be had as ${PULL}.` })
  const { acceptTerms = acceptPlainUse } = request
  if (!acceptTerms(termsOf(offer)))
    throw new ConnectorError('offer_mismatch', { assetId, what: 'The terms of the offer were not accepted.' })
  return addressed(offer, dataset, request)
}

async function requestDataset(
  edc: Edc,
  { assetId, counterParty }: AcquireRequest,
  scope: WaitScope,
): Promise<Node> {
  try {
    const { body } = await edc.client.call(
      {
        method: 'POST',
        path: '/v3/catalog/dataset/request',
        repeatable: true,
        body: {
          '@context': REQUEST_CONTEXT,
          '@type': 'DatasetRequest',
          '@id': assetId,
          counterPartyAddress: counterParty.protocolEndpoint,
          counterPartyId: counterParty.participantId,
          protocol: edc.protocol,
        },
      },
      scope,
    )
    return requireNode(body, 'the request of the dataset')
  } catch (error) {
    throw datasetFailure(error, assetId)
  }
}

/** EDC reports the other side's refusal as text in a 502. */
function datasetFailure(error: unknown, assetId: string): unknown {
  if (!(error instanceof ConnectorError) || error.httpStatus === undefined) return error
  const { httpStatus, errorDetail } = error
  const said = { assetId, httpStatus, ...(errorDetail !== undefined && { errorDetail }) }
  if (httpStatus === 404 || /^40[34]\b|does not exist|not found/iu.test(errorDetail ?? ''))
    return new ConnectorError('no_offer', said)
  if (/no provider dispatcher|not supported/iu.test(errorDetail ?? ''))
    return new ConnectorError('unsupported_version', said)
  if (httpStatus === 502)
    return new ConnectorError('unreachable', {
      ...said,
      what: 'Our connector could not ask the other one.',
      likelyCause:
        'Likely the other’s protocol endpoint is wrong, down, or refuses our connector’s credentials.',
    })
  return error
}

function formatsOf(dataset: Node): readonly string[] {
  return nodesOf(dataset, 'distribution')
    .flatMap((distribution) => valuesOf(distribution, 'format'))
    .map(asText)
    .filter((format) => format !== undefined)
    .map(localName)
}

/** EDC compares what comes back to the letter, so nothing of the offer is touched; its own context goes with it. */
function addressed(offer: Node, dataset: Node, { assetId, counterParty }: AcquireRequest): Node {
  return {
    ...spelledOut(offer, dataset['@context']),
    ...named(offer, 'assigner', counterParty.participantId),
    ...named(offer, 'target', assetId),
  }
}

function named(offer: Node, name: 'assigner' | 'target', id: string): Node {
  const given = valuesOf(offer, name).map(asText)
  if (given.length === 0) return { [`${ODRL}${name}`]: { '@id': id } }
  if (given.every((value) => value === id)) return {}
  throw new ConnectorError('offer_mismatch', { what: `The offer names another ${name}.` })
}
