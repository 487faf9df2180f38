import { LogError } from '@agent-exchange/log'
import { MissingTile } from './tile-store.ts'

/** A proof that the stored tiles do not give: that of a leaf, or of the growth from a size. */
export type Damage = { readonly leaf: number } | { readonly from: number }

/** The stored tiles do not give the tree that was signed. */
export class DamagedLog extends Error {
  override readonly name = 'DamagedLog'
  readonly damage: Damage

  constructor(damage: Damage, cause: unknown) {
    super('the stored tiles of the transparency log do not give the signed tree', { cause })
    this.damage = damage
  }
}

/** A proof that fails here must not become a proof that fails elsewhere. */
export async function orDamage<T>(damage: Damage, prove: () => Promise<T>): Promise<T> {
  try {
    return await prove()
  } catch (error) {
    if (error instanceof LogError || error instanceof MissingTile) throw new DamagedLog(damage, error)
    throw error
  }
}
