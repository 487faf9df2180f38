/** Regenerates vectors/. Each vector is verified as a reader of the files sees it, before any is written. */

import { rmSync } from 'node:fs'
import { CAPSULE_FILE, capsules, collectCapsule } from './generators/capsule.ts'
import { CHAIN_CAPSULE_FILE, chainCapsules, collectChains } from './generators/chain-capsule.ts'
import { invalidObjects, validObjects } from './generators/objects/objects.ts'
import { GENERATORS } from './generators/index.ts'
import { tellStory } from './generators/story.ts'
import { checkVector } from './check-vector.ts'
import { VECTORS, writeJson } from './vector-file.ts'

const files = new Map<string, object>()
let vectors = 0

const story = await tellStory()
const collected = await collectCapsule()
// The vectors of capsules are changes to this file, so it exists before they are verified.
files.set(CAPSULE_FILE, collected.capsule)
writeJson(CAPSULE_FILE, collected.capsule)
await using chains = await collectChains()
files.set(CHAIN_CAPSULE_FILE, chains.capsule)
writeJson(CHAIN_CAPSULE_FILE, chains.capsule)
for (const generate of [...GENERATORS, () => capsules(collected), () => chainCapsules(chains)]) {
  const file = await generate(story)
  const published: typeof file = JSON.parse(JSON.stringify(file))
  for (const vector of published.vectors) {
    await checkVector(published.profile, vector).catch((cause: unknown) => {
      throw new Error(`${published.profile}/${vector.name} is not what it says`, { cause })
    })
    vectors++
  }
  files.set(`${file.profile}.json`, file)
}
for (const [name, object] of validObjects()) files.set(`objects/valid/${name}.json`, object)
for (const [name, broken] of invalidObjects()) files.set(`objects/invalid/${name}.json`, broken)

rmSync(VECTORS, { recursive: true, force: true })
for (const [name, content] of files) writeJson(name, content)
console.log(`${files.size} files, ${vectors} vectors in them beside the objects`)
