import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setScene, startWorld, type Organization, type Scene } from '@agent-exchange/testkit'
import { OPERATION_IDS, operations } from '@agent-exchange/protocol'

/** A real exchange on loopback with two organizations and a package between them. */
export interface OutsideExchange extends AsyncDisposable {
  readonly url: string
  readonly scene: Scene
  readonly organization: Organization
  /** The OpenAPI document as it is served, in a file. */
  readonly document: string
  /** Values of path parameters that exist, by operation. */
  readonly known: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** Longer than a trial takes, so that no answer depends on how busy the machine is. */
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

/** What the path of a request that succeeds has in place of each parameter. */
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
