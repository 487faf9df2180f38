import { randomBytes } from 'node:crypto'
import {
  draftPackage,
  receiptBody,
  submit,
  type Answer,
  type Organization,
  type PackageDraft,
} from '@agent-exchange/testkit'

/** With envelope and encoding, the submitted body has the 12 KB of the other areas. */
const PLAINTEXT_BYTES = 6_000

export interface Life {
  readonly from: Organization
  readonly to: Organization
  readonly draft: PackageDraft
}

export async function draftLife(from: Organization, to: Organization): Promise<Life> {
  const plaintext = new TextEncoder().encode(
    JSON.stringify({ text: randomBytes(PLAINTEXT_BYTES / 2).toString('hex') }),
  )
  return { from, to, draft: await draftPackage(from, to, { plaintext }) }
}

/** All requests that a package causes: policy receipt, submission, lookup, download, and two signed receipts. */
export async function live({ from, to, draft }: Life): Promise<void> {
  const { metadata } = draft
  must(await submit(from, draft), 202)
  const shown = must(await to.get(`/v1/packages/${metadata.package_id}`), 200)
  const { pathname } = new URL(String(shown.body['ciphertext_download_url']))
  must(await to.get(pathname), 200)
  for (const state of ['received', 'opened'])
    must(
      await to.post(`/v1/packages/${metadata.package_id}/receipts`, await receiptBody(to, metadata, state)),
      201,
    )
}

function must(answer: Answer, status: number): Answer {
  if (answer.status !== status) throw new Error(`${answer.status} instead of ${status}: ${answer.text}`)
  return answer
}
