import { randomBytes } from 'node:crypto'
import { testServerUrl } from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'

export interface EmptyDatabase extends AsyncDisposable {
  readonly url: string
}

/** A database without tables on the test server. */
export async function emptyDatabase(): Promise<EmptyDatabase> {
  const server = await testServerUrl()
  const name = `aex_fault_${randomBytes(8).toString('hex')}`
  const administer = async (statement: string) => {
    const sql = openDatabase({ target: server, maximumConnections: 1, applicationName: 'faults' })
    await sql.unsafe(statement)
    await sql.end()
  }
  await administer(`create database ${name}`)
  return {
    url: Object.assign(new URL(server), { pathname: `/${name}` }).href,
    [Symbol.asyncDispose]: () => administer(`drop database ${name} with (force)`),
  }
}
