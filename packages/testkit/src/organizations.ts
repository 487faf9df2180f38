import type { Organization, World } from './test-world.ts'

/** Provisions several organizations, one after the other. */
export async function organizations<const Names extends readonly string[]>(
  world: Pick<World, 'organization'>,
  ...names: Names
): Promise<{ readonly [Index in keyof Names]: Organization }> {
  const made: Organization[] = []
  for (const name of names) made.push(await world.organization(name))
  return made as { readonly [Index in keyof Names]: Organization }
}
