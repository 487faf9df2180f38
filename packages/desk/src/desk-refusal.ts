/** A host refuses what the person asked for. The message is a sentence for that person. */
export class DeskRefusal extends Error {
  override readonly name = 'DeskRefusal'
}
