import type { World } from '@agent-exchange/testkit'

/** Anything shorter turns up by chance. */
const SHORTEST = 8
const SCHEMAS = ['pg_catalog', 'information_schema']

/** Where something lies that should not be there: in a column of the exchange's database, or in its log. */
export interface Trace {
  readonly name: string
  readonly place: string
}

export type Secrets = Readonly<Record<string, string | Uint8Array>>

/** Looks through everything that an exchange stores and logs, for each secret as it is, in hex and in base64. */
export async function findTraces({ sql, logged }: World, secrets: Secrets): Promise<Trace[]> {
  const forms = Object.entries(secrets).map(([name, secret]) => ({ name, forms: formsOf(secret) }))
  const found: Trace[] = []
  const look = (place: string, text: string) => {
    for (const { name, forms: all } of forms)
      if (all.some((form) => text.includes(form))) found.push({ name, place })
  }
  const tables = await sql<{ schema: string; name: string }[]>`
    select table_schema as schema, table_name as name from information_schema.tables
    where table_type = 'BASE TABLE' and table_schema <> all(${SCHEMAS})
      -- A partition is read with its table.
      and not (select relispartition from pg_class where oid = format('%I.%I', table_schema, table_name)::regclass)`
  for (const { schema, name } of tables) {
    const rows = await sql`select * from ${sql(schema)}.${sql(name)}`
    // Together: what is stored in parts may be cut anywhere.
    for (const { name: column } of rows.columns)
      look(`${name}.${column}`, rows.map((row) => asText(row[column])).join(''))
  }
  look('log', Buffer.from(logged.join('\n')).toString('latin1'))
  return found
}

/** One character for each byte, whatever the column holds. */
function asText(value: unknown): string {
  if (Buffer.isBuffer(value)) return value.toString('latin1')
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return Buffer.from(text ?? '').toString('latin1')
}

/** Also within something that was encoded as a whole, as the seal is within the payload of an envelope. */
function formsOf(secret: string | Uint8Array): string[] {
  const bytes = Buffer.from(secret)
  if (bytes.length < SHORTEST) throw new Error('too short to look for')
  const hex = bytes.toString('hex')
  const once = [bytes.toString('latin1'), hex, hex.toUpperCase(), ...encodingsOf(bytes)]
  return [...once, ...once.flatMap((form) => encodingsOf(Buffer.from(form, 'latin1')))]
}

/** Base64 in a longer text depends on where in three bytes something begins. */
function encodingsOf(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((from) => {
    const whole = bytes.subarray(from, from + 3 * Math.floor((bytes.length - from) / 3))
    return [whole.toString('base64'), whole.toString('base64url')]
  })
}
