import type { DemoExchange } from './demo-exchange.ts'

const SHOWN_CHARACTERS = 1_600
const SHOWN_CIPHERTEXT = 40

/** A package as it lies in the database of the exchange. */
interface StoredPackage {
  readonly metadata: string
  /** The Flattened JWS; undefined if the sealed bytes went through the connectors. */
  readonly content: string | undefined
}

async function storedPackage({ sql }: DemoExchange, packageId: string): Promise<StoredPackage> {
  const [row] = await sql<{ metadata: string; content: string | null }[]>`
    select metadata, (
      select string_agg(before || encode(payload, 'escape') || after, '' order by part) from package_content
      where package_content.package_id = package.package_id) as content
    from package where package_id = ${packageId}`
  return { metadata: row?.metadata ?? '', content: row?.content ?? undefined }
}

/** The whole row, shortened. */
export async function storedForm(exchange: DemoExchange, packageId: string): Promise<string> {
  const { metadata, content } = await storedPackage(exchange, packageId)
  const shown = content ?? 'nothing: the sealed bytes went through the connectors'
  return `${metadata}\n\n${shown}`.slice(0, SHOWN_CHARACTERS)
}

/** The same in one line: how much, and the beginning of the ciphertext. */
export async function seenLine(exchange: DemoExchange, packageId: string): Promise<string> {
  const { content } = await storedPackage(exchange, packageId)
  if (content === undefined) return 'a digest and a signature; the sealed bytes went through the connectors'
  // The database holds the payload of the JWS decoded, so the sealed package is readable as JSON.
  const [, ciphertext = ''] = /"ciphertext":"([\w-]+)"/u.exec(content) ?? []
  return `${ciphertext.length} characters of ciphertext: ${ciphertext.slice(0, SHOWN_CIPHERTEXT)}…`
}
