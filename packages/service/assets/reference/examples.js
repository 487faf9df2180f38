import { resolve } from './schema-facts.js'

/** The examples of a body, by name, as readable JSON. No document tree here, so that it can be tested anywhere. */
export function examplesOf(description, content) {
  return Object.entries(content?.examples ?? {}).map(([name, example]) => ({
    name,
    text: JSON.stringify(resolve(description, example).value, undefined, 2),
  }))
}
