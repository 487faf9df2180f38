import { encodeBase64url, type SealedPackage } from '@agent-exchange/crypto'
import type { Check } from '../../run/check.ts'
import type { Context } from '../../run/context.ts'
import { isTaken, refused, succeeded } from '../../run/expect.ts'
import { type Answer, isObject } from '../../wire/wire.ts'
import { type Deviation, type Draft, draftPackage, envelopeOf, send } from '../draft.ts'

const encode = (value: object) => encodeBase64url(new TextEncoder().encode(JSON.stringify(value)))

/** Sends a package with its valid receipt and a changed body. */
async function sendChanged(context: Context, change: (draft: Draft) => object | Promise<object>) {
  const { sender, recipient } = context
  const draft = await draftPackage(context, sender, recipient)
  const receipt = await sender.organization.call('POST', '/v1/policy-receipts', draft.receipt)
  succeeded(receipt, 201, 'a policy receipt')
  return sender.organization.call('POST', '/v1/packages', await change(draft))
}

const flip = (text: unknown, at: number) => {
  const given = String(text)
  return given.slice(0, at) + (given[at] === 'A' ? 'B' : 'A') + given.slice(at + 1)
}

/** Values that RFC 7515 or the profile of the protocol excludes. */
const HEADERS: Readonly<Record<string, Deviation['header']>> = {
  'another algorithm': { alg: 'ES384' },
  'no algorithm': { alg: 'none' },
  'another type': { typ: 'JWT' },
  'another content type': { cty: 'application/json' },
  'another version of the protocol': { syv: 'svc/9.9' },
  'a critical extension': { crit: ['exp'], exp: 1 },
}

