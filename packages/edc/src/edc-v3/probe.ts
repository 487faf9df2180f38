import { randomBytes } from 'node:crypto'
import { sha256Digest } from '@agent-exchange/crypto'
import { request as send } from 'undici'
import type { CounterParty, DataSpaceConnector } from '@agent-exchange/sdk'
import { ConnectorError } from '../connector-error.ts'
import { assetIdOf } from '../derived-ids.ts'
import { LIMITS } from '../connector-limits.ts'
import type { Probed, ProbeOptions, ProbeReport } from '../inspectable-connector.ts'
import type { WaitScope } from '../wait-scope.ts'
import { networkFailure, readAtMost } from './body.ts'
import { requireNode, type Edc } from './edc.ts'
import { asText, idOf, isNode, nodeList, textOf, valuesOf } from './json-ld-reader.ts'
import { findOffer } from './offer.ts'
import { REQUEST_CONTEXT } from './vocabulary.ts'

/** Probes each part independently: a failure does not hide the others. */
export async function probe(
  connector: DataSpaceConnector,
  edc: Edc,
  { counterParty, dryRun = true, ...options }: ProbeOptions,
  scope: WaitScope,
): Promise<ProbeReport> {
  const { connectorId, participantId } = edc
  const self = edc.protocolEndpoint && {
    participantId,
    protocolEndpoint: edc.protocolEndpoint.href.replace(/\/$/u, ''),
  }
  return {
    connectorId,
    participantId,
    management: await probed(async () => ({ clockSkewMs: await clockSkew(edc, scope) })),
    apiVersions: await probed(() => apiVersions(edc, scope)),
    protocolVersions: await probed(() => protocolVersions(edc, scope)),
    dataPlanes: await probed(() => dataPlanes(edc, scope)),
    ownParticipantId: await probed(async () => {
      if (!self) throw unknownEndpoint()
      return (await participantBehind(edc, self, scope)) ?? ''
    }),
    ...(counterParty && {
      counterParty: await probed(async () => ({
        participantId: await participantBehind(edc, counterParty, scope),
      })),
    }),
    ...(dryRun && {
      dryRun: await probed(() => {
        if (!self) throw unknownEndpoint()
        return runDry(connector, edc, self, { options, scope })
      }),
    }),
  }
}

async function probed<T>(work: () => Promise<T> | T): Promise<Probed<T>> {
  try {
    return { ok: true, value: await work() }
  } catch (error) {
    if (!(error instanceof ConnectorError) || error.code === 'aborted') throw error
    const { code, message, hint, errorDetail } = error
    const what = errorDetail === undefined ? message : `${message} (${errorDetail})`
    return { ok: false, code, what, hint }
  }
}

async function clockSkew(edc: Edc, scope: WaitScope): Promise<number | undefined> {
  const body = { '@context': REQUEST_CONTEXT, '@type': 'QuerySpec', limit: 1 }
  const { date } = await edc.client.call(
    { method: 'POST', path: '/v3/assets/request', body, repeatable: true },
    scope,
  )
  const theirs = date === undefined ? Number.NaN : Date.parse(date)
  // The header has whole seconds: half of one on average, so less than two says nothing.
  return Number.isNaN(theirs) ? undefined : theirs + 500 - scope.clock.now()
}

async function apiVersions(edc: Edc, scope: WaitScope): Promise<readonly string[]> {
  if (!edc.versionUrl) return ['v3']
  const answer = await getJson(edc, edc.versionUrl, scope)
  const versions = isNode(answer) ? nodeList(answer['management']) : []
  return versions.flatMap((entry) => textOf(entry, 'version') ?? [])
}

async function protocolVersions(edc: Edc, scope: WaitScope): Promise<readonly string[]> {
  if (!edc.protocolEndpoint) throw unknownEndpoint()
  // The list is at the base path: an endpoint may be `…/protocol/2025-1`.
  const base = edc.protocolEndpoint.href.replace(/\/+$/u, '').replace(/\/\d{4}[/-]\d+$/u, '')
  const url = new URL(`${base}/.well-known/dspace-version`)
  const answer = await getJson(edc, url, scope)
  const versions = isNode(answer) ? nodeList(valuesOf(answer, 'protocolVersions')) : []
  return versions.flatMap((entry) => textOf(entry, 'version') ?? [])
}

