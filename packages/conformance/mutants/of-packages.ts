import { parseObject, type WireAnswer, type WireRequest } from '../src/wire/wire.ts'
import { accepts, answers, bodies, hasCode, type Mutant, type Mutation } from './mutant.ts'

type Members = Readonly<Record<string, unknown>>
const list = (value: unknown) => (Array.isArray(value) ? (value as Members[]) : [])
const PACKAGE = ['createPackageTransfer'] as const
const isDownload = (operation: unknown, { url }: WireRequest) =>
  operation === undefined && /\/(?:content|ciphertext|packages)\b/u.test(new URL(url).pathname)

/** An order that is neither that of creation nor its reverse. */
const secondFirst = ([first, second, ...rest]: readonly (Members | undefined)[]) =>
  [second, first, ...rest].filter((each) => each !== undefined)

/** Later reads of a package show this state. */
const laterState =
  (state: string): Mutation =>
  () => {
    const reads = new Map<string, number>()
    return bodies(['getPackage'], (body) => {
      const packageId = String(body['package_id'])
      const count = (reads.get(packageId) ?? 0) + 1
      reads.set(packageId, count)
      return count === 1 ? body : { ...body, state }
    })()
  }

export const PACKAGE_MUTANTS: readonly Mutant[] = [
  {
    id: 'PKG-01',
    does: 'takes envelopes of any form',
    mutate: accepts(PACKAGE, ['envelope_invalid', 'validation_failed']),
  },
  { id: 'PKG-01', does: 'does not verify envelopes', mutate: accepts(PACKAGE, ['signature_invalid']) },
  { id: 'PKG-01', does: 'does not compare digests', mutate: accepts(PACKAGE, ['digest_mismatch']) },
  {
    id: 'PKG-02',
    does: 'takes sealed content of any form',
    mutate: accepts(PACKAGE, ['envelope_invalid', 'validation_failed']),
  },
  { id: 'PKG-02', does: 'takes keys of nobody', mutate: accepts(PACKAGE, ['encryption_key_unusable']) },
  { id: 'PKG-03', does: 'does not verify manifests', mutate: accepts(PACKAGE, ['signature_invalid']) },
  { id: 'PKG-03', does: 'takes any connector', mutate: accepts(PACKAGE, ['connector_not_approved']) },
  {
    id: 'PKG-04',
    does: 'has no content behind its download address',
    mutate: answers((answer, { operation, request }) =>
      isDownload(operation, request) ? { ...answer, status: 404 } : answer,
    ),
  },
  {
    id: 'PKG-04',
    does: 'serves other content than was sent',
    mutate: answers((answer, { operation, request }) =>
      isDownload(operation, request)
        ? { ...answer, text: '{}', bytes: new TextEncoder().encode('{}') }
        : answer,
    ),
  },
  {
    id: 'PKG-04',
    does: 'answers with another state',
    mutate: bodies(PACKAGE, (body) => ({ ...body, state: 'delivered' })),
  },
  {
    id: 'PKG-05',
    does: 'takes packages of either mode',
    mutate: accepts(PACKAGE, ['transport_mode_mismatch', 'connector_not_approved']),
  },
  {
    id: 'PKG-06',
    does: 'does not say which versions the recipient has',
    mutate: answers((answer) =>
      hasCode('protocol_version_incompatible')(answer)
        ? { ...answer, text: JSON.stringify({ ...parseObject(answer.text), details: {} }) }
        : answer,
    ),
  },
  {
    id: 'PKG-06',
    does: 'delivers to recipients without the version',
    mutate: accepts(PACKAGE, ['protocol_version_incompatible']),
  },
  {
    id: 'PKG-07',
    does: 'shows packages and threads to everybody',
    mutate: accepts(['getPackage', 'getThread'], ['resource_not_found']),
  },
  {
    id: 'PKG-08',
    does: 'takes receipts of anybody',
    mutate: accepts(
      ['createPackageReceipt'],
      ['not_permitted', 'resource_not_found', 'signing_key_unusable'],
    ),
  },
  {
    id: 'PKG-08',
    does: 'takes any receipt state',
    mutate: accepts(['createPackageReceipt'], ['validation_failed']),
  },
  { id: 'PKG-08', does: 'moves a package by a failure', mutate: laterState('opened') },
  {
    id: 'PKG-09',
    does: 'takes responses in any thread',
    mutate: accepts(
      ['createPackageResponse'],
      ['response_mismatch', 'validation_failed', 'policy_receipt_mismatch'],
    ),
  },
  {
    id: 'PKG-09',
    does: 'takes responses of anybody',
    mutate: accepts(['createPackageResponse'], ['resource_not_found', 'not_permitted']),
  },
  {
    id: 'PKG-09',
    does: 'takes responses to revoked packages',
    mutate: accepts(['createPackageResponse'], ['package_revoked', 'invalid_state_transition']),
  },
  { id: 'PKG-10', does: 'still serves revoked content', mutate: servesRevoked() },
  {
    id: 'PKG-10',
    does: 'does not verify revocations',
    mutate: accepts(['revokePackage'], ['signature_invalid', 'signing_key_unusable']),
  },
  {
    id: 'PKG-10',
    does: 'revokes twice',
    mutate: accepts(['revokePackage'], ['invalid_state_transition', 'package_revoked']),
  },
  { id: 'PKG-11', does: 'moves a package back', mutate: laterState('accepted') },
  {
    id: 'PKG-12',
    does: 'takes expired packages',
    mutate: accepts(PACKAGE, ['package_expired', 'validation_failed']),
  },
  {
    id: 'PKG-13',
    does: 'shows a thread in another order',
    mutate: bodies(['getThread'], (body) => ({ ...body, packages: secondFirst(list(body['packages'])) })),
  },
  {
    id: 'PKG-15',
    does: 'takes packages that nobody can receive',
    mutate: accepts(PACKAGE, ['recipient_not_capable', 'encryption_key_unusable']),
  },
]

/** Keeps every download and serves it again where the service no longer does. */
function servesRevoked(): Mutation {
  return () => (send) => {
    let last: WireAnswer | undefined
    return async (request) => {
      const answer = await send(request)
      if (new URL(request.url).pathname.startsWith('/v1/')) return answer
      if (answer.status === 200) last = answer
      return hasCode('package_revoked', 'resource_not_found')(answer)
        ? (last ?? { ...answer, status: 200, text: '{}' })
        : answer
    }
  }
}
