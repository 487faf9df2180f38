import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKeyPair, signPolicyReceipt } from '@agent-exchange/crypto'
import {
  DEFAULT_PROFILE,
  exampleObjects,
  type PackageMetadata,
  type PolicyReceipt,
} from '@agent-exchange/protocol'
import { prohibitedMembers } from '../policy/prohibited-fields.ts'
import { contentDifferences } from '../objects/content-comparison.ts'
import { explainSignatureFailure } from './explain-signature.ts'
import { variantsOf } from './signature-variants.ts'

/** O-14: what is twice as large takes twice the work, counted and not timed. */
const SIZE = 1_000
/** Of a linear cost, the rest being constant. */
const AT_MOST = 2.2
/** Of an agent whose signature is explained. */
const KEYS = 20

async function growth(workFor: (size: number) => number | Promise<number>): Promise<number> {
  return (await workFor(2 * SIZE)) / (await workFor(SIZE))
}

const named = (count: number, prefix = 'member') =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}_${index}`, index]))

/** Looks at the last item of a list, plus members that are listed, while some work is done. */
async function counted(work: () => unknown): Promise<number> {
  const { entries } = Object
  const { at } = Array.prototype
  let count = 0
  Object.assign(Object, {
    entries(value: object) {
      const found = entries(value)
      count += found.length
      return found
    },
  })
  Object.assign(Array.prototype, {
    at(this: unknown[], index: number) {
      count += 1
      return at.call(this, index)
    },
  })
  try {
    await work()
    return count
  } finally {
    Object.assign(Object, { entries })
    Object.assign(Array.prototype, { at })
  }
}

test('[O-14] prohibited fields are looked for in members plus fields, not in members times fields', async () => {
  const ratio = await growth((size) =>
    counted(() => {
      const fields = [...Object.keys(named(size, 'plain')), ...Object.keys(named(size, 'dotted.path'))]
      assert.deepEqual(prohibitedMembers(named(size), fields), [])
    }),
  )
  assert.ok(ratio <= AT_MOST, String(ratio))
})

test('[O-14] explaining a signature copies a bounded number of members and hashes a bounded number of bytes', async () => {
  const ratio = await growth((size) =>
    counted(() => variantsOf({ kind: 'policy_receipt', object: { ...named(size), signature: {} } })),
  )
  assert.ok(ratio <= AT_MOST, String(ratio))

  const { privateKey, publicKey } = await generateKeyPair('signing')
  const body = { text: 'x'.repeat(4 * 1_048_576) }
  const object = {
    ...body,
    text: `${body.text}changed`,
    signature: await signPolicyReceipt(body, { key: privateKey, keyId: 'k' }),
  }
  let tried = 0
  const candidates = Array.from({ length: KEYS }, (_, index) => ({
    keyId: `key_${index}`,
    get publicKey() {
      tried += 1
      return publicKey
    },
  }))
  const [finding] = await explainSignatureFailure({ kind: 'policy_receipt', object }, candidates)
  assert.equal(finding?.code, 'nothing_fits')
  assert.ok(tried < KEYS, String(tried))
})

test('[O-14] what is inside is compared with what is outside in one pass', async () => {
  const metadata = { recipient_org_id: 'org_last' } as PackageMetadata
  const receipt = { human_approval: { required: false } } as PolicyReceipt
  const ratio = await growth((size) => {
    let reads = 0
    const recipients = Array.from({ length: size }, (_, index) => ({
      get organization_id() {
        reads += 1
        return `org_${index}`
      },
      role: 'supplier',
      required: true,
    }))
    contentDifferences(
      { ...exampleObjects.reasoning_package, recipients },
      metadata,
      receipt,
      DEFAULT_PROFILE['O-35'],
    )
    return reads
  })
  assert.ok(ratio <= AT_MOST, String(ratio))
})
