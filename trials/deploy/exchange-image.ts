import { freePorts } from '@agent-exchange/testkit'
import { composeDatabase } from './compose-database.ts'
import { startImage } from './start-image.ts'

/** Role of the database and master key are those of the compose file. */
export async function startExchangeImage(folder: string, content: string): Promise<string> {
  await using database = await composeDatabase('exchange')
  const [agents = 0, operators = 0] = await freePorts(2)
  // Awaited: the database lives as long as the image.
  return await startImage({
    folder,
    content,
    containerfile: 'Containerfile',
    secrets: { master_key: 'ab'.repeat(32) },
    environment: {
      AEX_HOST: '127.0.0.1',
      AEX_PORT: String(agents),
      AEX_OPERATOR_PORT: String(operators),
      DATABASE_URL: database.url,
      AEX_MASTER_KEY_FILE: '/run/secrets/master_key',
    },
  })
}