/** Whether parameters beside those of the profile are ignored or refused is an open point (O-29). */
const FURTHER_HEADERS: Readonly<Record<string, Deviation['header']>> = {
  'an embedded key': { jwk: { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA' } },
  'an address of keys': { jku: 'https://keys.example/jwks' },
}

type Body = (draft: Draft) => object | Promise<object>
const FURTHER_MEMBERS: Readonly<Record<string, (context: Context) => Body>> = {
  'an unprotected header':
    () =>
    ({ body }) => ({ ...body, header: { kid: 'x' } }),
  'a third member of the payload':
    ({ sender }) =>
    ({ metadata, body }) => {
      const payload: unknown = JSON.parse(Buffer.from(String(body['payload']), 'base64url').toString())
      return envelopeOf({ ...(isObject(payload) ? payload : {}), metadata, note: 'x' }, sender.signing)
    },
}

function noteFurther({ note }: Context, answer: Answer, what: string): void {
  note('O-29', `${what}: ${isTaken(answer, 202, what) ? 'accepted' : 'refused'}`)
}

const signedEnvelope: Check = {
  name: 'envelopes/jws',
  ids: ['PKG-01'],
  title: 'an envelope of another form, or altered after signing, is refused',
  async run(context) {
    const { sender, recipient } = context
    for (const [what, header = {}] of Object.entries(HEADERS)) {
      const draft = await draftPackage(context, sender, recipient, { header })
      refused(await send(sender, draft), `a JWS header with ${what}`)
    }
    const bodies: Readonly<Record<string, Body>> = {
      'an altered signature': ({ body }) => ({ ...body, signature: flip(body['signature'], 5) }),
      'an altered payload': ({ body }) => ({ ...body, payload: flip(body['payload'], 60) }),
      'no signature': ({ body }) => ({ ...body, signature: undefined }),
      'padding in its signature': ({ body }) => ({ ...body, signature: `${String(body['signature'])}==` }),
    }
    for (const [what, change] of Object.entries(bodies))
      refused(await sendChanged(context, change), `an envelope with ${what}`)
    succeeded(await sendChanged(context, ({ body }) => body), 202, 'the same envelope without a change')
    for (const [what, header = {}] of Object.entries(FURTHER_HEADERS)) {
      const draft = await draftPackage(context, sender, recipient, { header })
      noteFurther(context, await send(sender, draft), `a JWS header with ${what}`)
    }
    for (const [what, change] of Object.entries(FURTHER_MEMBERS))
      noteFurther(context, await sendChanged(context, change(context)), `an envelope with ${what}`)
  },
}

const first = ({ recipients: [own] }: SealedPackage) => own
const withFirst = (jwe: SealedPackage, change: object) => ({
  ...jwe,
  recipients: [{ ...first(jwe), ...change }, ...jwe.recipients.slice(1)],
})
const withHeader = (jwe: SealedPackage, change: object) => ({
  ...jwe,
  protected: encode({
    ...(JSON.parse(Buffer.from(jwe.protected, 'base64url').toString()) as object),
    ...change,
  }),
})
const epkOf = (jwe: SealedPackage) => first(jwe).header.epk as { readonly x: string }
const withEpk = (jwe: SealedPackage, change: object) =>
  withFirst(jwe, { header: { ...first(jwe).header, epk: { ...epkOf(jwe), ...change } } })

/** Only the sealed content deviates: digest, receipt and signature belong to what is sent. */
const SEALED: Readonly<Record<string, (jwe: SealedPackage) => object>> = {
  'one recipient': (jwe) => ({ ...jwe, recipients: [first(jwe)] }),
  'three recipients': (jwe) => ({ ...jwe, recipients: [...jwe.recipients, first(jwe)] }),
  'another encryption': (jwe) => withHeader(jwe, { enc: 'A128GCM' }),
  compression: (jwe) => withHeader(jwe, { zip: 'DEF' }),
  'another content type': (jwe) => withHeader(jwe, { cty: 'text/plain' }),
  'another type': (jwe) => withHeader(jwe, { typ: 'JOSE' }),
  'another key wrapping': (jwe) =>
    withFirst(jwe, { header: { ...first(jwe).header, alg: 'ECDH-ES+A128KW' } }),
  'a private ephemeral key': (jwe) => withEpk(jwe, { d: epkOf(jwe).x }),
  'an ephemeral key off the curve': (jwe) => withEpk(jwe, { y: epkOf(jwe).x }),
  'a short wrapped key': (jwe) => withFirst(jwe, { encrypted_key: 'AAAA' }),
  'a key of nobody': (jwe) => withFirst(jwe, { header: { ...first(jwe).header, kid: 'enc_of_nobody' } }),
  'a short initialization vector': (jwe) => ({ ...jwe, iv: jwe.iv.slice(4) }),
  'a short tag': (jwe) => ({ ...jwe, tag: 'AAAAAAAAAAA' }),
  'no tag': (jwe) => ({ ...jwe, tag: undefined }),
}

/** The same for members of the sealed content (O-29). */
const FURTHER_SEALED: Readonly<Record<string, (jwe: SealedPackage) => object>> = {
  'a shared unprotected header': (jwe) => ({ ...jwe, unprotected: { note: 'x' } }),
  'plaintext beside it': (jwe) => ({ ...jwe, plaintext: 'x' }),
}

const sealedContent: Check = {
  name: 'envelopes/jwe',
  ids: ['PKG-02'],
  title: 'sealed content of another form is refused',
  async run(context) {
    const { sender, recipient } = context
    for (const [what, jwe] of Object.entries(SEALED)) {
      const draft = await draftPackage(context, sender, recipient, { jwe })
      refused(await send(sender, draft), `sealed content with ${what}`)
    }
    const valid = await draftPackage(context, sender, recipient)
    succeeded(await send(sender, valid), 202, 'sealed content without a deviation')
    for (const [what, jwe] of Object.entries(FURTHER_SEALED)) {
      const draft = await draftPackage(context, sender, recipient, { jwe })
      noteFurther(context, await send(sender, draft), `sealed content with ${what}`)
    }
  },
}

const digest: Check = {
  name: 'envelopes/content-digest',
  ids: ['PKG-01', 'POL-04'],
  title: 'content that differs from the digest that its policy receipt approved is refused',
  async run(context) {
    const { sender, recipient } = context
    const other = await draftPackage(context, sender, recipient)
    const draft = await draftPackage(context, sender, recipient, {
      metadata: { content_digest: other.metadata['content_digest'] },
    })
    refused(await send(sender, draft), 'a package with the digest of another content')
  },
}

export const ENVELOPE_CHECKS: readonly Check[] = [signedEnvelope, sealedContent, digest]