async function dataPlanes(edc: Edc, scope: WaitScope) {
  const { body } = await edc.client.call({ method: 'GET', path: '/v3/dataplanes' }, scope)
  return nodeList(body).map((plane) => ({
    id: idOf(plane) ?? '',
    state: textOf(plane, 'state') ?? 'UNKNOWN',
    transfers: valuesOf(plane, 'allowedTransferTypes').flatMap((type) => asText(type) ?? []),
  }))
}

async function participantBehind(
  edc: Edc,
  party: CounterParty,
  scope: WaitScope,
): Promise<string | undefined> {
  const body = {
    '@context': REQUEST_CONTEXT,
    '@type': 'CatalogRequest',
    counterPartyAddress: party.protocolEndpoint,
    counterPartyId: party.participantId,
    protocol: edc.protocol,
    querySpec: { '@type': 'QuerySpec', limit: 1 },
  }
  const answer = await edc.client.call(
    { method: 'POST', path: '/v3/catalog/request', body, repeatable: true },
    scope,
  )
  return textOf(requireNode(answer.body, 'the request of the catalog'), 'participantId')
}

/** A complete transfer of random bytes to ourselves, and an offer that must be hidden from us. */
async function runDry(
  connector: DataSpaceConnector,
  edc: Edc,
  self: CounterParty,
  { options, scope }: { options: ProbeOptions; scope: WaitScope },
) {
  const begun = scope.clock.now()
  const bytes = randomBytes(32)
  const digest = await sha256Digest(bytes)
  const tail = randomBytes(8).toString('hex')
  const [ours, others] = [`doctor-${tail}`, `doctor-${tail}-other`]
  const wait = () => ({ ...options, deadlineMs: Math.max(1, scope.left()) })
  try {
    await connector.publish(
      { packageId: ours, bytes, digest, recipientParticipantId: self.participantId },
      wait(),
    )
    await connector.publish(
      { packageId: others, bytes, digest, recipientParticipantId: `nobody-${tail}` },
      wait(),
    )
    const request = { packageId: ours, assetId: assetIdOf(ours), counterParty: self }
    const acquisition = await connector.acquire(request, wait())
    const received = await connector.fetch(acquisition, wait())
    if ((await sha256Digest(received)) !== digest)
      throw new ConnectorError('bad_answer', {
        what: 'The bytes that came back are not those that were published.',
      })
    await connector.finish(acquisition, wait())
    const accessEnforced = await hidden(
      edc,
      { ...request, packageId: others, assetId: assetIdOf(others) },
      scope,
    )
    return { elapsedMs: scope.clock.now() - begun, accessEnforced }
  } finally {
    const brief = { deadlineMs: LIMITS.endingMs }
    await Promise.allSettled([ours, others].map((id) => connector.withdraw(assetIdOf(id), brief)))
  }
}

async function hidden(
  edc: Edc,
  request: Parameters<typeof findOffer>[1],
  scope: WaitScope,
): Promise<boolean> {
  try {
    await findOffer(edc, request, scope)
    return false
  } catch (error) {
    if (error instanceof ConnectorError && error.code === 'no_offer') return true
    throw error
  }
}

/** For addresses outside the management API: sends no credentials. */
async function getJson(edc: Edc, url: URL, scope: WaitScope): Promise<unknown> {
  const limit = AbortSignal.timeout(Math.ceil(Math.max(1, Math.min(LIMITS.requestMs, scope.left()))))
  try {
    const signal = AbortSignal.any([scope.signal, limit])
    const { statusCode, body } = await send(url, { dispatcher: edc.dispatcher, signal })
    const bytes = await readAtMost(body, LIMITS.answerBytes)
    if (statusCode !== 200)
      throw new ConnectorError('bad_answer', {
        httpStatus: statusCode,
        what: `${url.pathname} answered ${statusCode}.`,
      })
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new ConnectorError('bad_answer', { what: `${url.pathname} gave no JSON.` })
    throw networkFailure(error, `GET ${url.pathname}`, {
      aborted: scope.signal.aborted,
      timedOut: limit.aborted,
    })
  }
}

function unknownEndpoint(): ConnectorError {
  return new ConnectorError('invalid_input', {
    what: 'Our own protocol endpoint is not configured, so it cannot be checked.',
  })
}
