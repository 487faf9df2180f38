import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setScene, startWorld, type Organization, type Scene } from '@agent-exchange/testkit'
import { OPERATION_IDS, operations } from '@agent-exchange/protocol'

/** A real exchange on loopback with two organizations and a package between them. */
export interface OutsideExchange extends AsyncDisposable {
  readonly url: string
  readonly scene: Scene
  readonly organization: Organization
  /** Path of a file with the served OpenAPI document. */
  readonly document: string
  /** Valid path parameters by operation. */
  readonly known: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** Longer than a trial, so that no token expires on a slow machine. */
const PROFILE = { 'O-08': { access_token_seconds: 3_600 } }

export async function startOutsideExchange(folder: string): Promise<OutsideExchange> {
  const world = await startWorld({ profile: PROFILE })
  try {
    const scene = await setScene(world)
    const document = join(folder, 'openapi.json')
    writeFileSync(document, await (await fetch(`${world.url}/openapi.json`)).text())
    return {
      url: world.url,
      scene,
      organization: scene.sender,
      document,
      known: await knownParameters(scene),
      [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
    }
  } catch (error) {
    await world[Symbol.asyncDispose]()
    throw error
  }
}

/** Extracts the path parameters of successful requests. */
async function knownParameters(scene: Scene): Promise<OutsideExchange['known']> {
  const known: Record<string, Record<string, string>> = {}
  for (const id of OPERATION_IDS) {
    const template = operations[id].path.split('/')
    const path = (await scene.make(id)).path.split('/')
    const entries = template.flatMap((part, index) =>
      part.startsWith('{') ? [[part.slice(1, -1), path[index] ?? ''] as const] : [],
    )
    if (entries.length > 0) known[id] = Object.fromEntries(entries)
  }
  return known
}
