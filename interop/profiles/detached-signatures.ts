import {
  canonicalize,
  type PublicKey,
  type StatementForm,
  verifyManifest,
  verifyPackageStatement,
  verifyPolicyReceipt,
  verifySkillRelease,
} from '@agent-exchange/crypto'
import { isPackageHead, verifyPackageHead, type PackageHead } from '@agent-exchange/log'
import {
  dsxPackageBody,
  type Named,
  packageReceiptRequest,
  packageRevocationRequest,
  policyReceipt as policyReceiptSchema,
  skillRelease as skillReleaseSchema,
} from '@agent-exchange/protocol'
import { publicKey } from '../test-keys.ts'
import { type Check, profile, Refusal, requireSchema } from './profile.ts'

interface DetachedInput {
  readonly object: object
  readonly verify_with: string
}

interface StatementInput extends DetachedInput {
  readonly package_id: string
  readonly accept?: readonly StatementForm[]
}

type Verify = (object: object, key: PublicKey) => Promise<void>

function detached(schema: Named<unknown>, member: string, verify: Verify): Check {
  return profile(async ({ object, verify_with }: DetachedInput) => {
    await verify(object, await publicKey(verify_with))
    requireSchema(schema, object)
    return { signed_text: textWithout(object, member) }
  })
}

function statement(schema: Named<unknown>): Check {
  return profile(async ({ object, verify_with, package_id, accept }: StatementInput) => {
    const form = await verifyPackageStatement(object, {
      packageId: package_id,
      publicKey: await publicKey(verify_with),
      ...(accept !== undefined && { accept }),
    })
    requireSchema(schema, object)
    const signed = form === 'bound' ? { ...object, package_id } : object
    return { form, signed_text: textWithout(signed, 'signature') }
  })
}

function textWithout(object: object, member: string): string {
  return canonicalize({ ...object, [member]: undefined })
}

export const policyReceipt = detached(policyReceiptSchema, 'signature', verifyPolicyReceipt)
export const dsxManifest = detached(dsxPackageBody, 'sender_signature', verifyManifest)
export const skillRelease = detached(skillReleaseSchema, 'manifest_signature', verifySkillRelease)
export const packageReceipt = statement(packageReceiptRequest)
export const packageRevocation = statement(packageRevocationRequest)

export const packageHead = profile(async ({ object, verify_with }: DetachedInput) => {
  await verifyPackageHead(object as PackageHead, await publicKey(verify_with))
  if (!isPackageHead(object)) throw new Refusal('schema_invalid')
  return { signed_text: textWithout(object, 'signature') }
})
