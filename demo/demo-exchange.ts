import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  startDurableServer,
  startWorld,
  testAuthority,
  type Identity,
  type World,
} from '@agent-exchange/testkit'
import { CommandFailure } from '../packages/cli/src/failure.ts'

/** The exchange of the demo: a service with its own PostgreSQL, in a temporary folder. */
export interface DemoExchange extends AsyncDisposable, Pick<World, 'url' | 'operatorUrl' | 'sql' | 'logged'> {
  readonly operatorToken: string
  /** Everything that the exchange keeps on disk, its database too. */
  readonly folders: readonly string[]
  /** Certificate and key of the companies' webhook receivers, which the exchange trusts. */
  readonly receivers: Identity
  /** A request of its operator. */
  operate(path: string, body: object): Promise<Record<string, unknown>>
}

export async function startDemoExchange(folder: string): Promise<DemoExchange> {
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const dataDirectory = join(folder, 'exchange')
  const authority = await testAuthority()
  cleanup.use(await startDurableServer(dataDirectory))
  const world = cleanup.use(
    await startWorld({
      // Nobody waits ten seconds for the proof at the end of a demo.
      profile: { 'O-07': { transparency_checkpoint_milliseconds: 500 } },
      config: {
        dataDirectory,
        role: 'all',
        webhook: { ca: authority.certificate, allowPrivate: true },
      },
    }),
  )
  const { url, operatorUrl, sql, logged } = world
  const stop = undo.move()
  return {
    url,
    operatorUrl,
    sql,
    logged,
    operatorToken: readFileSync(join(dataDirectory, 'operator-token'), 'utf8').trim(),
    folders: [dataDirectory],
    receivers: await authority.server(),
    async operate(path, body) {
      const answer = await world.operate('POST', path, body)
      if (answer.status >= 400)
        throw new CommandFailure(`The demo's operator was refused: ${String(answer.body['title'])}.`)
      return answer.body
    },
    [Symbol.asyncDispose]: () => stop.disposeAsync(),
  }
}
